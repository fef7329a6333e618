"""The process of a job: what it sees, and that nothing of it is left anywhere."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from trainfeed.local.sagemaker import container_init
from trainfeed.local.sagemaker.container import Bind, Container, can_seal

WAYS = [
    pytest.param(
        True, id="sealed", marks=pytest.mark.skipif(not can_seal(), reason="no mount namespaces here")
    ),
    pytest.param(False, id="mapped"),
]


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, or uses setsid")


class Box:
    """A container that is started once, and what came of it."""

    def __init__(self, folder: Path, *, sealed: bool) -> None:
        self.container = Container(folder=folder, host="algo-1", sealed=sealed)
        self.printed = b""
        self.code = None
        self._done = threading.Event()

    def start(self, *command, environment=None, binds=(), network=True):
        self.container.start(
            command=command,
            environment=environment or {},
            binds=binds,
            network=network,
            output=self._take,
            ended=self._end,
        )

    def run(self, *command, **more):
        """The exit code and the lines it printed."""
        self.start(*command, **more)
        return self.end()

    def end(self):
        assert self._done.wait(20)
        assert self.container.join(5)
        return self.code, self.printed.decode().splitlines()

    def wait_for(self, text):
        deadline = time.monotonic() + 20
        while text not in self.printed:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def _take(self, output):
        self.printed += output

    def _end(self, code):
        self.code = code
        self._done.set()


@pytest.fixture(params=WAYS)
def box(request, tmp_path):
    made = Box(tmp_path / "algo-1", sealed=request.param)
    yield made
    made.container.kill()
    made.container.join()


def running(marker: str) -> list[str]:
    """The processes whose command line holds a text."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if marker in line and "ps -eo" not in line]


def gone(marker: str) -> bool:
    """Whether processes of a command line have ended, or end presently."""
    deadline = time.monotonic() + 5
    while running(marker):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_opt_ml_is_found_in_command_and_environment(box):
    (box.container.root / "input/data/train").mkdir()
    (box.container.root / "input/data/train/a").write_text("hello\n")
    code, lines = box.run(
        *("sh", "-c", "cat /opt/ml/input/data/train/a; cat $FILE; ls $EMPTY; echo model > /opt/ml/model/m"),
        environment={"FILE": "/opt/ml/input/data/train/a", "EMPTY": "/opt/ml/checkpoints"},
    )
    assert (code, lines) == (0, ["hello", "hello"])
    assert (box.container.root / "model/m").read_text() == "model\n"


@linux
def test_nothing_is_left_on_the_host(box):
    before = sorted(os.listdir("/opt")), Path("/proc/self/mountinfo").read_text()
    box.run("sh", "-c", "echo x > /opt/ml/model/m; ls -d /opt/*")
    assert (sorted(os.listdir("/opt")), Path("/proc/self/mountinfo").read_text()) == before
    box.container.clear()
    assert os.listdir(box.container.root.parent) == []


@pytest.mark.skipif(not can_seal() or not os.listdir("/opt"), reason="nothing to hide in /opt")
def test_what_the_host_has_in_opt_is_still_there(tmp_path):
    box = Box(tmp_path / "algo-1", sealed=True)
    code, lines = box.run("ls", "/opt")
    assert code == 0
    assert set(lines) == {*os.listdir("/opt"), "ml"}


def test_python3_is_the_running_interpreter_with_its_libraries(box):
    code, lines = box.run("python3", "-c", "import sys, botocore; print(sys.prefix, flush=True)")
    assert (code, lines) == (0, [sys.prefix])


def test_the_environment_is_clean(box, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "yes")
    _, lines = box.run("env", environment={"MINE": "1"})
    names = {line.partition("=")[0] for line in lines}
    assert names - {"_", "SHLVL", "PWD"} == {"PATH", "HOME", "TMPDIR", "LANG", "PYTHONUNBUFFERED", "MINE"}


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("true",), 0),
        (("sh", "-c", "exit 7"), 7),
        (("sh", "-c", "kill -9 $$"), 137),
        (("sh", "-c", "kill -TERM $$"), 143),
        (("no-such-program",), container_init.NOT_FOUND),
        (("/etc/hostname",), container_init.NOT_EXECUTABLE),
    ],
)
def test_the_exit_code_is_that_of_a_container(box, command, code):
    assert box.run(*command)[0] == code


def test_a_file_system_is_shown_and_writes_go_through(box, tmp_path):
    (tmp_path / "fs").mkdir()
    (tmp_path / "fs/a").write_text("of the file system\n")
    bind = Bind(source=tmp_path / "fs", channel="train", read_only=False)
    code, lines = box.run(
        "sh", "-c", "cat /opt/ml/input/data/train/a; echo x > /opt/ml/input/data/train/b", binds=[bind]
    )
    assert (code, lines) == (0, ["of the file system"])
    assert (tmp_path / "fs/b").read_text() == "x\n"
    box.container.clear()
    assert sorted(os.listdir(tmp_path / "fs")) == ["a", "b"]


@pytest.mark.skipif(not can_seal(), reason="no mount namespaces here")
def test_a_read_only_file_system_cannot_be_written(tmp_path):
    (tmp_path / "fs").mkdir()
    (tmp_path / "fs/a").write_text("kept\n")
    box = Box(tmp_path / "algo-1", sealed=True)
    bind = Bind(source=tmp_path / "fs", channel="train", read_only=True)
    code, lines = box.run(
        "sh", "-c", "cd /opt/ml/input/data/train && cat a; touch b || rm -f a || exit 5", binds=[bind]
    )
    assert code == 5
    assert lines[0] == "kept"
    assert "Read-only file system" in lines[1]
    assert os.listdir(tmp_path / "fs") == ["a"]


@pytest.mark.skipif(not can_seal(), reason="no namespaces here")
@pytest.mark.parametrize(("network", "interfaces"), [(False, ["lo"]), (True, None)])
def test_a_job_under_network_isolation_has_only_itself_to_talk_to(tmp_path, network, interfaces):
    box = Box(tmp_path / "algo-1", sealed=True)
    program = "import socket; print(*[name for _, name in socket.if_nameindex()], sep='\\n')"
    _, lines = box.run("python3", "-c", program, network=network)
    assert lines == (interfaces or [name for _, name in __import__("socket").if_nameindex()])


@pytest.mark.skipif(not can_seal(), reason="no namespaces here")
def test_an_isolated_job_can_talk_to_itself(tmp_path):
    box = Box(tmp_path / "algo-1", sealed=True)
    program = (
        "import socket; server = socket.create_server(('127.0.0.1', 0)); "
        "socket.create_connection(server.getsockname(), 5); print('reached')"
    )
    assert box.run("python3", "-c", program, network=False) == (0, ["reached"])


@linux
@pytest.mark.parametrize(
    "left",
    [
        pytest.param("sleep {} &", id="child"),
        pytest.param("(setsid sleep {} &)", id="child of another session"),
        pytest.param("(setsid sh -c 'setsid sleep {} & sleep {}' &)", id="grandchild"),
    ],
)
def test_what_a_job_leaves_running_ends_with_it(box, left):
    seconds = f"{600 + time.monotonic_ns() % 10**6 / 10**6:.6f}"
    alive = "sleep 0.1; pgrep -fx 'sleep {}' > /dev/null && echo alive; exit 3"
    assert box.run("bash", "-c", f"{left}\n{alive}".replace("{}", seconds)) == (3, ["alive"])
    assert running(f"sleep {seconds}") == []


@linux
def test_kill_ends_a_job_that_ignores_signals_and_its_children(box):
    seconds = f"{600 + time.monotonic_ns() % 10**6 / 10**6:.6f}"
    box.start("bash", "-c", f"trap '' TERM INT HUP; (setsid sleep {seconds} &); echo up; sleep {seconds}")
    box.wait_for(b"up")
    box.container.terminate()
    assert not box.container.join(0.2)
    box.container.kill()
    assert box.end()[0] == 137
    assert running(f"sleep {seconds}") == []


def test_terminate_reaches_the_main_process(box):
    box.start("sh", "-c", "trap 'echo told; exit 8' TERM; echo up; while :; do sleep 0.02; done")
    box.wait_for(b"up")
    box.container.terminate()
    assert box.end() == (8, ["up", "told"])


def test_a_job_does_not_outlive_the_process_that_started_it(tmp_path):
    seconds = f"{600 + time.monotonic_ns() % 10**6 / 10**6:.6f}"
    program = f"""
import sys, time
from pathlib import Path
from trainfeed.local.sagemaker.container import Container
box = Container(folder=Path(sys.argv[1]), host="algo-1", sealed=False)
box.start(command=["sh", "-c", "trap '' TERM; echo up; sleep {seconds}"], environment={{}}, binds=[],
          network=True, output=lambda text: print(text, flush=True), ended=print)
time.sleep(600)
"""
    server = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "box")],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert server.stdout is not None
    with server.stdout:
        assert b"up" in server.stdout.readline()
        assert running(f"sleep {seconds}")
        server.send_signal(signal.SIGKILL)
        server.wait()
    assert gone(f"sleep {seconds}")


def run_at(place: Path, box: Container, *command: str) -> subprocess.CompletedProcess:
    """Run a command in a sealed container whose folder is seen at another place than /opt/ml."""
    spec = {
        **{"sealed": True, "network": True, "binds": [], "place": str(place), "directory": "/"},
        **{"root": str(box.root), "stage": str(box.root.parent / "stage")},
        **{"command": command, "environment": {"PATH": "/usr/bin:/bin"}},
    }
    alive, hold = os.pipe()  # the end of its input would kill it
    try:
        return subprocess.run(
            [sys.executable, "-I", "-S", container_init.__file__, json.dumps(spec)],
            stdin=alive,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(alive)
        os.close(hold)


@pytest.mark.skipif(not can_seal(), reason="no mount namespaces here")
@pytest.mark.parametrize("there", [True, False])
def test_the_place_may_be_there_already(tmp_path, there):
    place = tmp_path / "parent/ml"
    (tmp_path / "parent/beside").mkdir(parents=True)
    (tmp_path / "parent/file").write_text("kept")
    (tmp_path / "parent/link").symlink_to("file")
    if there:
        place.mkdir()
        (place / "of-the-host").touch()
    box = Container(folder=tmp_path / "box", host="algo-1", sealed=True)
    done = run_at(
        place, box, "sh", "-c", f"cat {place.parent}/link; ls {place.parent} {place}; touch {place}/x"
    )
    assert done.stdout.split() == [
        *(f"kept{place.parent}:", "beside", "file", "link", "ml"),
        *(f"{place}:", "checkpoints", "code", "input", "model", "output"),
    ]
    assert (box.root / "x").exists()
    assert sorted(os.listdir(place.parent)) == sorted(["beside", "file", "link", *(["ml"] if there else [])])


def test_a_place_that_cannot_be_made_is_said(tmp_path):
    """As on a machine whose kernel lets nobody mount: the job does not run unmapped by accident."""
    box = Container(folder=tmp_path, host="algo-1", sealed=True)
    done = run_at(Path("/no-such-parent/opt/ml"), box, "echo", "ran")
    assert done.returncode == container_init.NOT_MADE
    assert done.stdout == ""
    assert done.stderr.startswith("The container could not be made: ")


@pytest.mark.parametrize(
    ("text", "mapped"),
    [
        ("/opt/ml", "{root}"),
        ("/opt/ml/model", "{root}/model"),
        ("--dir=/opt/ml/model,/opt/ml/code", "--dir={root}/model,{root}/code"),
        ("/opt/mlx/model", "/opt/mlx/model"),
        ("/opt/ml.old", "/opt/ml.old"),
        ("/mnt/opt/ml/model", "/mnt/opt/ml/model"),
        ("opt/ml", "opt/ml"),
    ],
)
def test_only_opt_ml_itself_is_mapped(tmp_path, text, mapped):
    box = Container(folder=tmp_path, host="algo-1", sealed=False)
    assert box.mapped(text) == mapped.format(root=box.root)
    assert Container(folder=tmp_path, host="algo-1", sealed=True).mapped(text) == text

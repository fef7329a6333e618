"""The driver that starts a script inside a training container."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trainfeed.run import container_entry

SHOW = """
import json, os, sys
print(json.dumps({"arguments": sys.argv[1:], "folder": os.getcwd(),
                  "variables": {name: value for name, value in os.environ.items() if name[:3] == "SM_"}}))
"""


class Image:
    """A folder laid out as /opt/ml, with the driver and some code in its channel."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.code = root / "input/data/code"
        self.code.mkdir(parents=True)
        (root / "input/config").mkdir(parents=True)
        shutil.copy(container_entry.__file__, self.code / "trainfeed_entry.py")

    def write(self, **files):
        for name, content in files.items():
            path = self.code / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def configure(self, **files):
        for name, content in files.items():
            (self.root / "input/config" / f"{name}.json").write_text(json.dumps(content))

    @property
    def command(self):
        return [sys.executable, str(self.code / "trainfeed_entry.py")]

    def run(self, *arguments):
        return subprocess.run(
            [*self.command, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env={"PATH": PATH},
        )

    def shown(self, script="train.py"):
        """What a script that shows its surroundings has seen."""
        done = self.run(script)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @property
    def failure(self):
        path = self.root / "output/failure"
        return path.read_text() if path.exists() else None


PATH = os.pathsep.join([os.path.dirname(sys.executable), "/usr/bin", "/bin"])


@pytest.fixture
def image(tmp_path):
    return Image(tmp_path / "ml")


def test_it_reads_with_python_3_8_and_needs_the_standard_library_alone():
    tree = ast.parse(Path(container_entry.__file__).read_text(), feature_version=(3, 8))
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names


def test_hyperparameters_are_arguments(image):
    image.write(**{"train.py": SHOW})
    image.configure(hyperparameters={"lr": "0.1", "name": "two words", "flag": "true", "C": "-3"})
    assert image.shown()["arguments"] == [
        *("--C", "-3"),
        *("--flag", "true"),
        *("--lr", "0.1"),
        *("--name", "two words"),
    ]


def test_the_variables_are_those_of_the_toolkit(image):
    image.write(**{"train.py": SHOW})
    image.configure(
        hyperparameters={"epochs": "3", "name": "adam", "layers": "[1, 2]"},
        inputdataconfig={"train": {"TrainingInputMode": "File"}, "code": {}, "my-data": {}},
        resourceconfig={
            "current_host": "algo-2",
            "hosts": ["algo-1", "algo-2"],
            "current_instance_type": "ml.m5.large",
            "network_interface_name": "eth0",
        },
    )
    seen, root = image.shown()["variables"], str(image.root)
    assert seen["SM_CHANNEL_TRAIN"] == f"{root}/input/data/train"
    assert seen["SM_CHANNEL_MY-DATA"] == f"{root}/input/data/my-data"
    assert json.loads(seen["SM_CHANNELS"]) == ["code", "my-data", "train"]
    assert seen["SM_MODEL_DIR"] == f"{root}/model"
    assert seen["SM_OUTPUT_DATA_DIR"] == f"{root}/output/data"
    assert json.loads(seen["SM_HPS"]) == {"epochs": 3, "name": "adam", "layers": [1, 2]}
    assert (seen["SM_HP_EPOCHS"], seen["SM_HP_NAME"], seen["SM_HP_LAYERS"]) == ("3", "adam", "[1, 2]")
    assert (seen["SM_CURRENT_HOST"], json.loads(seen["SM_HOSTS"])) == ("algo-2", ["algo-1", "algo-2"])
    assert seen["SM_CURRENT_INSTANCE_TYPE"] == "ml.m5.large"
    assert seen["SM_NETWORK_INTERFACE_NAME"] == "eth0"
    assert seen["SM_NUM_CPUS"] == str(os.cpu_count())
    assert seen["SM_NUM_GPUS"].isdigit()
    assert json.loads(seen["SM_USER_ARGS"])[:2] == ["--epochs", "3"]


def test_a_script_without_any_configuration_runs(image):
    image.write(**{"train.py": SHOW})
    seen = image.shown()
    assert seen["arguments"] == []
    assert json.loads(seen["variables"]["SM_HPS"]) == {}


def test_code_runs_in_its_own_folder_with_all_that_came_with_it(image):
    image.write(
        **{
            "jobs/train.py": "import beside\nimport top.module\n" + SHOW,
            "jobs/beside.py": "",
            "top/module.py": "",
            "settings.yaml": "a: 1",
        }
    )
    assert image.shown("jobs/train.py")["folder"] == str(image.root / "code")
    assert (image.root / "code/settings.yaml").read_text() == "a: 1"
    assert not (image.root / "code/trainfeed_entry.py").exists()


def test_a_shell_script_runs_with_bash(image):
    image.write(**{"train.sh": 'shopt -s nullglob; echo "$SM_MODEL_DIR $*"; exit 4'})
    image.configure(hyperparameters={"a": "1"})
    done = image.run("train.sh")
    assert (done.returncode, done.stdout) == (4, f"{image.root}/model --a 1\n")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("print('done')", 0),
        ("raise SystemExit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137),
        ("1 / 0", 1),
    ],
)
def test_the_exit_code_is_the_scripts(image, script, code):
    image.write(**{"train.py": script})
    assert image.run("train.py").returncode == code
    assert (image.failure is None) == (code == 0)


def test_the_failure_says_how_the_script_ended(image):
    image.write(
        **{"train.py": "import sys\nprint('x' * 5000, file=sys.stderr)\nraise ValueError('no pictures')"}
    )
    done = image.run("train.py")
    assert done.stderr.startswith("x" * 5000)
    assert image.failure.startswith("train.py ended with exit code 1.\n")
    assert image.failure.endswith("ValueError: no pictures")
    assert len(image.failure) < 1024


def test_a_failure_that_the_script_wrote_is_kept(image):
    image.write(
        **{
            "train.py": "import os, pathlib\n"
            "output = pathlib.Path(os.environ['SM_OUTPUT_DIR'])\n"
            "output.mkdir(exist_ok=True)\n"
            "(output / 'failure').write_text('mine')\n"
            "raise SystemExit(1)"
        }
    )
    image.run("train.py")
    assert image.failure == "mine"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "No script was named."),
        (["tarin.py"], "There is no script tarin.py. The code channel holds run.sh, train.py."),
        (["data.csv"], "data.csv is neither a .py nor a .sh script."),
    ],
)
def test_what_cannot_be_started_is_said(image, arguments, said):
    image.write(**{"train.py": "", "run.sh": "", "data.csv": "1"})
    done = image.run(*arguments)
    assert done.returncode == 1
    assert said in done.stderr
    assert said in image.failure
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("there", "said"), [(True, True), (False, False)])
def test_requirements_are_not_installed_and_it_says_so(image, there, said):
    image.write(**{"train.py": "", **({"requirements.txt": "no-such-package"} if there else {})})
    done = image.run("train.py")
    assert done.returncode == 0
    assert ("requirements.txt is not installed" in done.stderr) == said


def test_the_signal_to_stop_reaches_the_script_once(image):
    image.write(
        **{
            "train.py": "import signal, sys, time\n"
            "told = []\n"
            "signal.signal(signal.SIGTERM, lambda *_: told.append(1))\n"
            "print('up', flush=True)\n"
            "while not told: time.sleep(0.01)\n"
            "time.sleep(0.1)\n"
            "print(len(told), flush=True)\n"
            "sys.exit(5)"
        }
    )
    process = subprocess.Popen(
        [*image.command, "train.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGTERM)
    printed, _ = process.communicate(timeout=20)
    assert (process.returncode, printed) == (5, "1\n")


def test_output_is_passed_on_as_it_comes(image):
    image.write(
        **{"train.py": "import sys, time\nprint('half', end='', file=sys.stderr, flush=True)\ntime.sleep(60)"}
    )
    process = subprocess.Popen([*image.command, "train.py"], stderr=subprocess.PIPE, start_new_session=True)
    assert process.stderr is not None
    assert os.read(process.stderr.fileno(), 10) == b"half"
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()

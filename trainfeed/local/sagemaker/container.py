"""One instance of a training job: a folder laid out as /opt/ml, and a process that sees it there."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trainfeed.local.sagemaker import container_init

#: Where a container finds everything.
#: https://docs.aws.amazon.com/sagemaker/latest/dg/model-train-storage.html
PLACE = "/opt/ml"

_PLACE_IN_TEXT = re.compile(r"(?<![\w./-])/opt/ml(?![\w.-])")
_FOLDERS = ("input/config", "input/data", "model", "output/data", "checkpoints", "code")
_CHUNK = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Bind:
    """A folder of a file system that a channel shows.

    Attributes:
        source: the folder on this machine.
        channel: the channel's name.
        read_only: the job may not write there. Held where the container has its own mounts; where
            /opt/ml is only mapped, the channel is a plain link.
    """

    source: Path
    channel: str
    read_only: bool


class Container:
    """An instance of a job.

    Where the platform allows (Linux, with mount namespaces), the job sees its folder at /opt/ml. Elsewhere
    `/opt/ml` in the command, the environment and the hyperparameters is mapped to the folder's real path.

    Attributes:
        host: the instance's name, `algo-1`.
        root: the folder that stands for /opt/ml.
        sealed: whether the job sees it at /opt/ml.
    """

    def __init__(self, *, folder: Path, host: str, sealed: bool) -> None:
        self.host = host
        self.sealed = sealed
        self._folder = folder
        self.root = folder / "ml"
        for name in _FOLDERS:
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for name in ("home", "tmp", "stage"):
            (folder / name).mkdir(exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    @property
    def log(self) -> Path:
        """The file that keeps what the job printed."""
        return self._folder / "output.log"

    def channel(self, name: str) -> Path:
        """The folder of a channel."""
        return self.root / "input" / "data" / name

    def configure(self, files: Mapping[str, Any]) -> None:
        """Write the files of /opt/ml/input/config, each by its name without `.json`."""
        for name, content in files.items():
            (self.root / "input" / "config" / f"{name}.json").write_text(json.dumps(content, indent=2))

    def mapped(self, text: str) -> str:
        """A text in which /opt/ml is where the job will find it."""
        return text if self.sealed else _PLACE_IN_TEXT.sub(lambda _: str(self.root), text)

    def start(
        self,
        *,
        command: Sequence[str],
        environment: Mapping[str, str],
        binds: Iterable[Bind],
        network: bool,
        output: Callable[[bytes], None],
        ended: Callable[[int], None],
    ) -> None:
        """Start the job's process.

        Args:
            command: the program and its arguments.
            environment: everything it finds in its environment, beside PATH, HOME and TMPDIR.
            binds: the channels that come from file systems.
            network: whether it may use the network; held only where it has its own mounts.
            output: takes what it prints, on a thread of ours.
            ended: takes its exit code, when all it printed has been taken.
        """
        binds = list(binds)
        for bind in binds:
            if self.sealed:
                self.channel(bind.channel).mkdir()
            else:
                self.channel(bind.channel).symlink_to(bind.source, target_is_directory=True)
        given = {name: self.mapped(value) for name, value in environment.items()}
        place = PLACE if self.sealed else str(self.root)
        container = {
            "sealed": self.sealed,
            "root": str(self.root),
            "place": PLACE,
            "stage": str(self._folder / "stage"),
            "directory": f"{place}/code",
            "network": network,
            "binds": [
                {
                    "source": str(bind.source),
                    "target": str(self.channel(bind.channel)),
                    "read_only": bind.read_only,
                }
                for bind in binds
            ],
            "command": [self.mapped(word) for word in command],
            "environment": {
                "PATH": _search_path(),
                "HOME": str(self._folder / "home"),
                "TMPDIR": str(self._folder / "tmp"),
                "LANG": "C.UTF-8",
                # As the images of AWS do: what is printed is seen at once.
                "PYTHONUNBUFFERED": "1",
                **given,
            },
        }
        self._process = _spawn(container)
        self._reader = threading.Thread(
            target=self._follow,
            args=(self._process, output, ended),
            name=f"container-{self.host}",
            daemon=True,
        )
        self._reader.start()

    def terminate(self) -> None:
        """Ask the job to end, as SageMaker does: SIGTERM to its main process."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End every process of the job at once. Harmless when it has ended already."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def join(self, seconds: float | None = None) -> bool:
        """Wait for the job's end; whether it came."""
        if self._reader is None:
            return True
        self._reader.join(seconds)
        return not self._reader.is_alive()

    def clear(self) -> None:
        """Remove what the instance had on disk; what it printed stays."""
        for entry in self._folder.iterdir():
            if entry != self.log:
                shutil.rmtree(entry, ignore_errors=True)

    def failure(self) -> str:
        """What the job wrote to /opt/ml/output/failure."""
        try:
            return (self.root / "output" / "failure").read_text(errors="replace")
        except OSError:
            return ""

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        output: Callable[[bytes], None],
        ended: Callable[[int], None],
    ) -> None:
        try:
            with process.stdout or nullcontext() as printed:
                while printed and (chunk := os.read(printed.fileno(), _CHUNK)):
                    output(chunk)
        finally:
            self.kill()
            ended(process.wait())


def _spawn(container: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", container_init.__file__, json.dumps(container)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={},
        start_new_session=True,
    )


def _search_path() -> str:
    """PATH of a container: `python3` is the interpreter that runs the local AWS, with its libraries."""
    return os.pathsep.join([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"])


@cache
def can_seal() -> bool:
    """Whether this machine lets a process have its own mounts. Found by trying, once."""
    if sys.platform != "linux":
        return False
    with TemporaryDirectory(prefix="trainfeed-") as folder:
        found = threading.Event()
        container = Container(folder=Path(folder), host="probe", sealed=True)
        container.start(
            command=["sh", "-c", "test -d /opt/ml/code"],
            environment={},
            binds=(),
            network=True,
            output=lambda _: None,
            ended=lambda code: found.set() if code == 0 else None,
        )
        container.join()
        return found.is_set()

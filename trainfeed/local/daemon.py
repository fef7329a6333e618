"""The local AWS as a background process of a folder, for people.

Its state lives in `.trainfeed/local` of the folder. The process holds a lock there as long as it lives, so
whether it runs is asked of the kernel: a file left by a killed process, and a process id that was given
to another program since, mislead nobody.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from trainfeed.local.durations import Durations

_START_SECONDS = 60.0
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.05


class DaemonError(Exception):
    """The background process cannot do what was asked; the text says what to do."""


class AlreadyRunningError(DaemonError):
    """One runs for this folder already."""


class NotRunningError(DaemonError):
    """None runs for this folder."""


class StartError(DaemonError):
    """It ended, or did not answer in time."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """A local AWS that runs in the background.

    Attributes:
        pid: its process.
        url: its endpoint.
        log: the file with what it says.
        environment: the variables by which the SDKs and the CDK CLI find it.
    """

    pid: int
    url: str
    log: Path
    environment: dict[str, str]


def state(folder: Path) -> Path:
    """Where the local AWS of a folder keeps its files."""
    return folder.absolute() / ".trainfeed" / "local"


def start(folder: Path, *, port: int = 0, durations: Durations | None = None) -> Running:
    """Start it, and return when it answers.

    Args:
        folder: the folder it belongs to.
        port: the port on 127.0.0.1; 0 takes a free one.
        durations: how long its lifecycles take; default: a few seconds each.

    Raises:
        AlreadyRunningError: one runs for this folder.
        StartError: it did not come up; the text has the end of its log.
    """
    running = status(folder)
    if running is not None:
        raise AlreadyRunningError(
            f"A local AWS runs for {folder.absolute()} already: {running.url}, pid {running.pid}."
        )
    files = _Files.of(folder)
    files.folder.mkdir(parents=True, exist_ok=True)
    with files.log.open("wb") as log:
        launcher = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "trainfeed.local.daemon",
                str(files.folder),
                str(port),
                json.dumps(asdict(durations or Durations())),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(),
            start_new_session=True,
        )
        try:
            failed = launcher.wait(_START_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(launcher.pid, signal.SIGKILL)
            launcher.wait()
            raise StartError(f"No answer within {_START_SECONDS:.0f} s. See {files.log}.") from None
    running = files.read()
    if failed or running is None:
        raise StartError(f"The local AWS did not start. {files.log} ends:\n{files.tail()}")
    return running


def status(folder: Path) -> Running | None:
    """The local AWS of a folder, or None where none runs."""
    files = _Files.of(folder)
    return files.read() if files.locked() else None


def current(folder: Path) -> Running:
    """The local AWS of a folder.

    Raises:
        NotRunningError: none runs.
    """
    running = status(folder)
    if running is None:
        raise NotRunningError(f"No local AWS runs for {folder.absolute()}. Start one: trainfeed local start")
    return running


def environment(folder: Path) -> dict[str, str]:
    """The variables by which the SDKs and the CDK CLI find the local AWS of a folder.

    A profile or a session token of the person's own would be taken before them: unset AWS_PROFILE and
    AWS_SESSION_TOKEN beside setting these.

    Raises:
        NotRunningError: none runs.
    """
    return current(folder).environment


def stop(folder: Path) -> Running:
    """Stop the local AWS of a folder with all that it runs, and say which it was.

    Raises:
        NotRunningError: none runs.
    """
    running = current(folder)
    files = _Files.of(folder)
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.kill(running.pid, number)
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline:
            if not files.locked():
                files.record.unlink(missing_ok=True)
                return running
            time.sleep(_POLL_SECONDS)
    raise DaemonError(f"The local AWS, pid {running.pid}, does not end.")


def _environment() -> dict[str, str]:
    """This process's environment, with this package findable from any folder."""
    here = str(Path(__file__).parents[2])
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{path}" if path else here}


@dataclass(frozen=True)
class _Files:
    """The files of a background process: its record, its log and its lock."""

    folder: Path

    @classmethod
    def of(cls, folder: Path) -> Self:
        return cls(state(folder))

    @property
    def record(self) -> Path:
        return self.folder / "running.json"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def hold(self) -> int:
        """Take the lock, or raise BlockingIOError where another holds it; the open file it hangs on.

        Left open, it is held until the process is gone, for Python closes no bare descriptor as it ends.
        That is what `stop` waits for.
        """
        lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise
        return lock

    def locked(self) -> bool:
        """Whether a process holds the lock."""
        if not self.folder.is_dir():
            return False
        try:
            os.close(self.hold())
        except BlockingIOError:
            return True
        return False

    def write(self, running: Running) -> None:
        fresh = self.record.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(running), default=str))
        # A reader sees the old record or the new one, never a part.
        fresh.replace(self.record)

    def read(self) -> Running | None:
        try:
            kept = json.loads(self.record.read_text())
        except FileNotFoundError:
            return None
        return Running(**{**kept, "log": Path(kept["log"])})

    def tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])


def _launch(folder: Path, port: int, durations: Durations) -> int:
    """Leave a process running in the background, and return 0 when it answers or 1 when it ended.

    It has no parent that would have to wait for its end.
    """
    heard, told = os.pipe()
    if os.fork():
        os.close(told)
        return 0 if os.read(heard, 1) else 1
    os.close(heard)
    try:
        _serve(folder, port, durations, ready=told)
    except (OSError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _serve(folder: Path, port: int, durations: Durations, *, ready: int) -> None:
    """Be the background process until a signal ends it."""
    from trainfeed.local.server import LocalAws  # noqa: PLC0415 - who asks for the status does not wait

    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    files = _Files(folder)
    files.hold()
    files.record.unlink(missing_ok=True)
    with LocalAws(state=folder, port=port, durations=durations) as aws:
        files.write(Running(pid=os.getpid(), url=aws.url, log=files.log, environment=aws.environment()))
        os.write(ready, b"1")
        os.close(ready)
        ended.wait()
    files.record.unlink()


if __name__ == "__main__":
    sys.exit(_launch(Path(sys.argv[1]), int(sys.argv[2]), Durations(**json.loads(sys.argv[3]))))

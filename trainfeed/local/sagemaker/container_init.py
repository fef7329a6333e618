"""The first process of a container: lays out /opt/ml for the job alone, runs the job, leaves nothing behind.

It runs as a script, with the container described as JSON in its only argument, and imports nothing of ours.
SIGTERM is passed to the job's main process, as SageMaker does. The end of standard input kills the job at
once; it also comes when the local AWS dies, so a job never outlives it. When the job's main process ends,
every process that it left running is killed, as the end of a container would.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import struct
import sys
import threading
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from typing import Any, NoReturn

#: The exit codes of a container runtime: the container could not be made, the command not run, not found.
NOT_MADE, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127

_LINUX = sys.platform == "linux"

# From <linux/sched.h>, <linux/mount.h>, <linux/prctl.h>, <linux/if.h>.
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT = 0x1, 0x2, 0x4, 0x8, 0x20
_MS_NOATIME, _MS_NODIRATIME, _MS_BIND, _MS_REC = 0x400, 0x800, 0x1000, 0x4000
_MS_PRIVATE, _MS_RELATIME = 0x40000, 0x200000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1

# What a bind mount inherits and a user namespace may not drop: the flag of statvfs, the flag of mount.
_KEPT_FLAGS = (
    (os.ST_NOSUID, _MS_NOSUID),
    (getattr(os, "ST_NODEV", 0), _MS_NODEV),
    (getattr(os, "ST_NOEXEC", 0), _MS_NOEXEC),
    (getattr(os, "ST_NOATIME", 0), _MS_NOATIME),
    (getattr(os, "ST_NODIRATIME", 0), _MS_NODIRATIME),
    (getattr(os, "ST_RELATIME", 0), _MS_RELATIME),
)


def main(container: dict[str, Any]) -> int:
    """Run the container; its exit code."""
    if container["sealed"]:
        try:
            _seal(container)
        except OSError as error:
            print(f"The container could not be made: {error}", file=sys.stderr)
            return NOT_MADE
    if _LINUX:
        # Processes that the job orphans become ours, so that they can be ended.
        _libc("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # A signal between the fork and the handler would end us and orphan the job.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    job = os.fork()
    if job == 0:
        _become(container)
    signal.signal(signal.SIGTERM, lambda *_: _kill(job, signal.SIGTERM))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    threading.Thread(target=_kill_at_end_of_input, args=(job,), daemon=True).start()
    code = _wait(job)
    _kill_the_rest(job)
    return code


def _become(container: dict[str, Any]) -> NoReturn:
    """Turn this forked child into the job's main process."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    os.setsid()
    if _LINUX:
        _libc("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    command, environment = container["command"], container["environment"]
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    try:
        os.chdir(container["directory"])
        os.execvpe(command[0], command, environment)  # noqa: S606 - the command is the job
    except FileNotFoundError:
        print(f'exec: "{command[0]}": executable file not found in $PATH', file=sys.stderr, flush=True)
        os._exit(NOT_FOUND)
    except OSError as error:
        print(f'exec: "{command[0]}": {error.strerror}', file=sys.stderr, flush=True)
        os._exit(NOT_EXECUTABLE)


def _wait(job: int) -> int:
    """The exit code of the job's main process; orphans that end meanwhile are reaped."""
    while True:
        ended, status = os.wait()
        if ended == job:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _kill_at_end_of_input(job: int) -> None:
    while os.read(0, 1024):
        pass
    _kill(-job, signal.SIGKILL)


def _kill_the_rest(job: int) -> None:
    _kill(-job, signal.SIGKILL)
    while _LINUX and (left := _children()):
        for process in left:
            _kill(process, signal.SIGKILL)
        for process in left:
            os.waitpid(process, 0)


def _children() -> list[int]:
    """Our children, the adopted ones among them."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The program's name, in brackets, may hold anything; the parent is the second word after.
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == os.getpid():
                found.append(int(entry.name))
    return found


def _kill(process: int, number: int) -> None:
    with suppress(ProcessLookupError):  # it has ended already
        os.kill(process, number)


def _seal(container: dict[str, Any]) -> None:
    """Give this process and its children their own view of the disk, with the job's folder at /opt/ml.

    Nothing of it is seen outside, and nothing is left when the last process ends.
    """
    _unshare(_CLONE_NEWNS | (0 if container["network"] else _CLONE_NEWNET))
    _mount("none", "/", _MS_REC | _MS_PRIVATE)
    if not container["network"]:
        _raise_loopback()
    for bind in container["binds"]:
        _mount(bind["source"], bind["target"], _MS_BIND | _MS_REC)
        if bind["read_only"]:
            _protect(bind["target"])
    _place(container["root"], container["place"], container["stage"])


def _unshare(flags: int) -> None:
    """Enter new namespaces: plainly where we may, else by way of a user namespace with the same user."""
    user, group = os.getuid(), os.getgid()
    if user == 0:
        try:
            _libc("unshare", flags)
            return
        except PermissionError:
            pass
    _libc("unshare", flags | _CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _place(root: str, place: str, stage: str) -> None:
    """Mount the job's folder at a path that the host may not have, without making it there.

    Where it is missing, its parent is covered by a copy made of mounts: an entry each for what the
    parent holds, and one for the job's folder.
    """
    if Path(place).is_dir():
        _mount(root, place, _MS_BIND | _MS_REC)
        return
    parent, name = os.path.split(place)
    _mount("tmpfs", stage, 0, "tmpfs")
    for entry in os.scandir(parent):
        copy = Path(stage, entry.name)
        if entry.is_symlink():
            copy.symlink_to(os.readlink(entry.path))
        elif entry.is_dir():
            copy.mkdir()
            _mount(entry.path, str(copy), _MS_BIND | _MS_REC)
        else:
            copy.touch()
            _mount(entry.path, str(copy), _MS_BIND)
    Path(stage, name).mkdir()
    _mount(root, str(Path(stage, name)), _MS_BIND | _MS_REC)
    _mount(stage, parent, _MS_BIND | _MS_REC)


def _protect(path: str) -> None:
    """Make a bind mount read-only."""
    given = os.statvfs(path).f_flag
    kept = sum(flag for seen, flag in _KEPT_FLAGS if given & seen)
    _mount("none", path, _MS_BIND | _MS_REMOUNT | _MS_RDONLY | kept)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def _mount(source: str, target: str, flags: int, kind: str | None = None) -> None:
    _libc("mount", source.encode(), target.encode(), kind.encode() if kind else None, flags, None)


def _libc(function: str, *arguments: Any) -> None:
    """Call a function of the C library.

    Raises:
        OSError: it failed.
    """
    library = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_ulong(item) if isinstance(item, int) else item for item in arguments]
    if function == "unshare":
        words = [ctypes.c_int(item) for item in arguments]
    if getattr(library, function)(*words) == -1:
        number = ctypes.get_errno() or errno.EINVAL
        raise OSError(number, f"{function}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))

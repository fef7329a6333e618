"""What a file system holds: the snapshot that was imported, and the files that jobs wrote.

An imported object is only a name at first ("released"). Its bytes are fetched from S3 at the first read
and kept. Files that were read or written are real files below the file system's directory.
https://docs.aws.amazon.com/fsx/latest/LustreGuide/overview-dra-data-repo.html
"""

import contextvars
import os
import shutil
import threading
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from trainfeed.local.fsx.repository import Repository, RepositoryError, S3Object
from trainfeed.sources import DataEvent, S3Uri

_LONGEST_NAME = 255
_READERS = 8


class OutOfSpaceError(Exception):
    """The file system cannot hold this much."""


class FileState(StrEnum):
    """Where the bytes of a file are.

    RELEASED: in S3 alone. RESTORED: also on the file system. UNREADABLE: S3 did not give them, so the name
    is there and reading fails. LOCAL: on the file system alone, or changed there.
    """

    RELEASED = "released"
    RESTORED = "restored"
    UNREADABLE = "unreadable"
    LOCAL = "local"


@dataclass(frozen=True, kw_only=True)
class Link:
    """A folder of the file system and the S3 folder that it is linked to.

    Attributes:
        path: the folder, without slashes at its ends; empty for the root.
        source: where imports come from.
        target: where exports go. It differs from the source only on file systems made with ImportPath.
        auto_import: the S3 events that are followed.
        auto_export: the file events that are written back.
    """

    path: str
    source: S3Uri
    target: S3Uri
    auto_import: frozenset[DataEvent] = frozenset()
    auto_export: frozenset[DataEvent] = frozenset()

    def path_of(self, key: str) -> str | None:
        """Where an object appears; None for a key that is no POSIX path below the link."""
        relative = key.removeprefix(self.source.folder).removesuffix("/")
        if relative and not all(_legal(name) for name in relative.split("/")):
            return None
        return "/".join(part for part in (self.path, relative) if part)

    def key_of(self, path: str) -> str:
        """The key that a file is exported to."""
        return self.target.folder + path.removeprefix(self.path).lstrip("/")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A file that stands for an object.

    Attributes:
        bucket: of the object; empty once its association is gone.
        seen: size and mtime of the local copy when it was last the same as the object.
    """

    bucket: str
    key: str
    etag: str
    size: int
    state: FileState = FileState.RELEASED
    seen: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What happened to the files of a link since they were imported or exported, by path."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]


class Contents:
    """The files of one file system.

    Attributes:
        capacity: in bytes.
    """

    def __init__(self, directory: Path, repository: Repository, capacity: int) -> None:
        self.capacity = capacity
        self._files = directory / "files"
        self._incoming = directory / "incoming"
        self._repository = repository
        self._entries: dict[str, Entry] = {}
        self._followed: dict[str, dict[str, str]] = {}
        self._lock = threading.RLock()
        for each in (self._files, self._incoming):
            each.mkdir(parents=True, exist_ok=True)

    def destroy(self) -> None:
        """Remove every file."""
        with self._lock:
            self._entries.clear()
            self._followed.clear()
        shutil.rmtree(self._files.parent, ignore_errors=True)

    # Links

    def attach(self, link: Link) -> None:
        """Make a link's folder; what its S3 folder holds already is not news to it.

        Raises:
            RepositoryError: the S3 folder cannot be listed.
        """
        known = {each.key: each.etag for each in self._repository.objects(link.source)}
        with self._lock:
            (self._files / link.path).mkdir(parents=True, exist_ok=True)
            self._followed[link.path] = known

    def detach(self, link: Link, *, delete_files: bool) -> None:
        """Forget a link. Its files stay, but those still in S3 alone cannot be read any more."""
        with self._lock:
            self._followed.pop(link.path, None)
            for path in [path for path in self._entries if below(path, link.path)]:
                if delete_files:
                    del self._entries[path]
                else:
                    self._entries[path] = replace(self._entries[path], bucket="")
            if delete_files:
                # A link that failed never had a folder, and a job may have removed it.
                for each in (self._files / link.path).glob("*"):
                    shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()

    # Importing

    def listing(self, link: Link) -> list[S3Object]:
        """What a link's S3 folder holds now.

        Raises:
            RepositoryError: it cannot be listed.
        """
        return self._repository.objects(link.source)

    def admit(self, link: Link, objects: Iterable[S3Object]) -> list[str]:
        """Import the metadata of objects; the keys that cannot be files.

        https://docs.aws.amazon.com/fsx/latest/LustreGuide/failed-tasks.html (S3ObjectPathNotPosixCompliant)
        """
        with self._lock:
            return [each.key for each in objects if not self._admit(link, each)]

    def _admit(self, link: Link, each: S3Object) -> bool:
        path = link.path_of(each.key)
        if path is None:
            return False
        # The names above may be files that are in S3 alone, which the disk does not know.
        if any(above in self._entries for above in _above(path)):
            return False
        file = self._files / path
        folder = each.key.endswith("/") or path == link.path
        try:
            (file if folder else file.parent).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            return False
        return folder or self._admit_file(link, each, path)

    def _admit_file(self, link: Link, each: S3Object, path: str) -> bool:
        file = self._files / path
        before = self._entries.get(path)
        if before is not None and (before.bucket, before.key, before.etag) == (
            link.source.bucket,
            each.key,
            each.etag,
        ):
            return True
        if file.is_dir() and not file.is_symlink():
            return False
        file.unlink(missing_ok=True)
        self._entries[path] = Entry(bucket=link.source.bucket, key=each.key, etag=each.etag, size=each.size)
        return True

    def follow(self, link: Link) -> None:
        """Bring a link up to date with those S3 events that it follows."""
        with self._lock:
            known = self._followed.get(link.path)
            if not link.auto_import or known is None:
                return
            try:
                present = {each.key: each for each in self._repository.objects(link.source)}
            except RepositoryError:
                return
            new = [each for key, each in present.items() if key not in known]
            changed = [each for key, each in present.items() if known.get(key, each.etag) != each.etag]
            if DataEvent.NEW in link.auto_import:
                self.admit(link, new)
            if DataEvent.CHANGED in link.auto_import:
                self.admit(link, changed)
            if DataEvent.DELETED in link.auto_import:
                for key in known.keys() - present.keys():
                    self._forget(link.path_of(key))
            self._followed[link.path] = {key: each.etag for key, each in present.items()}

    def _forget(self, path: str | None) -> None:
        if path is not None and self._entries.pop(path, None) is not None:
            (self._files / path).unlink(missing_ok=True)

    # Reading

    def is_folder(self, path: str) -> bool:
        """Whether the file system has this folder."""
        return (self._files / path).is_dir()

    def folder(self, path: str) -> Path:
        """A folder on this machine with all files of that folder, read for the first time where needed.

        A file that S3 does not give (it is in Glacier, or gone) is there by name, and cannot be opened.

        Raises:
            OutOfSpaceError: the file system cannot hold the files.
        """
        with self._lock:
            wanted = [
                name
                for name, entry in self._entries.items()
                if below(name, path) and entry.state in (FileState.RELEASED, FileState.UNREADABLE)
            ]
            needed = sum(self._entries[name].size for name in wanted)
            if needed and self.used() + needed > self.capacity:
                raise OutOfSpaceError(self._no_space(self.used() + needed))
            with ThreadPoolExecutor(_READERS) as readers:
                contexts = [contextvars.copy_context() for _ in wanted]
                restored = list(
                    readers.map(
                        lambda context, path: context.run(self._restore, self._entries[path], path),
                        contexts,
                        wanted,
                    )
                )
            self._entries.update(zip(wanted, restored, strict=True))
        return self._files / path

    def _restore(self, entry: Entry, path: str) -> Entry:
        file = self._files / path
        arriving = self._incoming / uuid.uuid4().hex
        try:
            if not entry.bucket:
                raise RepositoryError("NoDataRepository")
            with arriving.open("wb") as stream:
                modified = self._repository.read(entry.bucket, entry.key, stream.write).timestamp()
            os.utime(arriving, (modified, modified))
            arriving.replace(file)
        except RepositoryError as error:
            arriving.unlink(missing_ok=True)
            file.unlink(missing_ok=True)
            # A link to nowhere is a name that cannot be opened; `ls -l` shows why.
            file.symlink_to(f"unreadable:{error}")
            return replace(entry, state=FileState.UNREADABLE)
        return replace(entry, state=FileState.RESTORED, seen=_stamp(file))

    def states(self) -> dict[str, FileState]:
        """Every file by its path, and where its bytes are."""
        with self._lock:
            found = dict.fromkeys(self._walk(""), FileState.LOCAL)
            for path, entry in self._entries.items():
                gone = entry.state is not FileState.RELEASED and not os.path.lexists(self._files / path)
                if not gone and not self._is_changed(path, entry):
                    found[path] = entry.state
            return found

    def used(self) -> int:
        """The bytes that the files take."""
        return sum((self._files / path).stat().st_size for path in self._walk(""))

    def check_space(self) -> None:
        """Refuse what jobs wrote beyond the capacity.

        Raises:
            OutOfSpaceError: there is more than the file system can hold.
        """
        used = self.used()
        if used > self.capacity:
            raise OutOfSpaceError(self._no_space(used))

    def _no_space(self, wanted: int) -> str:
        gib = 2**30
        return (
            f"No space left on device: the files take {wanted / gib:.1f} GiB, and the file system holds "
            f"{self.capacity / gib:.0f} GiB"
        )

    # Exporting

    def changes(self, link: Link) -> Changes:
        """What jobs did to the files of a link since they were imported or exported."""
        with self._lock:
            present = list(self._walk(link.path))
            return Changes(
                new=tuple(path for path in present if path not in self._entries),
                changed=tuple(
                    path
                    for path in present
                    if path in self._entries and self._is_changed(path, self._entries[path])
                ),
                deleted=tuple(
                    path
                    for path, entry in self._entries.items()
                    if below(path, link.path)
                    and entry.state is not FileState.RELEASED
                    and not os.path.lexists(self._files / path)
                ),
            )

    def export(self, link: Link, paths: Iterable[str]) -> list[str]:
        """Write files to their S3 folder; those that S3 did not take."""
        failed = []
        for path in paths:
            key = link.key_of(path)
            try:
                with (self._files / path).open("rb") as stream:
                    stamp = _stamp(self._files / path)
                    etag = self._repository.write(link.target.bucket, key, stream)
            except (RepositoryError, OSError):
                failed.append(path)
                continue
            with self._lock:
                self._entries[path] = Entry(
                    bucket=link.target.bucket,
                    key=key,
                    etag=etag,
                    size=stamp[0],
                    state=FileState.RESTORED,
                    seen=stamp,
                )
                # The file system's own writes are no news from S3.
                self._followed.get(link.path, {})[key] = etag
        return failed

    def auto_export(self, link: Link) -> None:
        """Write back what the link's policy asks for.

        https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoexport-data-repo-dra.html
        """
        if not link.auto_export:
            return
        changes = self.changes(link)
        if DataEvent.NEW in link.auto_export:
            self.export(link, changes.new)
        if DataEvent.CHANGED in link.auto_export:
            self.export(link, changes.changed)
        if DataEvent.DELETED in link.auto_export:
            for path in changes.deleted:
                entry = self._entries.pop(path)
                self._followed.get(link.path, {}).pop(entry.key, None)
                self._repository.delete(entry.bucket, entry.key)

    # Releasing

    def unused(self, folder: str, since: float) -> list[str]:
        """The files at or below a path that were neither read nor written since, in seconds since 1970."""
        found = []
        with self._lock:
            for path in [path for path in self._walk("") if below(path, folder)]:
                about = (self._files / path).stat()
                if max(about.st_atime, about.st_mtime, about.st_ctime) <= since:
                    found.append(path)
        return found

    def release(self, paths: Iterable[str]) -> list[str]:
        """Drop the bytes of files that S3 has too; those that it has not, which stay."""
        failed = []
        with self._lock:
            for path in paths:
                entry = self._entries.get(path)
                if entry is None or not entry.bucket or self._is_changed(path, entry):
                    failed.append(path)
                    continue
                (self._files / path).unlink(missing_ok=True)
                self._entries[path] = replace(entry, state=FileState.RELEASED, seen=None)
        return failed

    def has(self, path: str) -> bool:
        """Whether there is a file or a folder of this path."""
        return os.path.lexists(self._files / path) or path in self._entries

    def _walk(self, folder: str) -> Iterator[str]:
        """The regular files on disk at or below a folder; placeholders are none."""
        for directory, _, names in os.walk(self._files / folder):
            for name in names:
                file = Path(directory, name)
                if not file.is_symlink():
                    yield file.relative_to(self._files).as_posix()

    def _is_changed(self, path: str, entry: Entry) -> bool:
        file = self._files / path
        return file.is_file() and not file.is_symlink() and _stamp(file) != entry.seen


def _legal(name: str) -> bool:
    return name not in ("", ".", "..") and "\0" not in name and len(name.encode()) <= _LONGEST_NAME


def below(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies inside it; the empty folder holds everything."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _stamp(file: Path) -> tuple[int, int]:
    about = file.stat()
    return about.st_size, about.st_mtime_ns

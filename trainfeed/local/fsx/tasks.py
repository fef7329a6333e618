"""Data repository tasks: import of metadata, export and release of files.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/data-repository-tasks.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.durations import Durations
from trainfeed.local.fsx.contents import Link, below
from trainfeed.local.fsx.faults import Fault, Faults
from trainfeed.local.fsx.pages import filters, page
from trainfeed.local.fsx.repository import Repository, RepositoryError, S3Object
from trainfeed.local.fsx.requests import s3_uri
from trainfeed.local.fsx.resources import (
    RUNNING,
    Association,
    FileSystem,
    Resources,
    Task,
    arn,
    new_id,
    now,
    tag_map,
)
from trainfeed.local.service import ApiError, Operation

_IMPORT = "IMPORT_METADATA_FROM_REPOSITORY"
_EXPORT = "EXPORT_TO_REPOSITORY"
_RELEASE = "RELEASE_DATA_FROM_FILESYSTEM"

#: What the completion report says of a file that a task failed to process.
#: https://docs.aws.amazon.com/fsx/latest/LustreGuide/failed-tasks.html
_CODES = {_IMPORT: "S3ObjectPathNotPosixCompliant", _EXPORT: "S3Error", _RELEASE: "OperationNotPermitted"}

_DAY = 24 * 60 * 60


class _InvalidPathError(Exception):
    """A path of the request is none of the file system or its repositories, which fails the task."""


@dataclass(frozen=True, kw_only=True)
class _Item:
    """One file to be processed: an object to import, or a path to export or release."""

    link: Link
    path: str
    thing: S3Object | None = None


@dataclass(kw_only=True)
class _Work:
    """What an executing task has still to do, and what it failed to do."""

    rest: list[_Item]
    failed: list[str] = field(default_factory=list)


class Tasks:
    """The operations on tasks."""

    def __init__(
        self, resources: Resources, durations: Durations, faults: Faults, repository: Repository
    ) -> None:
        self._resources = resources
        self._durations = durations
        self._faults = faults
        self._repository = repository

    @property
    def operations(self) -> Mapping[str, Operation]:
        """The API operations by name."""
        return {
            "CreateDataRepositoryTask": self.create,
            "DescribeDataRepositoryTasks": self.describe,
            "CancelDataRepositoryTask": self.cancel,
        }

    # Creation

    def create(self, request: dict[str, Any]) -> dict[str, Any]:
        """Queue a task."""
        with self._resources.lock:
            made = self._resources.once("task", request, lambda: self._make(request))
            return {"DataRepositoryTask": made.describe()}

    def import_metadata(self, association: Association) -> None:
        """Queue the import that an association asked for when it was made."""
        request = {
            "Type": _IMPORT,
            "FileSystemId": association.file_system.id,
            "Paths": [association.request["FileSystemPath"]],
            "Report": {"Enabled": False},
        }
        self._queue(association.file_system, request, {association.id: association.link})

    def _make(self, request: dict[str, Any]) -> Task:
        file_system = self._resources.file_system(request["FileSystemId"])
        if request["Type"] == "AUTO_RELEASE_DATA" or "CapacityToRelease" in request:
            raise ApiError(
                "BadRequest",
                f"AUTO_RELEASE_DATA is for Amazon File Cache alone. Use {_IMPORT}, {_EXPORT} or {_RELEASE}.",
            )
        if file_system.lifecycle != "AVAILABLE":
            raise ApiError(
                "BadRequest",
                f"The file system {file_system.id} is {file_system.lifecycle}. A task needs one that is "
                "AVAILABLE.",
            )
        links = {
            each.id: each.link
            for each in self._resources.associations_of(file_system)
            if each.lifecycle in ("AVAILABLE", "UPDATING")
        }
        if file_system.repository is not None:
            links[""] = file_system.repository
        if not links:
            raise ApiError(
                "BadRequest",
                f"The file system {file_system.id} has no linked data repository. Make a data repository "
                "association first.",
            )
        self._check_report(request["Report"], links)
        for task in self._resources.tasks_of(file_system):
            if task.lifecycle == "EXECUTING":
                raise ApiError(
                    "DataRepositoryTaskExecuting",
                    f"The data repository task {task.id} is executing on the file system. Wait until it has "
                    "ended, then create the new task.",
                )
        return self._queue(file_system, request, links)

    def _check_report(self, report: dict[str, Any], links: dict[str, Link]) -> None:
        if not report["Enabled"]:
            return
        missing = [name for name in ("Path", "Format", "Scope") if name not in report]
        if missing:
            raise ApiError(
                "BadRequest",
                f"An enabled Report needs Path, Format and Scope; {', '.join(missing)} is missing.",
            )
        where = s3_uri(report["Path"])
        if not any(
            where.bucket == link.target.bucket and below(where.prefix, link.target.prefix)
            for link in links.values()
        ):
            raise ApiError(
                "BadRequest",
                f"The Report path {where} is not inside a data repository of the file system: "
                f"{', '.join(str(link.target) for link in links.values())}.",
            )

    def _queue(self, file_system: FileSystem, request: dict[str, Any], links: dict[str, Link]) -> Task:
        task_id = new_id("task")
        made = Task(
            id=task_id,
            arn=arn(f"task/{task_id}"),
            file_system=file_system,
            request=request,
            links=links,
            tags=tag_map(request),
        )
        self._resources.tasks[made.id] = made
        ministack.later(self._durations.task_pending, self._begin, made)
        return made

    # Execution

    def _begin(self, task: Task) -> None:
        with self._resources.lock:
            if task.lifecycle != "PENDING":
                return
            # One task at a time: the next waits until those before it have ended.
            for other in self._resources.tasks_of(task.file_system):
                if other is task:
                    break
                if other.lifecycle in (*RUNNING, "CANCELING"):
                    ministack.later(max(self._durations.task_pending, 0.02), self._begin, task)
                    return
            task.lifecycle, task.started = "EXECUTING", now()
        fault = self._faults.take("task")
        try:
            work = self._plan(task, fault)
        except (RepositoryError, _InvalidPathError) as error:
            self._end(task, _Work(rest=[]), fault or Fault(message=str(error)))
            return
        # Half of the files are there while the task executes, so that who does not wait sees half of them.
        half, work.rest = work.rest[: len(work.rest) // 2], work.rest[len(work.rest) // 2 :]
        self._process(task, half, work)
        ministack.later(self._durations.task, self._finish, task, work, fault)

    def _plan(self, task: Task, fault: Fault | None) -> _Work:
        items = self._items(task)
        task.total = len(items)
        if fault is None:
            return _Work(rest=items)
        count = len(items) if fault.failed_files is None else min(fault.failed_files, len(items))
        task.failed = count
        return _Work(rest=items[count:], failed=[item.path for item in items[:count]])

    def _items(self, task: Task) -> list[_Item]:
        contents, paths = task.file_system.contents, task.request.get("Paths", [])
        match task.request["Type"]:
            case "IMPORT_METADATA_FROM_REPOSITORY":
                return self._objects(task, paths)
            case "EXPORT_TO_REPOSITORY":
                folders = self._folders(task, paths)
                found = []
                for link in task.links.values():
                    changes = contents.changes(link)
                    found += [_Item(link=link, path=path) for path in (*changes.new, *changes.changed)]
                return [item for item in found if any(below(item.path, folder) for folder in folders)]
            case _:
                age = task.request.get("ReleaseConfiguration", {}).get("DurationSinceLastAccess", {})
                since = task.created.timestamp() - age.get("Value", 0) * _DAY
                unused = {
                    path for folder in self._folders(task, paths) for path in contents.unused(folder, since)
                }
                return [
                    _Item(link=link, path=path)
                    for link in task.links.values()
                    for path in sorted(unused)
                    if below(path, link.path)
                ]

    def _objects(self, task: Task, paths: list[str]) -> list[_Item]:
        contents = task.file_system.contents
        # The import of a new association names its folder; one that is asked for names places in S3.
        wanted = [s3_uri(path) for path in paths if not path.startswith("/")] if paths else []
        for uri in wanted:
            if not any(
                uri.bucket == link.source.bucket and below(uri.prefix, link.source.prefix)
                for link in task.links.values()
            ):
                raise _InvalidPathError(
                    f"The path {uri} is not inside a data repository that is linked to the file system."
                )
        return [
            _Item(link=link, path=each.key, thing=each)
            for link in task.links.values()
            for each in contents.listing(link)
            if not wanted
            or any(uri.bucket == link.source.bucket and below(each.key, uri.prefix) for uri in wanted)
        ]

    def _folders(self, task: Task, paths: list[str]) -> list[str]:
        folders = [path.strip("/") for path in paths] or [""]
        for folder in folders:
            if not task.file_system.contents.has(folder):
                raise _InvalidPathError(f"The file system has no file or folder {folder!r}.")
        return folders

    def _process(self, task: Task, items: list[_Item], work: _Work) -> None:
        contents = task.file_system.contents
        failed = []
        for link in task.links.values():
            mine = [item for item in items if item.link is link]
            match task.request["Type"]:
                case "IMPORT_METADATA_FROM_REPOSITORY":
                    failed += contents.admit(link, [item.thing for item in mine if item.thing is not None])
                case "EXPORT_TO_REPOSITORY":
                    failed += contents.export(link, [item.path for item in mine])
                case _:
                    failed += contents.release([item.path for item in mine])
        work.failed += failed
        with self._resources.lock:
            task.failed += len(failed)
            task.succeeded += len(items) - len(failed)

    def _finish(self, task: Task, work: _Work, fault: Fault | None) -> None:
        with self._resources.lock:
            if task.lifecycle != "EXECUTING":
                return
        self._process(task, work.rest, work)
        self._end(task, work, fault)

    def _end(self, task: Task, work: _Work, fault: Fault | None) -> None:
        self._report(task, work.failed)
        with self._resources.lock:
            if task.lifecycle != "EXECUTING":
                return
            task.ended = now()
            if fault is not None:
                task.lifecycle, task.failure = fault.lifecycle, fault.message
            elif work.failed:
                task.lifecycle = "FAILED"
                task.failure = (
                    f"{len(work.failed)} of {task.total} files could not be processed: "
                    f"{_CODES[task.request['Type']]}."
                )
            else:
                task.lifecycle = "SUCCEEDED"

    def _report(self, task: Task, failed: list[str]) -> None:
        report = task.request["Report"]
        if not report["Enabled"] or not failed:
            return
        where = s3_uri(report["Path"])
        code = _CODES[task.request["Type"]]
        lines = ["FilePath,FileStatus,ErrorCode", *(f'"{path}",failed,{code}' for path in failed)]
        body = "\n".join(lines).encode()
        try:
            self._repository.write(where.bucket, f"{where.folder}{task.id}/failures.csv", body)
        except RepositoryError:
            # A report that cannot be delivered does not change how the task ended.
            return

    # Description and cancellation

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        """The tasks of these ids or filters, or all."""
        chosen = filters(request, ("file-system-id", "task-lifecycle", "data-repository-association-id"))
        with self._resources.lock:
            wanted = request.get("TaskIds")
            found = (
                [self._resources.task(each) for each in wanted]
                if wanted
                else list(self._resources.tasks.values())
            )
            shown, following = page(
                [each.describe() for each in found if _chosen(each, chosen)], request, 100
            )
            return {"DataRepositoryTasks": shown, "NextToken": following}

    def cancel(self, request: dict[str, Any]) -> dict[str, Any]:
        """Cancel a task; what it has done already stays done."""
        with self._resources.lock:
            task = self._resources.task(request["TaskId"])
            match task.lifecycle:
                case "PENDING":
                    task.lifecycle, task.ended = "CANCELED", now()
                case "EXECUTING":
                    task.lifecycle = "CANCELING"
                    ministack.later(self._durations.task_pending, self._canceled, task)
                case "CANCELING":
                    pass
                case ended:
                    raise ApiError(
                        "DataRepositoryTaskEnded",
                        f"The data repository task {task.id} cannot be canceled, for it is {ended}.",
                    )
            return {"Lifecycle": task.lifecycle, "TaskId": task.id}

    def _canceled(self, task: Task) -> None:
        with self._resources.lock:
            task.lifecycle, task.ended = "CANCELED", now()


def _chosen(task: Task, chosen: dict[str, list[str]]) -> bool:
    return (
        ("file-system-id" not in chosen or task.file_system.id in chosen["file-system-id"])
        and ("task-lifecycle" not in chosen or task.lifecycle in chosen["task-lifecycle"])
        and (
            "data-repository-association-id" not in chosen
            or any(each in task.links for each in chosen["data-repository-association-id"])
        )
    )

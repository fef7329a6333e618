"""What the S3 links of a run's file systems have imported, as the run itself saw it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainfeed.run.aws import Client
from trainfeed.run.history import answers
from trainfeed.run.launch import Run

IMPORT = "IMPORT_METADATA_FROM_REPOSITORY"


def warnings(client: Client, run: Run) -> tuple[str, ...]:
    """A line for each link whose imports found no file, so that the job sees an empty folder."""
    links: dict[str, Mapping[str, Any]] = {}
    tasks: dict[str, Mapping[str, Any]] = {}
    for answer in answers(client, run):
        # Each was looked at again and again; the newest look comes first.
        for link in answer.get("Associations", ()):
            links.setdefault(link["AssociationId"], link)
        for task in answer.get("DataRepositoryTasks", ()):
            tasks.setdefault(task["TaskId"], task)
    return tuple(map(_warning, _empty(links.values(), tasks.values())))


def _empty(
    links: Iterable[Mapping[str, Any]], tasks: Iterable[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    done = [task for task in tasks if task["Type"] == IMPORT and task["Lifecycle"] == "SUCCEEDED"]
    for link in links:
        mine = [task for task in done if _covers(task, link)]
        # What is uploaded later reaches a link that imports new objects by itself.
        if mine and not _files(mine) and "NEW" not in _events(link):
            yield link


def _covers(task: Mapping[str, Any], link: Mapping[str, Any]) -> bool:
    """Whether a task imports a link or a part of it; one without paths imports all."""
    if task["FileSystemId"] != link["FileSystemId"]:
        return False
    places = (_folder(link["FileSystemPath"]), _folder(link["DataRepositoryPath"]))
    return not task.get("Paths") or any(_folder(path).startswith(places) for path in task["Paths"])


def _folder(path: str) -> str:
    return path.rstrip("/") + "/"


def _files(tasks: Iterable[Mapping[str, Any]]) -> int:
    return sum(task.get("Status", {}).get("TotalCount") or 0 for task in tasks)


def _events(link: Mapping[str, Any]) -> Iterable[str]:
    return link.get("S3", {}).get("AutoImportPolicy", {}).get("Events", ())


def _warning(link: Mapping[str, Any]) -> str:
    return (
        f"{link['FileSystemPath']} of {link['FileSystemId']} is empty: its import found 0 files in "
        f"{link['DataRepositoryPath']}. Upload the data there, then import it: "
        f"aws fsx create-data-repository-task --file-system-id {link['FileSystemId']} "
        f"--type {IMPORT} --report Enabled=false"
    )

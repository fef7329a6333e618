"""The file systems that trainfeed made, which bill for as long as they exist."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from trainfeed import names
from trainfeed.run.aws import Client


@dataclass(frozen=True, kw_only=True)
class FileSystem:
    """A file system of ours.

    Attributes:
        kind: its deployment type (`SCRATCH_2`).
        capacity_gib: what is provisioned, and billed.
        owner: the stack that made it.
    """

    id: str
    kind: str
    state: str
    capacity_gib: int
    created: datetime
    owner: str


def ours(client: Client) -> tuple[FileSystem, ...]:
    """Every Lustre file system with trainfeed's tag in this account and Region, oldest first."""
    pages = client("fsx").get_paginator("describe_file_systems").paginate()
    found = (
        FileSystem(
            id=item["FileSystemId"],
            kind=item.get("LustreConfiguration", {}).get("DeploymentType", item["FileSystemType"]),
            state=item["Lifecycle"],
            capacity_gib=item["StorageCapacity"],
            created=item["CreationTime"],
            owner=owner,
        )
        for page in pages
        for item in page["FileSystems"]
        if (owner := tag(item.get("Tags", ()), names.STACK_TAG)) is not None
    )
    return tuple(sorted(found, key=lambda one: one.created))


def tag(tags: Iterable[Mapping[str, str]], key: str) -> str | None:
    """The value of a tag, None if it is not there."""
    return next((item["Value"] for item in tags if item["Key"] == key), None)

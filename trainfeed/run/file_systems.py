"""The file systems that trainfeed made, which bill for as long as they exist."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from botocore.exceptions import ClientError

from trainfeed import names
from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.run.aws import Client, code, denied


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


def current(client: Client, source: str) -> LustreConfiguration | None:
    """The deployed file system of a source, as far as it matters to its growth.

    None where there is none, or where it may not be looked at.
    """
    try:
        facts = client("ssm").get_parameter(Name=names.facts_parameter(source))["Parameter"]["Value"]
        wanted = [json.loads(facts)["FileSystemId"]]
        found = client("fsx").describe_file_systems(FileSystemIds=wanted)["FileSystems"][0]
    except ClientError as error:
        if code(error) in ("ParameterNotFound", "FileSystemNotFound") or denied(error):
            return None
        raise
    lustre = found["LustreConfiguration"]
    return LustreConfiguration(
        storage_capacity_gib=found["StorageCapacity"],
        storage_type=found["StorageType"],
        deployment_type=lustre["DeploymentType"],
        per_unit_storage_throughput=lustre.get("PerUnitStorageThroughput"),
        efa_enabled=lustre.get("EfaEnabled", False),
    )


def tag(tags: Iterable[Mapping[str, str]], key: str) -> str | None:
    """The value of a tag, None if it is not there."""
    return next((item["Value"] for item in tags if item["Key"] == key), None)

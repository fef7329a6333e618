"""What exists: file systems, associations and tasks, for each account and Region."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from trainfeed.local import ministack
from trainfeed.local.fsx.contents import Contents, Link
from trainfeed.local.service import ApiError

Tags = dict[str, str]
T = TypeVar("T", bound="FileSystem | Association | Task")

#: Tasks that still stand in the way of a deletion.
#: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DeleteFileSystem.html
RUNNING = ("PENDING", "EXECUTING")


def now() -> datetime:
    """The time, as the API gives it."""
    return datetime.now(UTC)


@dataclass(kw_only=True, eq=False)
class FileSystem:
    """A file system.

    Attributes:
        request: the CreateFileSystem request, with what later updates changed.
        lustre: LustreConfiguration as it is described.
        repository: the link of a file system made with ImportPath.
        actions: the administrative actions, newest first.
    """

    id: str
    arn: str
    owner: str
    region: str
    request: dict[str, Any]
    lustre: dict[str, Any]
    version: str
    vpc_id: str
    interfaces: list[str]
    contents: Contents
    tags: Tags
    repository: Link | None = None
    lifecycle: str = "CREATING"
    failure: str | None = None
    actions: list[dict[str, Any]] = field(default_factory=list)
    created: datetime = field(default_factory=now)

    @property
    def deployment_type(self) -> str:
        """SCRATCH_1, SCRATCH_2, PERSISTENT_1 or PERSISTENT_2."""
        return self.lustre["DeploymentType"]

    @property
    def subnet_id(self) -> str:
        """The one subnet that the file system is in."""
        return self.request["SubnetIds"][0]

    def describe(self) -> dict[str, Any]:
        """The file system as DescribeFileSystems shows it; its security groups are not shown."""
        return {
            "OwnerId": self.owner,
            "CreationTime": self.created,
            "FileSystemId": self.id,
            "FileSystemType": "LUSTRE",
            "Lifecycle": self.lifecycle,
            "FailureDetails": _details(self.failure),
            "StorageCapacity": self.request.get("StorageCapacity"),
            "StorageType": self.request.get("StorageType", "SSD"),
            "VpcId": self.vpc_id,
            "SubnetIds": self.request["SubnetIds"],
            "NetworkInterfaceIds": self.interfaces,
            "DNSName": f"{self.id}.fsx.{self.region}.amazonaws.com",
            "KmsKeyId": self.request.get("KmsKeyId"),
            "ResourceARN": self.arn,
            "Tags": tag_list(self.tags),
            "LustreConfiguration": self.lustre,
            "AdministrativeActions": self.actions or None,
            "FileSystemTypeVersion": self.version,
        }


@dataclass(kw_only=True, eq=False)
class Association:
    """A data repository association; its link does the work in the contents."""

    id: str
    arn: str
    file_system: FileSystem
    request: dict[str, Any]
    link: Link
    tags: Tags
    lifecycle: str = "CREATING"
    failure: str | None = None
    created: datetime = field(default_factory=now)

    def describe(self) -> dict[str, Any]:
        """The association as DescribeDataRepositoryAssociations shows it."""
        return {
            "AssociationId": self.id,
            "ResourceARN": self.arn,
            "FileSystemId": self.file_system.id,
            "Lifecycle": self.lifecycle,
            "FailureDetails": _details(self.failure),
            "FileSystemPath": self.request["FileSystemPath"],
            "DataRepositoryPath": self.request["DataRepositoryPath"],
            "BatchImportMetaDataOnCreate": self.request.get("BatchImportMetaDataOnCreate", False),
            "ImportedFileChunkSize": self.request.get("ImportedFileChunkSize", 1024),
            "S3": self.request.get("S3", {}),
            "Tags": tag_list(self.tags),
            "CreationTime": self.created,
        }


@dataclass(kw_only=True, eq=False)
class Task:
    """A data repository task.

    Attributes:
        links: what the task works on, by the id of the association; empty for an ImportPath.
        total: files to be processed, known once the task executes.
    """

    id: str
    arn: str
    file_system: FileSystem
    request: dict[str, Any]
    links: dict[str, Link]
    tags: Tags
    lifecycle: str = "PENDING"
    failure: str | None = None
    total: int = 0
    succeeded: int = 0
    failed: int = 0
    created: datetime = field(default_factory=now)
    started: datetime | None = None
    ended: datetime | None = None

    def describe(self) -> dict[str, Any]:
        """The task as DescribeDataRepositoryTasks shows it."""
        return {
            "TaskId": self.id,
            "Lifecycle": self.lifecycle,
            "Type": self.request["Type"],
            "CreationTime": self.created,
            "StartTime": self.started,
            "EndTime": self.ended,
            "ResourceARN": self.arn,
            "Tags": tag_list(self.tags),
            "FileSystemId": self.file_system.id,
            "Paths": self.request.get("Paths", []),
            "FailureDetails": _details(self.failure),
            "Status": {
                "TotalCount": self.total,
                "SucceededCount": self.succeeded,
                "FailedCount": self.failed,
                "LastUpdatedTime": self.ended or self.started or self.created,
            },
            "Report": self.request["Report"],
            "ReleaseConfiguration": self.request.get("ReleaseConfiguration"),
        }


class Resources:
    """The tables of a local AWS; `lock` guards every change."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.file_systems = ministack.scoped_table()
        self.associations = ministack.scoped_table()
        self.tasks = ministack.scoped_table()
        self._tokens = ministack.scoped_table()

    def clear(self) -> None:
        """Forget everything, in every account and Region."""
        for table in (self.file_systems, self.associations, self.tasks, self._tokens):
            table.clear()

    def file_system(self, file_system_id: str) -> FileSystem:
        """The file system of this id.

        Raises:
            ApiError: there is none.
        """
        return _find(self.file_systems, file_system_id, "FileSystemNotFound", "File system")

    def association(self, association_id: str) -> Association:
        """The association of this id.

        Raises:
            ApiError: there is none.
        """
        code = "DataRepositoryAssociationNotFound"
        return _find(self.associations, association_id, code, "Data repository association")

    def task(self, task_id: str) -> Task:
        """The task of this id.

        Raises:
            ApiError: there is none.
        """
        return _find(self.tasks, task_id, "DataRepositoryTaskNotFound", "Data repository task")

    def associations_of(self, file_system: FileSystem) -> list[Association]:
        """The associations of a file system, oldest first."""
        return [each for each in self.associations.values() if each.file_system is file_system]

    def tasks_of(self, file_system: FileSystem) -> list[Task]:
        """The tasks of a file system, oldest first."""
        return [each for each in self.tasks.values() if each.file_system is file_system]

    def once(self, kind: str, request: dict[str, Any], make: Callable[[], T]) -> T:
        """Make a resource, unless this client request token has made it already.

        Raises:
            ApiError: the token came with other parameters before.
        """
        token = request.get("ClientRequestToken")
        asked = {name: value for name, value in request.items() if name != "ClientRequestToken"}
        key = f"{kind} {token}"
        if token is not None and key in self._tokens:
            before, made = self._tokens[key]
            if self._exists(made):
                if before != asked:
                    raise ApiError(
                        "IncompatibleParameterError",
                        f"The client request token {token} was used before with other parameters, for "
                        f"{made.id}. Repeat the same parameters, or use another token.",
                    )
                return made
        made = make()
        if token is not None:
            self._tokens[key] = (asked, made)
        return made

    def _exists(self, resource: "FileSystem | Association | Task") -> bool:
        return any(resource.id in table for table in (self.file_systems, self.associations, self.tasks))


def new_id(kind: str) -> str:
    """An id such as `fs-0123456789abcdef0`."""
    return f"{kind}-0{secrets.token_hex(8)}"


def arn(resource: str) -> str:
    """The ARN of a resource (`file-system/fs-1`) of this account and Region."""
    return f"arn:aws:fsx:{ministack.region()}:{ministack.account_id()}:{resource}"


def tag_list(tags: Tags) -> list[dict[str, str]]:
    """Tags as the API writes them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def tag_map(request: dict[str, Any]) -> Tags:
    """The tags of a request."""
    return {tag["Key"]: tag["Value"] for tag in request.get("Tags", [])}


def _details(message: str | None) -> dict[str, str] | None:
    return {"Message": message} if message else None


def _find(table: Any, identifier: str, code: str, kind: str) -> Any:
    found = table.get(identifier)
    if found is None:
        raise ApiError(code, f"{kind} '{identifier}' does not exist.")
    return found

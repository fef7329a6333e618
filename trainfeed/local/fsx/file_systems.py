"""CreateFileSystem, DescribeFileSystems, UpdateFileSystem and DeleteFileSystem.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
"""

import secrets
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.durations import Durations
from trainfeed.local.fsx import network
from trainfeed.local.fsx.contents import Contents, Link
from trainfeed.local.fsx.faults import Faults
from trainfeed.local.fsx.pages import page
from trainfeed.local.fsx.repository import Repository, RepositoryError
from trainfeed.local.fsx.requests import configuration, judge, s3_uri
from trainfeed.local.fsx.resources import RUNNING, FileSystem, Resources, arn, new_id, now, tag_map
from trainfeed.local.service import ApiError, Operation
from trainfeed.rules.efa import RULES as EFA_RULES
from trainfeed.rules.efa import EfaPaths
from trainfeed.rules.lustre import GROWTH_RULES, RULES, LustreGrowth
from trainfeed.sources import DataEvent

#: Quotas of a Region, counted apart for scratch, PERSISTENT_1 and PERSISTENT_2.
#: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html
_MOST_FILE_SYSTEMS = 100
_MOST_GIB = 100_800

_GIB = 2**30
_IN_THE_REQUEST_ONLY = ("ImportPath", "ExportPath", "ImportedFileChunkSize", "AutoImportPolicy")
_POLICIES = {
    "NONE": frozenset[DataEvent](),
    "NEW": frozenset({DataEvent.NEW}),
    "NEW_CHANGED": frozenset({DataEvent.NEW, DataEvent.CHANGED}),
    "NEW_CHANGED_DELETED": frozenset(DataEvent),
}


class FileSystems:
    """The operations on file systems."""

    def __init__(
        self,
        resources: Resources,
        durations: Durations,
        faults: Faults,
        repository: Repository,
        directory: Path,
    ) -> None:
        self._resources = resources
        self._durations = durations
        self._faults = faults
        self._repository = repository
        self._directory = directory

    @property
    def operations(self) -> Mapping[str, Operation]:
        """The API operations by name."""
        return {
            "CreateFileSystem": self.create,
            "DescribeFileSystems": self.describe,
            "UpdateFileSystem": self.update,
            "DeleteFileSystem": self.delete,
        }

    # Creation

    def create(self, request: dict[str, Any]) -> dict[str, Any]:
        """Begin to make a file system; it turns AVAILABLE, or FAILED, later."""
        with self._resources.lock:
            made = self._resources.once("file-system", request, lambda: self._make(request))
            return {"FileSystem": made.describe()}

    def _make(self, request: dict[str, Any]) -> FileSystem:
        if request["FileSystemType"] != "LUSTRE":
            raise ApiError(
                "BadRequest",
                f"The local AWS makes LUSTRE file systems only; {request['FileSystemType']} was asked for.",
            )
        for foreign in ("WindowsConfiguration", "OntapConfiguration", "OpenZFSConfiguration"):
            if foreign in request:
                raise ApiError("BadRequest", f"{foreign} cannot be applied to create a LUSTRE file system.")
        asked = configuration(request, region=ministack.region())
        judge(RULES, asked, "fsx:CreateFileSystem")
        groups = self._check_network(request, efa=asked.efa_enabled)
        self._check_quota(request)
        repository = self._check_import_path(request)

        subnet_id = request["SubnetIds"][0]
        file_system_id = new_id("fs")
        capacity = request.get("StorageCapacity") or 0
        interfaces = [
            ministack.create_network_interface(subnet_id, groups, f"Amazon FSx: {file_system_id}")
            for _ in range(_interfaces(capacity))
        ]
        made = FileSystem(
            id=file_system_id,
            arn=arn(f"file-system/{file_system_id}"),
            owner=ministack.account_id(),
            region=ministack.region(),
            request={**request, "SecurityGroupIds": groups},
            lustre=_lustre(request, repository, asked.deployment_type),
            version=asked.lustre_version,
            vpc_id=(ministack.subnet(subnet_id) or {})["VpcId"],
            interfaces=interfaces,
            contents=Contents(self._directory / file_system_id, self._repository, capacity * _GIB),
            tags=tag_map(request),
            repository=repository,
        )
        self._resources.file_systems[made.id] = made
        ministack.later(self._durations.file_system_create, self._finish_creation, made)
        return made

    def _check_network(self, request: dict[str, Any], *, efa: bool) -> list[str]:
        subnet_id = request["SubnetIds"][0]
        home = ministack.subnet(subnet_id)
        groups = request.get("SecurityGroupIds") or (
            network.default_group(home["VpcId"]) if home is not None else []
        )
        side = network.side(subnet_id, groups)
        between = network.closed(side)
        if between is not None:
            raise ApiError(
                "InvalidNetworkSettings",
                "The file system cannot be created because the default security group in the subnet provided "
                "or the provided security groups do not permit Lustre LNET network traffic on port 988. "
                f"Closed: {between}. Open TCP 988 and 1018-1023 in and out within the file system's groups.",
            )
        if efa:
            judge(EFA_RULES, EfaPaths(file_system=side.groups), "fsx:CreateFileSystem")
        return groups

    def _check_quota(self, request: dict[str, Any]) -> None:
        family = _family(request)
        alike = [each for each in self._resources.file_systems.values() if _family(each.request) == family]
        gib = sum(each.request.get("StorageCapacity") or 0 for each in alike)
        gib += request.get("StorageCapacity") or 0
        if len(alike) >= _MOST_FILE_SYSTEMS or gib > _MOST_GIB:
            raise ApiError(
                "ServiceLimitExceeded",
                f"With this one there would be {len(alike) + 1} {family} file systems of {gib} GiB together. "
                f"The quota of a Region is {_MOST_FILE_SYSTEMS} file systems and {_MOST_GIB} GiB.",
            )

    def _check_import_path(self, request: dict[str, Any]) -> Link | None:
        lustre = request.get("LustreConfiguration", {})
        if "ImportPath" not in lustre:
            return None
        source = s3_uri(lustre["ImportPath"])
        region = self._repository.region(source.bucket)
        if region != ministack.region():
            where = "does not exist" if region is None else f"is in {region}"
            raise ApiError(
                "InvalidImportPath",
                f"The S3 bucket {source.bucket} {where}. It must be a bucket of {ministack.region()} that "
                "you may read.",
            )
        stamp = now().strftime("FSxLustre%Y%m%dT%H%M%SZ")
        target = s3_uri(lustre.get("ExportPath", f"s3://{source.bucket}/{stamp}"))
        return Link(
            path="",
            source=source,
            target=target,
            auto_import=_POLICIES[lustre.get("AutoImportPolicy", "NONE")],
        )

    def _finish_creation(self, made: FileSystem) -> None:
        fault = self._faults.take("file-system")
        if fault is None and made.repository is not None:
            # With ImportPath all metadata is imported before the file system is AVAILABLE.
            try:
                made.contents.attach(made.repository)
                made.contents.admit(made.repository, made.contents.listing(made.repository))
            except RepositoryError as error:
                self._turn(made, "FAILED", f"The import from {made.repository.source} failed: {error}.")
                return
        if fault is None:
            self._turn(made, "AVAILABLE", None)
        else:
            self._turn(made, fault.lifecycle, fault.message)

    def _turn(self, file_system: FileSystem, lifecycle: str, failure: str | None) -> None:
        with self._resources.lock:
            if file_system.lifecycle != "DELETING":
                file_system.lifecycle, file_system.failure = lifecycle, failure
                if file_system.repository is not None:
                    file_system.lustre["DataRepositoryConfiguration"]["Lifecycle"] = lifecycle

    # Description

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        """The file systems of these ids, or all."""
        with self._resources.lock:
            wanted = request.get("FileSystemIds")
            found = (
                [self._resources.file_system(each) for each in wanted]
                if wanted
                else list(self._resources.file_systems.values())
            )
            shown, following = page([each.describe() for each in found], request, 100)
            return {"FileSystems": shown, "NextToken": following}

    # Update

    def update(self, request: dict[str, Any]) -> dict[str, Any]:
        """Begin to change a file system; it is UPDATING until the change is made."""
        with self._resources.lock:
            file_system = self._resources.file_system(request["FileSystemId"])
            if file_system.lifecycle != "AVAILABLE":
                raise ApiError(
                    "BadRequest",
                    f"The file system {file_system.id} is {file_system.lifecycle}. Only one that is "
                    "AVAILABLE can be updated.",
                )
            target = self._target(file_system, request)
            growing = "StorageCapacity" in target
            action = {
                "AdministrativeActionType": "FILE_SYSTEM_UPDATE",
                "RequestTime": now(),
                "Status": "IN_PROGRESS",
                "TargetFileSystemValues": target,
            }
            optimization = {
                "AdministrativeActionType": "STORAGE_OPTIMIZATION",
                "RequestTime": now(),
                "Status": "PENDING",
            }
            file_system.actions[:0] = [action, optimization] if growing else [action]
            file_system.lifecycle = "UPDATING"
            ministack.later(self._durations.file_system_update, self._finish_update, file_system, action)
            return {"FileSystem": file_system.describe()}

    def _target(self, file_system: FileSystem, request: dict[str, Any]) -> dict[str, Any]:
        """What an update changes; what is equal already is left out."""
        for fixed in ("StorageType", "NetworkType"):
            if fixed in request:
                raise ApiError("BadRequest", f"{fixed} of a LUSTRE file system cannot be changed.")
        current = configuration(file_system.request, region=file_system.region)
        target: dict[str, Any] = {}
        capacity = request.get("StorageCapacity")
        if capacity is not None:
            if capacity == current.storage_capacity_gib:
                raise ApiError(
                    "BadRequest",
                    f"The file system {file_system.id} has {capacity} GiB already. Ask for more.",
                )
            if any(each["Status"] == "UPDATED_OPTIMIZING" for each in file_system.actions):
                raise ApiError(
                    "BadRequest",
                    f"The file system {file_system.id} is still growing. Wait until the STORAGE_OPTIMIZATION "
                    "action is gone.",
                )
            growth = LustreGrowth(current=current, storage_capacity_gib=capacity)
            judge(GROWTH_RULES, growth, "fsx:UpdateFileSystem")
            target["StorageCapacity"] = capacity
        version = request.get("FileSystemTypeVersion")
        if version is not None:
            if version not in ("2.12", "2.15") or _number(version) <= _number(file_system.version):
                raise ApiError(
                    "BadRequest",
                    f"The file system {file_system.id} runs Lustre {file_system.version} and cannot change "
                    f"to {version}. Only a newer version can be chosen: 2.12 or 2.15.",
                )
            target["FileSystemTypeVersion"] = version
        lustre = request.get("LustreConfiguration")
        if lustre:
            if "AutoImportPolicy" in lustre and file_system.repository is None:
                raise ApiError(
                    "BadRequest",
                    "AutoImportPolicy is for file systems made with ImportPath. Use "
                    "UpdateDataRepositoryAssociation.",
                )
            changed = {**file_system.request.get("LustreConfiguration", {}), **lustre}
            asked = configuration(
                {**file_system.request, **target, "LustreConfiguration": changed}, region=file_system.region
            )
            # What the file system was made with is allowed, so a refusal is about the change.
            judge(RULES, asked, "fsx:CreateFileSystem")
            target["LustreConfiguration"] = lustre
        if not target:
            raise ApiError("BadRequest", "The request changes nothing. Name at least one setting to update.")
        return target

    def _finish_update(self, file_system: FileSystem, action: dict[str, Any]) -> None:
        fault = self._faults.take("update")
        with self._resources.lock:
            if file_system.lifecycle != "UPDATING":
                return
            file_system.lifecycle = "AVAILABLE"
            if fault is not None:
                action.update(Status="FAILED", FailureDetails={"Message": fault.message})
                self._drop_optimization(file_system)
                return
            target = action["TargetFileSystemValues"]
            self._apply(file_system, target)
            if "StorageCapacity" not in target:
                action["Status"] = "COMPLETED"
                return
            action["Status"] = "UPDATED_OPTIMIZING"
            for each in file_system.actions:
                if each["AdministrativeActionType"] == "STORAGE_OPTIMIZATION":
                    each.update(Status="IN_PROGRESS", ProgressPercent=50)
            ministack.later(
                self._durations.file_system_update, self._finish_optimization, file_system, action
            )

    def _apply(self, file_system: FileSystem, target: dict[str, Any]) -> None:
        lustre = target.get("LustreConfiguration", {})
        file_system.request = {
            **file_system.request,
            **{name: value for name, value in target.items() if name != "LustreConfiguration"},
            "LustreConfiguration": {**file_system.request.get("LustreConfiguration", {}), **lustre},
        }
        file_system.version = target.get("FileSystemTypeVersion", file_system.version)
        for name, value in lustre.items():
            if name not in _IN_THE_REQUEST_ONLY:
                file_system.lustre[name] = value
        if file_system.repository is not None and "AutoImportPolicy" in lustre:
            link, policy = file_system.repository, lustre["AutoImportPolicy"]
            file_system.contents.follow(link)
            file_system.repository = Link(
                path=link.path, source=link.source, target=link.target, auto_import=_POLICIES[policy]
            )
            file_system.contents.attach(file_system.repository)
            file_system.lustre["DataRepositoryConfiguration"]["AutoImportPolicy"] = policy
        capacity = file_system.request.get("StorageCapacity") or 0
        file_system.contents.capacity = capacity * _GIB
        while len(file_system.interfaces) < _interfaces(capacity):
            file_system.interfaces.append(
                ministack.create_network_interface(
                    file_system.subnet_id,
                    file_system.request["SecurityGroupIds"],
                    f"Amazon FSx: {file_system.id}",
                )
            )

    def _finish_optimization(self, file_system: FileSystem, action: dict[str, Any]) -> None:
        with self._resources.lock:
            action["Status"] = "COMPLETED"
            self._drop_optimization(file_system)

    def _drop_optimization(self, file_system: FileSystem) -> None:
        file_system.actions = [
            each for each in file_system.actions if each["AdministrativeActionType"] != "STORAGE_OPTIMIZATION"
        ]

    # Deletion

    def delete(self, request: dict[str, Any]) -> dict[str, Any]:
        """Begin to delete a file system, its associations and its network interfaces."""
        with self._resources.lock:
            file_system = self._resources.file_system(request["FileSystemId"])
            backup = self._check_deletion(file_system, request)
            if file_system.lifecycle != "DELETING":
                file_system.lifecycle = "DELETING"
                for each in self._resources.associations_of(file_system):
                    each.lifecycle = "DELETING"
                ministack.later(self._durations.file_system_delete, self._finish_deletion, file_system)
            answer: dict[str, Any] = {"FileSystemId": file_system.id, "Lifecycle": "DELETING"}
            if backup is not None:
                answer["LustreResponse"] = backup
            return answer

    def _check_deletion(self, file_system: FileSystem, request: dict[str, Any]) -> dict[str, Any] | None:
        for foreign in ("WindowsConfiguration", "OpenZFSConfiguration"):
            if foreign in request:
                raise ApiError("BadRequest", f"{foreign} cannot be applied to delete a LUSTRE file system.")
        lustre = request.get("LustreConfiguration")
        if lustre is not None and file_system.deployment_type.startswith("SCRATCH"):
            raise ApiError(
                "BadRequest",
                f"LustreConfiguration cannot be given to delete {file_system.id}, for "
                f"{file_system.deployment_type} file systems have no backups. Leave it out.",
            )
        running = [task for task in self._resources.tasks_of(file_system) if task.lifecycle in RUNNING]
        if running:
            raise ApiError(
                "BadRequest",
                f"The file system {file_system.id} cannot be deleted while its data repository task "
                f"{running[0].id} is {running[0].lifecycle}. Wait for the task, or cancel it.",
            )
        if lustre is None or lustre.get("SkipFinalBackup", True):
            return None
        if file_system.repository is not None or self._resources.associations_of(file_system):
            raise ApiError(
                "BadRequest",
                f"The file system {file_system.id} is linked to S3, and such file systems have no backups. "
                "Leave SkipFinalBackup out.",
            )
        return {"FinalBackupId": new_id("backup"), "FinalBackupTags": lustre.get("FinalBackupTags", [])}

    def _finish_deletion(self, file_system: FileSystem) -> None:
        with self._resources.lock:
            for each in file_system.interfaces:
                ministack.delete_network_interface(each)
            for table, items in (
                (self._resources.associations, self._resources.associations_of(file_system)),
                (self._resources.tasks, self._resources.tasks_of(file_system)),
            ):
                for item in items:
                    del table[item.id]
            self._resources.file_systems.pop(file_system.id, None)
        file_system.contents.destroy()


def _lustre(request: dict[str, Any], repository: Link | None, deployment_type: str) -> dict[str, Any]:
    """LustreConfiguration as it is described: what was asked for, with the defaults of the API."""
    asked = request.get("LustreConfiguration", {})
    shown = {
        "WeeklyMaintenanceStartTime": "7:05:00",
        "DataCompressionType": "NONE",
        "CopyTagsToBackups": False,
        "LogConfiguration": {"Level": "DISABLED"},
        **{name: value for name, value in asked.items() if name not in _IN_THE_REQUEST_ONLY},
        "DeploymentType": deployment_type,
        "MountName": "fsx" if deployment_type == "SCRATCH_1" else _mount_name(),
    }
    if repository is not None:
        shown["DataRepositoryConfiguration"] = {
            "Lifecycle": "CREATING",
            "ImportPath": asked["ImportPath"],
            "ExportPath": str(repository.target),
            "ImportedFileChunkSize": asked.get("ImportedFileChunkSize", 1024),
            "AutoImportPolicy": asked.get("AutoImportPolicy", "NONE"),
        }
    return shown


def _mount_name() -> str:
    return "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(8))


def _interfaces(capacity_gib: int) -> int:
    """One for the metadata, and one for each file server of 2,400 GiB or a part of it."""
    return 1 + max(1, -(-capacity_gib // 2400))


def _family(request: dict[str, Any]) -> str:
    deployment_type = request.get("LustreConfiguration", {}).get("DeploymentType", "SCRATCH_1")
    return "scratch" if deployment_type.startswith("SCRATCH") else deployment_type


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))

"""AWS::FSx::FileSystem and AWS::FSx::DataRepositoryAssociation, as CloudFormation drives the API.

What replaces is what the resource reference says. What it updates in place goes to UpdateFileSystem, which
refuses the settings that it does not know.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-fsx-filesystem.html
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-fsx-filesystem-lustreconfiguration.html
The association follows the handler that AWS has published:
https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-fsx
"""

import time
from collections.abc import Callable
from typing import Any

from botocore.model import ListShape, Shape, StructureShape

from trainfeed.local import ministack, shapes
from trainfeed.local.service import ApiError, JsonService

Properties = dict[str, Any]
Made = tuple[str, dict[str, Any]]

_FILE_SYSTEM = "AWS::FSx::FileSystem"
_ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"

_REPLACING = ("BackupId", "FileSystemType", "KmsKeyId", "SecurityGroupIds", "SubnetIds")
_REPLACING_LUSTRE = ("CopyTagsToBackups", "DeploymentType")

#: How long a resource may take, in seconds; CloudFormation gives an association hours.
_PATIENCE = 600.0
_POLL = 0.05


def install(fsx: JsonService) -> None:
    """Provide the resource types, on this service."""
    handlers = Handlers(fsx)
    ministack.register_type(
        _FILE_SYSTEM,
        create=handlers.create_file_system,
        update=handlers.update_file_system,
        delete=handlers.delete_file_system,
        replacing=replaces_file_system,
        tags=("Tags", "list"),
    )
    ministack.register_type(
        _ASSOCIATION,
        create=handlers.create_association,
        update=handlers.update_association,
        delete=handlers.delete_association,
        replacing=("BatchImportMetaDataOnCreate", "DataRepositoryPath", "FileSystemId", "FileSystemPath"),
        tags=("Tags", "list"),
    )


def replaces_file_system(old: Properties, new: Properties) -> bool:
    """Whether a change of properties makes another file system."""
    before, after = old.get("LustreConfiguration", {}), new.get("LustreConfiguration", {})
    return any(old.get(name) != new.get(name) for name in _REPLACING) or any(
        before.get(name) != after.get(name) for name in _REPLACING_LUSTRE
    )


class Handlers:
    """What CloudFormation does for each step of a resource."""

    def __init__(self, fsx: JsonService) -> None:
        self._fsx = fsx

    # File systems

    def create_file_system(self, logical_id: str, properties: Properties, stack: str) -> Made:
        """Create it, and wait until it is AVAILABLE."""
        made = self._call("CreateFileSystem", properties)["FileSystem"]
        self._settled(_FILE_SYSTEM, made["FileSystemId"], self._file_system, self.delete_file_system)
        return self._file_system_made(made["FileSystemId"])

    def update_file_system(self, file_system_id: str, old: Properties, new: Properties, stack: str) -> Made:
        """Update what changed, and wait until it is AVAILABLE with it."""
        changes: Properties = {
            name: new[name]
            for name in ("FileSystemTypeVersion", "NetworkType", "StorageCapacity", "StorageType")
            if name in new and new[name] != old.get(name)
        }
        before, after = old.get("LustreConfiguration", {}), new.get("LustreConfiguration", {})
        lustre = {name: value for name, value in after.items() if value != before.get(name)}
        if lustre:
            changes["LustreConfiguration"] = lustre
        if changes:
            self._call("UpdateFileSystem", {"FileSystemId": file_system_id, **changes})
            self._await(lambda: self._file_system(file_system_id)["Lifecycle"] != "UPDATING")
            self._check_update(self._file_system(file_system_id))
        self._retag(self._file_system(file_system_id)["ResourceARN"], old, new)
        return self._file_system_made(file_system_id)

    def delete_file_system(self, file_system_id: str, properties: Properties) -> None:
        """Delete it, and wait until it and its network interfaces are gone.

        The API refuses while a data repository task runs, and says to try again when the task has ended.
        That is done here. What the handler of AWS does then has not been published.
        https://docs.aws.amazon.com/fsx/latest/APIReference/API_DataRepositoryTask.html
        """
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._fsx.call("DeleteFileSystem", {"FileSystemId": file_system_id})
                break
            except ApiError as error:
                if error.code == "FileSystemNotFound":
                    return
                if not self._tasks_run(file_system_id) or time.monotonic() > deadline:
                    raise
            time.sleep(_POLL)
        self._await(lambda: self._gone(lambda: self._file_system(file_system_id)))

    def _file_system(self, file_system_id: str) -> dict[str, Any]:
        return self._fsx.call("DescribeFileSystems", {"FileSystemIds": [file_system_id]})["FileSystems"][0]

    def _file_system_made(self, file_system_id: str) -> Made:
        about = self._file_system(file_system_id)
        return file_system_id, {
            "Id": file_system_id,
            "DNSName": about["DNSName"],
            "LustreMountName": about["LustreConfiguration"]["MountName"],
            "ResourceARN": about["ResourceARN"],
        }

    def _check_update(self, about: dict[str, Any]) -> None:
        action = (about["AdministrativeActions"] or [{}])[0]
        if action.get("Status") == "FAILED":
            raise ApiError("GeneralServiceException", action["FailureDetails"]["Message"])

    def _tasks_run(self, file_system_id: str) -> bool:
        chosen = [
            {"Name": "file-system-id", "Values": [file_system_id]},
            {"Name": "task-lifecycle", "Values": ["PENDING", "EXECUTING"]},
        ]
        return bool(self._fsx.call("DescribeDataRepositoryTasks", {"Filters": chosen})["DataRepositoryTasks"])

    # Associations

    def create_association(self, logical_id: str, properties: Properties, stack: str) -> Made:
        """Create it, and wait until it is AVAILABLE; its import may still run then."""
        made = self._call("CreateDataRepositoryAssociation", properties)["Association"]
        self._settled(_ASSOCIATION, made["AssociationId"], self._association, self.delete_association)
        return self._association_made(made["AssociationId"])

    def update_association(self, association_id: str, old: Properties, new: Properties, stack: str) -> Made:
        """Update what changed, and wait until it is AVAILABLE with it."""
        changes = {
            name: new[name]
            for name in ("ImportedFileChunkSize", "S3")
            if name in new and new[name] != old.get(name)
        }
        if "S3" in old and "S3" not in new:
            changes["S3"] = {"AutoImportPolicy": {"Events": []}, "AutoExportPolicy": {"Events": []}}
        if changes:
            self._call("UpdateDataRepositoryAssociation", {"AssociationId": association_id, **changes})
            self._await(lambda: self._association(association_id)["Lifecycle"] != "UPDATING")
        self._retag(self._association(association_id)["ResourceARN"], old, new)
        return self._association_made(association_id)

    def delete_association(self, association_id: str, properties: Properties) -> None:
        """Delete it, and wait until it is gone; its files stay on the file system."""
        try:
            self._fsx.call("DeleteDataRepositoryAssociation", {"AssociationId": association_id})
        except ApiError as error:
            if error.code != "DataRepositoryAssociationNotFound":
                raise
            return
        self._await(lambda: self._gone(lambda: self._association(association_id)))

    def _association(self, association_id: str) -> dict[str, Any]:
        found = self._fsx.call("DescribeDataRepositoryAssociations", {"AssociationIds": [association_id]})
        return found["Associations"][0]

    def _association_made(self, association_id: str) -> Made:
        about = self._association(association_id)
        return association_id, {"AssociationId": association_id, "ResourceARN": about["ResourceARN"]}

    # Both

    def _call(self, operation: str, properties: Properties) -> dict[str, Any]:
        model = shapes.operation(self._fsx.name, operation).input_shape
        return self._fsx.call(operation, typed(model, properties))

    def _settled(
        self,
        kind: str,
        identifier: str,
        describe: Callable[[str], dict[str, Any]],
        delete: Callable[[str, Properties], None],
    ) -> None:
        """Wait for the end of a creation; what did not turn AVAILABLE is deleted, as a rollback would."""
        self._await(lambda: describe(identifier)["Lifecycle"] != "CREATING")
        about = describe(identifier)
        if about["Lifecycle"] == "AVAILABLE":
            return
        reason = (about.get("FailureDetails") or {}).get("Message", "")
        delete(identifier, {})
        raise ApiError(
            "NotStabilized",
            f"Resource of type '{kind}' with identifier '{identifier}' did not stabilize: "
            f"{about['Lifecycle']}. {reason}".rstrip(),
        )

    def _retag(self, resource_arn: str, old: Properties, new: Properties) -> None:
        before = {tag["Key"]: tag["Value"] for tag in old.get("Tags", [])}
        after = {tag["Key"]: tag["Value"] for tag in new.get("Tags", [])}
        removed = [key for key in before if key not in after]
        added = [{"Key": key, "Value": value} for key, value in after.items() if before.get(key) != value]
        if removed:
            self._fsx.call("UntagResource", {"ResourceARN": resource_arn, "TagKeys": removed})
        if added:
            self._fsx.call("TagResource", {"ResourceARN": resource_arn, "Tags": added})

    def _gone(self, describe: Callable[[], Any]) -> bool:
        try:
            describe()
        except ApiError as error:
            if error.code.endswith("NotFound"):
                return True
            raise
        return False

    def _await(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not done():
            if time.monotonic() > deadline:
                raise ApiError(
                    "NotStabilized", f"The resource did not settle within {_PATIENCE:.0f} seconds."
                )
            time.sleep(_POLL)


def typed(shape: Shape | None, value: Any) -> Any:
    """A template's value as the API wants it: CloudFormation hands numbers and booleans over as text too."""
    match shape:
        case StructureShape() if isinstance(value, dict):
            members: dict[str, Shape] = shape.members  # pyright: ignore[reportAssignmentType]
            return {name: typed(members.get(name), item) for name, item in value.items()}
        case ListShape() if isinstance(value, list):
            member: Shape = shape.member  # pyright: ignore[reportAssignmentType]
            return [typed(member, item) for item in value]
        case Shape() if isinstance(value, str) and shape.type_name in ("integer", "long"):
            return int(value) if value.lstrip("-").isdigit() else value
        case Shape() if isinstance(value, str) and shape.type_name == "boolean":
            return {"true": True, "false": False}.get(value.lower(), value)
        case _:
            return value

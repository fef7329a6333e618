import json
import time
from typing import Any

import pytest

from trainfeed.local.fsx.cloudformation import replaces_file_system

ENDED = ("COMPLETE", "FAILED")


class Stack:
    """A stack with a file system and its links, deployed again and again."""

    def __init__(self, lab: Any) -> None:
        self.lab = lab
        self.cloudformation = lab.aws.client("cloudformation")

    def template(self, lustre: dict[str, Any] | None = None, links: Any = None, **changes: Any) -> str:
        resources: dict[str, Any] = {
            "Fs": {
                "Type": "AWS::FSx::FileSystem",
                "Properties": {**self.lab.request(lustre), "StorageCapacity": "1200", **changes},
            }
        }
        before = None
        for name, properties in (links or {}).items():
            resources[name] = {
                "Type": "AWS::FSx::DataRepositoryAssociation",
                "Properties": {"FileSystemId": {"Ref": "Fs"}, **properties},
            }
            if before is not None:
                resources[name]["DependsOn"] = before
            before = name
        wanted = {"Id": {"Ref": "Fs"}}
        for attribute in ("DNSName", "LustreMountName", "ResourceARN"):
            wanted[attribute] = {"Fn::GetAtt": ["Fs", attribute]}
        for name in links or {}:
            wanted[name] = {"Ref": name}
            wanted[f"{name}Id"] = {"Fn::GetAtt": [name, "AssociationId"]}
            wanted[f"{name}Arn"] = {"Fn::GetAtt": [name, "ResourceARN"]}
        outputs = {name: {"Value": value} for name, value in wanted.items()}
        return json.dumps({"Resources": resources, "Outputs": outputs})

    def create(self, *arguments: Any, **named: Any) -> str:
        body = self.template(*arguments, **named)
        self.cloudformation.create_stack(StackName="store", TemplateBody=body)
        return self.ended()

    def update(self, *arguments: Any, **named: Any) -> str:
        body = self.template(*arguments, **named)
        self.cloudformation.update_stack(StackName="store", TemplateBody=body)
        return self.ended()

    def delete(self) -> None:
        self.cloudformation.delete_stack(StackName="store")
        self.lab.until(lambda: self.status() in (None, "DELETE_COMPLETE", "DELETE_FAILED"))
        assert self.status() in (None, "DELETE_COMPLETE"), self.reasons()

    def status(self) -> str | None:
        found = self.cloudformation.describe_stacks()["Stacks"]
        return next((each["StackStatus"] for each in found if each["StackName"] == "store"), None)

    def ended(self) -> str:
        time.sleep(0.02)
        self.lab.until(lambda: (self.status() or "").endswith(ENDED))
        return self.status() or ""

    def outputs(self) -> dict[str, str]:
        found = self.cloudformation.describe_stacks(StackName="store")["Stacks"][0]["Outputs"]
        return {each["OutputKey"]: each["OutputValue"] for each in found}

    def reasons(self) -> str:
        events = self.cloudformation.describe_stack_events(StackName="store")["StackEvents"]
        return "\n".join(each.get("ResourceStatusReason", "") for each in events)


@pytest.fixture
def stack(lab):
    return Stack(lab)


def file_systems(lab):
    return [each["FileSystemId"] for each in lab.fsx.describe_file_systems()["FileSystems"]]


DATA = {
    "FileSystemPath": "/data",
    "DataRepositoryPath": "s3://data/in",
    "BatchImportMetaDataOnCreate": "true",
}
OUT = {"FileSystemPath": "/out", "DataRepositoryPath": "s3://data/out"}


def test_a_stack_comes_and_goes(lab, stack):
    lab.put("in/a")
    tags = [{"Key": "owner", "Value": "me"}]
    assert stack.create(links={"Data": DATA, "Out": OUT}, Tags=tags) == "CREATE_COMPLETE"
    outputs = stack.outputs()
    about = lab.about(outputs["Id"])
    assert about["Lifecycle"] == "AVAILABLE"
    assert about["StorageCapacity"] == 1200
    assert {"Key": "owner", "Value": "me"} in about["Tags"]
    assert outputs["DNSName"] == about["DNSName"]
    assert outputs["LustreMountName"] == about["LustreConfiguration"]["MountName"]
    assert outputs["ResourceARN"] == about["ResourceARN"]
    for name in ("Data", "Out"):
        association = lab.association(outputs[name])
        assert association["Lifecycle"] == "AVAILABLE"
        assert outputs[f"{name}Id"] == association["AssociationId"]
        assert outputs[f"{name}Arn"] == association["ResourceARN"]
    assert lab.association(outputs["Data"])["BatchImportMetaDataOnCreate"] is True
    stack.delete()
    assert file_systems(lab) == []
    assert lab.ec2.describe_network_interfaces()["NetworkInterfaces"] == []


def test_a_link_is_made_before_its_import_has_ended(lab, stack):
    lab.put("in/a")
    lab.aws.durations.task_pending = 60
    assert stack.create(links={"Data": DATA}) == "CREATE_COMPLETE"
    (task,) = lab.tasks(stack.outputs()["Id"])
    assert task["Lifecycle"] == "PENDING"


def test_a_stack_is_deleted_while_an_import_runs(lab, stack):
    lab.put("in/a", "in/b")
    lab.aws.durations.task = 1.0
    assert stack.create(links={"Data": DATA}) == "CREATE_COMPLETE"
    file_system_id = stack.outputs()["Id"]
    lab.until(lambda: lab.tasks(file_system_id)[0]["Lifecycle"] == "EXECUTING")
    assert lab.refusal(lab.fsx.delete_file_system, FileSystemId=file_system_id)[0] == "BadRequest"
    stack.delete()
    assert file_systems(lab) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"StorageCapacity": "3600"}, "2400 or 4800"),
        ({"KmsKeyId": "alias/mine"}, "SCRATCH_2"),
        ({"SubnetIds": ["subnet-0123456789abcdef0"]}, "does not exist"),
    ],
)
def test_a_refused_file_system_rolls_the_stack_back(lab, stack, changes, says):
    assert stack.create(**changes) == "ROLLBACK_COMPLETE"
    assert says in stack.reasons()
    assert file_systems(lab) == []


@pytest.mark.parametrize("lifecycle", ["FAILED", "MISCONFIGURED"])
@pytest.mark.parametrize("kind", ["file-system", "association"])
def test_what_does_not_stabilise_is_rolled_back(lab, stack, kind, lifecycle):
    lab.aws.fsx.fail_next(kind, message="the reason", lifecycle=lifecycle)
    assert stack.create(links={"Data": DATA}) == "ROLLBACK_COMPLETE"
    assert "did not stabilize" in stack.reasons()
    assert "the reason" in stack.reasons()
    assert file_systems(lab) == []


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"StorageCapacity": "2400"}, lambda about: about["StorageCapacity"] == 2400),
        (
            {"lustre": {"DataCompressionType": "LZ4"}},
            lambda about: about["LustreConfiguration"]["DataCompressionType"] == "LZ4",
        ),
        (
            {"Tags": [{"Key": "owner", "Value": "you"}]},
            lambda about: {"Key": "owner", "Value": "you"} in about["Tags"],
        ),
    ],
)
def test_an_update_in_place(lab, stack, changes, shown):
    stack.create(Tags=[{"Key": "owner", "Value": "me"}])
    before = stack.outputs()
    assert stack.update(**{"Tags": [{"Key": "owner", "Value": "me"}], **changes}) == "UPDATE_COMPLETE"
    assert stack.outputs() == before
    assert shown(lab.about(before["Id"]))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"StorageCapacity": "3600"}, "2400 or 4800"),
        ({"StorageCapacity": "600"}, "never shrinks"),
        ({"lustre": {"EfaEnabled": True}}, "EfaEnabled"),
    ],
)
def test_a_refused_update_rolls_back(lab, stack, changes, says):
    stack.create()
    before = stack.outputs()
    assert stack.update(**changes) == "UPDATE_ROLLBACK_COMPLETE"
    assert says.lower() in stack.reasons().lower()
    assert stack.outputs() == before
    assert lab.about(before["Id"])["StorageCapacity"] == 1200


def test_an_update_that_fails_later_rolls_back(lab, stack):
    stack.create()
    lab.aws.fsx.fail_next("update", message="no capacity in the zone")
    assert stack.update(StorageCapacity="2400") == "UPDATE_ROLLBACK_COMPLETE"
    assert "no capacity in the zone" in stack.reasons()


P2 = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}


def test_another_deployment_type_is_another_file_system(lab, stack):
    stack.create(links={"Data": DATA})
    before = stack.outputs()
    assert stack.update(P2, links={"Data": DATA}) == "UPDATE_COMPLETE"
    after = stack.outputs()
    assert after["Id"] != before["Id"]
    assert after["Data"] != before["Data"]
    lab.until(lambda: file_systems(lab) == [after["Id"]])
    assert lab.association(after["Data"])["FileSystemId"] == after["Id"]


def test_a_replacement_that_is_refused_keeps_the_old_one(lab, stack):
    stack.create()
    before = stack.outputs()
    assert stack.update({**P2, "PerUnitStorageThroughput": 50}) == "UPDATE_ROLLBACK_COMPLETE"
    assert file_systems(lab) == [before["Id"]]


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({"S3": {"AutoImportPolicy": {"Events": ["NEW"]}}}, False),
        ({"ImportedFileChunkSize": "2048"}, False),
        ({"DataRepositoryPath": "s3://data/other"}, True),
        ({"FileSystemPath": "/other", "DataRepositoryPath": "s3://data/other"}, True),
    ],
)
def test_an_update_of_a_link(lab, stack, changes, replaced):
    stack.create(links={"Data": DATA})
    before = stack.outputs()["Data"]
    changed = {**DATA, **changes}
    status = stack.update(links={"Data": changed})
    if replaced and changed["FileSystemPath"] == DATA["FileSystemPath"]:
        # The new one is made before the old one is gone, and a folder has one link.
        assert status == "UPDATE_ROLLBACK_COMPLETE"
        assert "overlap" in stack.reasons()
        return
    assert status == "UPDATE_COMPLETE"
    assert (stack.outputs()["Data"] != before) is replaced
    about = lab.association(stack.outputs()["Data"])
    assert about["FileSystemPath"] == changed["FileSystemPath"]
    assert about["ImportedFileChunkSize"] == int(changed.get("ImportedFileChunkSize", 1024))
    assert about["S3"] == changed.get("S3", {})


def test_the_outside_world_may_delete_first(lab, stack):
    stack.create(links={"Data": DATA})
    file_system_id = stack.outputs()["Id"]
    lab.until(lambda: all(task["Lifecycle"] == "SUCCEEDED" for task in lab.tasks(file_system_id)))
    lab.fsx.delete_file_system(FileSystemId=file_system_id)
    lab.until(lambda: lab.gone(file_system_id))
    stack.delete()


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({"StorageCapacity": 2400}, False),
        ({"FileSystemTypeVersion": "2.12"}, False),
        ({"Tags": []}, False),
        ({"LustreConfiguration": {"DeploymentType": "SCRATCH_2", "DataCompressionType": "LZ4"}}, False),
        ({"LustreConfiguration": {"DeploymentType": "SCRATCH_1"}}, True),
        ({"LustreConfiguration": {"DeploymentType": "SCRATCH_2", "CopyTagsToBackups": True}}, True),
        ({"SubnetIds": ["subnet-2"]}, True),
        ({"SecurityGroupIds": ["sg-2"]}, True),
        ({"KmsKeyId": "alias/mine"}, True),
        ({"FileSystemType": "ONTAP"}, True),
    ],
)
def test_what_replaces_a_file_system(change, replaces):
    old = {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": 1200,
        "SubnetIds": ["subnet-1"],
        "SecurityGroupIds": ["sg-1"],
        "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
    }
    assert replaces_file_system(old, {**old, **change}) is replaces

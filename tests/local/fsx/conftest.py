"""A VPC, a bucket and short ways to make file systems, for the tests of FSx."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

PATIENCE = 20.0


class Lab:
    """A network in which a file system may live, and what the tests do again and again."""

    def __init__(self, aws: Any) -> None:
        self.aws = aws
        self.ec2, self.s3, self.fsx = (aws.client(name) for name in ("ec2", "s3", "fsx"))
        self.vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        self.subnet = self.subnet_in("us-east-1a", "10.0.0.0/24")
        self.group = self.open_group("file-system")
        self.s3.create_bucket(Bucket="data")

    def subnet_in(self, zone: str, cidr: str, vpc: str | None = None) -> str:
        made = self.ec2.create_subnet(VpcId=vpc or self.vpc, CidrBlock=cidr, AvailabilityZone=zone)
        return made["Subnet"]["SubnetId"]

    def empty_group(self, name: str, vpc: str | None = None) -> str:
        """A group that lets nothing in and everything out."""
        made = self.ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc or self.vpc)
        return made["GroupId"]

    def open_group(self, name: str, *ports: tuple[int, int]) -> str:
        """A group that lets itself in, on Lustre's ports unless others are given."""
        group = self.empty_group(name)
        self.let_in(group, group, *(ports or ((988, 988), (1018, 1023))))
        return group

    def let_in(self, group: str, peer: str, *ports: tuple[int, int]) -> None:
        self.ec2.authorize_security_group_ingress(
            GroupId=group,
            IpPermissions=[
                {
                    "IpProtocol": "tcp",
                    "FromPort": low,
                    "ToPort": high,
                    "UserIdGroupPairs": [{"GroupId": peer}],
                }
                for low, high in ports
            ],
        )

    def put(self, *keys: str, bucket: str = "data", **options: Any) -> None:
        """Objects whose bytes are their keys."""
        for key in keys:
            self.s3.put_object(Bucket=bucket, Key=key, Body=key.encode(), **options)

    def keys(self, prefix: str = "", bucket: str = "data") -> list[str]:
        listed = self.s3.list_objects_v2(Bucket=bucket, Prefix=prefix)
        return [each["Key"] for each in listed.get("Contents", [])]

    def request(self, lustre: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
        """A CreateFileSystem request that AWS accepts, with changes."""
        request = {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": 1200,
            "SubnetIds": [self.subnet],
            "SecurityGroupIds": [self.group],
            "FileSystemTypeVersion": "2.15",
            "LustreConfiguration": {"DeploymentType": "SCRATCH_2", **(lustre or {})},
            **changes,
        }
        return {name: value for name, value in request.items() if value is not None}

    def create(self, lustre: dict[str, Any] | None = None, **changes: Any) -> str:
        """Begin to make a file system; its id."""
        made = self.fsx.create_file_system(**self.request(lustre, **changes))
        return made["FileSystem"]["FileSystemId"]

    def file_system(self, lustre: dict[str, Any] | None = None, **changes: Any) -> str:
        """A file system that is AVAILABLE; its id."""
        file_system_id = self.create(lustre, **changes)
        self.until(lambda: self.about(file_system_id)["Lifecycle"] == "AVAILABLE")
        return file_system_id

    def about(self, file_system_id: str) -> dict[str, Any]:
        return self.fsx.describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"][0]

    def mount_name(self, file_system_id: str) -> str:
        return self.about(file_system_id)["LustreConfiguration"]["MountName"]

    def begin_link(self, file_system_id: str, path: str, uri: str, **options: Any) -> str:
        """Begin to make an association; its id."""
        made = self.fsx.create_data_repository_association(
            FileSystemId=file_system_id, FileSystemPath=path, DataRepositoryPath=uri, **options
        )
        return made["Association"]["AssociationId"]

    def link(
        self,
        file_system_id: str,
        path: str = "/data",
        uri: str = "s3://data",
        *,
        imports: bool = True,
        auto_import: tuple[str, ...] = (),
        auto_export: tuple[str, ...] = (),
    ) -> str:
        """An association that is AVAILABLE, and whose import has ended; its id."""
        s3 = {}
        if auto_import:
            s3["AutoImportPolicy"] = {"Events": list(auto_import)}
        if auto_export:
            s3["AutoExportPolicy"] = {"Events": list(auto_export)}
        association_id = self.begin_link(
            file_system_id, path, uri, BatchImportMetaDataOnCreate=imports, S3=s3
        )
        self.until(lambda: self.association(association_id)["Lifecycle"] == "AVAILABLE")
        self.until(lambda: all(task["Lifecycle"] not in RUNNING for task in self.tasks(file_system_id)))
        return association_id

    def association(self, association_id: str) -> dict[str, Any]:
        found = self.fsx.describe_data_repository_associations(AssociationIds=[association_id])
        return found["Associations"][0]

    def tasks(self, file_system_id: str) -> list[dict[str, Any]]:
        chosen = [{"Name": "file-system-id", "Values": [file_system_id]}]
        return self.fsx.describe_data_repository_tasks(Filters=chosen)["DataRepositoryTasks"]

    def begin_task(self, file_system_id: str, kind: str, **options: Any) -> str:
        made = self.fsx.create_data_repository_task(
            FileSystemId=file_system_id,
            Type=kind,
            Report=options.pop("Report", {"Enabled": False}),
            **options,
        )
        return made["DataRepositoryTask"]["TaskId"]

    def about_task(self, task_id: str) -> dict[str, Any]:
        return self.fsx.describe_data_repository_tasks(TaskIds=[task_id])["DataRepositoryTasks"][0]

    def task(self, file_system_id: str, kind: str, **options: Any) -> dict[str, Any]:
        """A task that has ended."""
        task_id = self.begin_task(file_system_id, kind, **options)
        self.until(lambda: self.about_task(task_id)["Lifecycle"] not in RUNNING)
        return self.about_task(task_id)

    def files(self, file_system_id: str) -> dict[str, str]:
        return {path: str(state) for path, state in self.aws.fsx.files(file_system_id).items()}

    def mount(self, file_system_id: str, **changes: Any) -> Any:
        place = {"subnet_id": self.subnet, "security_group_ids": [self.group], **changes}
        return self.aws.fsx.mount(file_system_id, **place)

    def until(self, true: Callable[[], bool]) -> None:
        """Wait for a state that must come; there is no test of how long it takes."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, "what the test waits for did not come"
            time.sleep(0.02)

    def gone(self, file_system_id: str) -> bool:
        try:
            self.about(file_system_id)
        except ClientError as error:
            return error.response["Error"]["Code"] == "FileSystemNotFound"
        return False

    def refusal(self, call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
        """The code and the message with which an API refuses."""
        with pytest.raises(ClientError) as caught:
            call(**parameters)
        error = caught.value.response["Error"]
        return error["Code"], error["Message"]


RUNNING = ("PENDING", "EXECUTING", "CANCELING")


@pytest.fixture
def lab(aws: Any) -> Lab:
    return Lab(aws)

"""A job in a VPC: its rights, its way to S3, the interfaces it holds, and the file systems it mounts."""

import os
from types import SimpleNamespace

import pytest

from trainfeed.local import ministack
from trainfeed.local.fsx import MountRefused
from trainfeed.local.sagemaker.failures import JobFailedError
from trainfeed.local.sagemaker.mounts import Mounts
from trainfeed.local.sagemaker.network import Network

NO_ROUTE = "Please ensure that the subnet's route table has a route to an S3 VPC endpoint or a NAT device"


def in_vpc(subnet, group):
    return {"Subnets": [subnet], "SecurityGroupIds": [group]}


def only_egress(desk, group, *rules):
    """Let a group send what is said and nothing else."""
    described = desk.ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]
    desk.ec2.revoke_security_group_egress(GroupId=group, IpPermissions=described["IpPermissionsEgress"])
    if rules:
        desk.ec2.authorize_security_group_egress(GroupId=group, IpPermissions=list(rules))


def tcp(low, high, cidr="0.0.0.0/0"):
    return {"IpProtocol": "tcp", "FromPort": low, "ToPort": high, "IpRanges": [{"CidrIp": cidr}]}


@pytest.mark.parametrize("phase", ["download", "upload"])
@pytest.mark.parametrize("endpoint", [True, False])
def test_a_job_needs_a_way_to_s3(desk, endpoint, phase):
    desk.put(**{"data/a": "x"})
    channels = [desk.s3_channel("train", "data/")] if phase == "download" else None
    job = desk.run(InputDataConfig=channels, VpcConfig=in_vpc(*desk.make_subnet(endpoint=endpoint)))
    if endpoint:
        assert job["TrainingJobStatus"] == "Completed"
    else:
        failed = {"download": "Data download failed", "upload": "Artifact upload failed"}[phase]
        assert job["FailureReason"].startswith(f"ClientError: {failed}:{NO_ROUTE}")


@pytest.mark.parametrize(
    ("rules", "open_"),
    [
        ([tcp(443, 443)], True),
        ([tcp(0, 65535)], True),
        ([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}], True),
        ([tcp(80, 80)], False),
        ([tcp(443, 443, "10.0.0.0/16")], False),
        ([], False),
    ],
)
def test_the_groups_let_https_out(desk, rules, open_):
    desk.put(**{"data/a": "x"})
    subnet, group = desk.make_subnet()
    only_egress(desk, group, *rules)
    job = desk.run(InputDataConfig=[desk.s3_channel("train", "data/")], VpcConfig=in_vpc(subnet, group))
    assert job["TrainingJobStatus"] == ("Completed" if open_ else "Failed")


def test_the_prefix_list_of_s3_is_a_way_out(desk):
    subnet, group = desk.make_subnet()
    only_egress(desk, group)
    rule = {**tcp(443, 443), "IpRanges": [], "PrefixListIds": [{"PrefixListId": "pl-63a5400a"}]}
    with ministack.scope("123456789012", "us-east-1"):
        found = ministack.security_group(group)
        assert found is not None
        found["IpPermissionsEgress"].append(rule)  # MiniStack's own call drops prefix lists
    assert desk.run(VpcConfig=in_vpc(subnet, group))["TrainingJobStatus"] == "Completed"


@pytest.mark.parametrize(("kind", "reached"), [("nat", True), ("igw", False)])
def test_a_nat_leads_to_s3_and_an_internet_gateway_does_not(desk, kind, reached):
    subnet, group = desk.make_subnet(endpoint=False)
    vpc = desk.ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    tables = desk.ec2.describe_route_tables(Filters=[{"Name": "association.subnet-id", "Values": [subnet]}])
    table = tables["RouteTables"][0]["RouteTableId"]
    if kind == "nat":
        address = desk.ec2.allocate_address(Domain="vpc")["AllocationId"]
        gateway = desk.ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]
        way = {"NatGatewayId": gateway["NatGatewayId"]}
    else:
        gateway = desk.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        desk.ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        way = {"GatewayId": gateway}
    desk.ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", **way)
    job = desk.run(VpcConfig=in_vpc(subnet, group))
    assert job["TrainingJobStatus"] == ("Completed" if reached else "Failed")


@pytest.mark.parametrize(
    "action",
    [
        "ec2:CreateNetworkInterface",
        "ec2:CreateNetworkInterfacePermission",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeVpcs",
        "ec2:DescribeDhcpOptions",
    ],
)
def test_the_role_may_attach_to_the_network(desk, action):
    role = desk.make_role(
        "other",
        [
            {"Effect": "Allow", "Action": "*", "Resource": "*"},
            {"Effect": "Deny", "Action": action, "Resource": "*"},
        ],
    )
    job = desk.run(RoleArn=role, VpcConfig=in_vpc(*desk.make_subnet()))
    assert job["FailureReason"].startswith("ClientError: Unable to create a network interface in your VPC.")
    assert action in job["FailureReason"]
    assert [each["Status"] for each in job["SecondaryStatusTransitions"]] == ["Starting", "Failed"]
    assert desk.run(TrainingJobName="no-vpc", RoleArn=role)["TrainingJobStatus"] == "Completed"


def test_a_running_job_holds_an_interface_in_its_subnet(desk):
    subnet, group = desk.make_subnet()

    def interfaces():
        found = desk.ec2.describe_network_interfaces()["NetworkInterfaces"]
        return [each["Status"] for each in found if each["SubnetId"] == subnet]

    desk.create("echo up; sleep 60", VpcConfig=in_vpc(subnet, group))
    desk.wait_for_line("up")
    assert interfaces() == ["in-use"]
    desk.sagemaker.stop_training_job(TrainingJobName="my-job")
    desk.wait()
    assert interfaces() == []


class Disk:
    """Stands for the local FSx where only the order of its calls is in question."""

    def __init__(self, folder, *, here):
        self.folder, self.here = folder, here
        self.open_now, self.wrote = 0, []

    def mount(self, file_system_id, *, subnet_id, security_group_ids):
        if subnet_id != self.here:
            raise MountRefused(f"ClientError: {file_system_id} is not in the zone of {subnet_id}.")
        self.open_now += 1
        return SimpleNamespace(check=self._check, open=self._show, close=self._close)

    def _check(self, directory_path):
        if directory_path != "/abcdefgh/data":
            raise MountRefused(f"ClientError: Incorrect mount path {directory_path}.")

    def _show(self, directory_path, *, read_only):
        self.wrote.append(read_only)
        return self.folder

    def _close(self):
        self.open_now -= 1


def source(access="ro", path="/abcdefgh/data"):
    return {"FileSystemId": "fs-0123456789abcdef0", "FileSystemAccessMode": access, "DirectoryPath": path}


def network(*subnets):
    return Network(vpc_id="vpc-1", subnet_ids=subnets, security_group_ids=("sg-1",))


def test_the_job_goes_to_the_subnet_that_can_mount(tmp_path):
    disk = Disk(tmp_path, here="subnet-2")
    mounts = Mounts(disk)
    assert mounts.open({"a": source(), "b": source("rw")}, network("subnet-1", "subnet-2")) == "subnet-2"
    assert disk.wrote == [], "nothing is read while it mounts"
    assert [(bind.channel, bind.read_only) for bind in mounts.read()] == [("a", True), ("b", False)]
    mounts.close()
    assert (disk.open_now, mounts.read()) == (0, [])


@pytest.mark.parametrize(
    ("sources", "subnet", "reason"),
    [
        ({"a": source()}, "subnet-1", "fs-0123456789abcdef0 is not in the zone of subnet-1"),
        ({"a": source(), "b": source(path="/data")}, "subnet-2", "Incorrect mount path /data"),
    ],
)
def test_a_refused_mount_fails_the_job_and_leaves_nothing_open(tmp_path, sources, subnet, reason):
    disk = Disk(tmp_path, here="subnet-2")
    with pytest.raises(JobFailedError, match=reason):
        Mounts(disk).open(sources, network(subnet))
    assert disk.open_now == 0


def test_without_file_systems_the_first_subnet_is_used():
    assert Mounts(Disk(None, here="")).open({}, network("subnet-1", "subnet-2")) == "subnet-1"


@pytest.fixture
def lustre(desk):
    """A file system that holds data/a of the bucket at /data, and what a channel of it looks like."""
    desk.put(**{"data/a": "from s3\n"})
    subnet, group = desk.make_subnet()
    for low, high in ((988, 988), (1018, 1023)):
        rule = {
            "IpProtocol": "tcp",
            "FromPort": low,
            "ToPort": high,
            "UserIdGroupPairs": [{"GroupId": group}],
        }
        desk.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    fsx = desk.aws.client("fsx")
    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=1200,
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]
    identity = made["FileSystemId"]

    def until_ready(describe, key):
        while describe()[key][0]["Lifecycle"] not in ("AVAILABLE", "SUCCEEDED"):
            pass

    until_ready(lambda: fsx.describe_file_systems(FileSystemIds=[identity]), "FileSystems")
    fsx.create_data_repository_association(
        FileSystemId=identity,
        FileSystemPath="/data",
        DataRepositoryPath="s3://my-bucket/data",
        BatchImportMetaDataOnCreate=True,
        S3={"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}},
    )
    until_ready(fsx.describe_data_repository_associations, "Associations")
    until_ready(fsx.describe_data_repository_tasks, "DataRepositoryTasks")

    def channel(path="/data", access="ro"):
        source = {
            "FileSystemId": identity,
            "FileSystemType": "FSxLustre",
            "FileSystemAccessMode": access,
            "DirectoryPath": f"/{made['LustreConfiguration']['MountName']}{path}",
        }
        return {"ChannelName": "train", "DataSource": {"FileSystemDataSource": source}}

    return SimpleNamespace(channel=channel, vpc=in_vpc(subnet, group), group=group)


def test_a_job_reads_a_file_system(desk, lustre):
    desk.put(**{"data/later": "not imported"})
    job = desk.run("cat /opt/ml/input/data/train/*", InputDataConfig=[lustre.channel()], VpcConfig=lustre.vpc)
    assert job["TrainingJobStatus"] == "Completed", job.get("FailureReason")
    assert desk.log() == ["from s3"]


def test_what_a_job_writes_to_a_file_system_is_exported(desk, lustre):
    job = desk.run(
        "echo new > /opt/ml/input/data/train/b",
        InputDataConfig=[lustre.channel(access="rw")],
        VpcConfig=lustre.vpc,
    )
    assert job["TrainingJobStatus"] == "Completed", job.get("FailureReason")
    assert desk.keys("data/") == ["a", "b"]


@pytest.mark.parametrize("path", ["/missing", "/../data", ""])
def test_a_path_that_is_not_on_the_file_system_fails_the_job(desk, lustre, path):
    channel = lustre.channel(path)
    if not path:
        channel["DataSource"]["FileSystemDataSource"]["DirectoryPath"] = "/fsx/data"
    job = desk.run(InputDataConfig=[channel], VpcConfig=lustre.vpc)
    assert job["TrainingJobStatus"] == "Failed"
    assert job["FailureReason"].startswith("ClientError: Unable to mount file system: fs-")


def test_closed_ports_fail_the_job(desk, lustre):
    rule = {
        "IpProtocol": "tcp",
        "FromPort": 1018,
        "ToPort": 1023,
        "UserIdGroupPairs": [{"GroupId": lustre.group}],
    }
    desk.ec2.revoke_security_group_ingress(GroupId=lustre.group, IpPermissions=[rule])
    job = desk.run(InputDataConfig=[lustre.channel()], VpcConfig=lustre.vpc)
    assert job["TrainingJobStatus"] == "Failed"
    assert "1018" in job["FailureReason"]


def test_a_subnet_of_another_zone_fails_the_job(desk, lustre):
    vpc = desk.ec2.describe_subnets(SubnetIds=lustre.vpc["Subnets"])["Subnets"][0]["VpcId"]
    other = desk.ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24", AvailabilityZone="us-east-1b")
    job = desk.run(
        InputDataConfig=[lustre.channel()],
        VpcConfig=in_vpc(other["Subnet"]["SubnetId"], lustre.group),
    )
    assert job["TrainingJobStatus"] == "Failed"
    assert "Availability Zone" in job["FailureReason"]


def test_nothing_of_a_file_system_is_removed_with_the_job(desk, lustre):
    for name in ("first", "second"):
        job = desk.run(
            "cat /opt/ml/input/data/train/a",
            TrainingJobName=name,
            InputDataConfig=[lustre.channel(access="rw")],
            VpcConfig=lustre.vpc,
        )
        assert job["TrainingJobStatus"] == "Completed"
        assert desk.log(name) == ["from s3"]
    assert os.listdir(desk.aws._state / "sagemaker/123456789012/us-east-1/second/algo-1") == ["output.log"]

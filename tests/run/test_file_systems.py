"""The file systems that bill."""

import time
from typing import Any

from trainfeed import names
from trainfeed.run import file_systems


def create(aws: Any, *, capacity: int, tags: dict[str, str]) -> str:
    ec2 = aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    answer = aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=capacity,
        SubnetIds=[subnet],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
        Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
    )
    return answer["FileSystem"]["FileSystemId"]


def test_ours_are_those_with_the_tag_the_oldest_first(aws: Any) -> None:
    first = create(aws, capacity=2400, tags={names.STACK_TAG: "FsxLustreStack", "team": "vision"})
    create(aws, capacity=1200, tags={"team": "vision"})
    time.sleep(0.01)
    second = create(aws, capacity=1200, tags={names.STACK_TAG: "OtherStack"})
    found = file_systems.ours(aws.client)
    assert [(one.id, one.kind, one.capacity_gib, one.owner) for one in found] == [
        (first, "SCRATCH_2", 2400, "FsxLustreStack"),
        (second, "SCRATCH_2", 1200, "OtherStack"),
    ]
    assert {one.state for one in found} <= {"CREATING", "AVAILABLE"}

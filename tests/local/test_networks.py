"""EC2, over its API and through CloudFormation."""

import contextlib
from typing import Any

import pytest
from botocore.exceptions import ClientError

from trainfeed.local import ministack


@contextlib.contextmanager
def refused(code: str, text: str = ".+"):
    with pytest.raises(ClientError, match=text) as refusal:
        yield
    assert refusal.value.response["Error"]["Code"] == code


@pytest.fixture
def ec2(aws: Any) -> Any:
    return aws.client("ec2")


@pytest.fixture
def vpc_id(ec2: Any) -> str:
    return ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]


@pytest.fixture
def subnet_id(ec2: Any, vpc_id: str) -> str:
    return ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]


@pytest.fixture
def group_id(ec2: Any, vpc_id: str) -> str:
    return ec2.create_security_group(GroupName="jobs", Description="jobs", VpcId=vpc_id)["GroupId"]


@pytest.fixture
def interface_id(subnet_id: str, group_id: str):
    with ministack.scope("123456789012", "us-east-1"):
        yield ministack.create_network_interface(subnet_id, [group_id], "FSx of fs-1")


SUBNETS = [
    ({"CidrBlock": "10.0.1.0/24"}, "us-east-1a", None),
    ({"CidrBlock": "10.0.1.0/24", "AvailabilityZoneId": "use1-az3"}, "us-east-1c", None),
    ({"CidrBlock": "10.0.1.0/24", "AvailabilityZone": "us-east-1b"}, "us-east-1b", None),
    ({"CidrBlock": "10.0.0.0/16"}, "us-east-1a", None),
    ({"CidrBlock": "10.0.0.0/28"}, "us-east-1a", None),
    (
        {"CidrBlock": "10.0.1.0/24", "AvailabilityZoneId": "use1-az9"},
        "InvalidParameterValue",
        "use1-az1, use1-az2",
    ),
    ({"CidrBlock": "10.0.1.0/24", "AvailabilityZoneId": "usw2-az1"}, "InvalidParameterValue", "usw2-az1"),
    ({"CidrBlock": "10.0.1.0/24", "AvailabilityZone": "us-west-2a"}, "InvalidParameterValue", "us-west-2a"),
    ({"CidrBlock": "10.0.1.0/29"}, "InvalidSubnet.Range", "10.0.1.0/29"),
    ({"CidrBlock": "10.1.0.0/24"}, "InvalidSubnet.Range", "10.1.0.0/24"),
    ({"CidrBlock": "10.0.0/24"}, "InvalidParameterValue", "not a valid CIDR"),
    ({"CidrBlock": "10.0.1.0/24", "VpcId": "vpc-0123456789abcdef0"}, "InvalidVpcID.NotFound", "vpc-0123"),
]


@pytest.mark.parametrize(("settings", "expected", "refusal"), SUBNETS)
def test_subnets_in_the_api(ec2, vpc_id, settings, expected, refusal):
    settings = {"VpcId": vpc_id, **settings}
    if refusal is None:
        assert ec2.create_subnet(**settings)["Subnet"]["AvailabilityZone"] == expected
    else:
        with refused(expected, refusal):
            ec2.create_subnet(**settings)


@pytest.mark.parametrize(("settings", "expected", "refusal"), SUBNETS)
def test_subnets_in_stacks(stack, vpc_id, settings, expected, refusal):
    subnet = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": vpc_id, **settings}}
    names = ("AvailabilityZone", "AvailabilityZoneId", "CidrBlock", "VpcId")
    stack.create(
        {"Subnet": subnet}, Outputs={name: {"Value": {"Fn::GetAtt": ["Subnet", name]}} for name in names}
    )
    if refusal is None:
        assert stack.outputs["AvailabilityZone"] == expected
        assert stack.outputs["AvailabilityZoneId"] == f"use1-az{'abc'.index(expected[-1]) + 1}"
        assert (stack.outputs["CidrBlock"], stack.outputs["VpcId"]) == (settings["CidrBlock"], vpc_id)
    else:
        assert stack.status == "ROLLBACK_COMPLETE"
        assert f"ErrorCode: {expected}" in stack.reasons()[0]
        assert refusal in stack.reasons()[0]


def test_two_subnets_of_one_range(ec2, vpc_id, subnet_id):
    with refused("InvalidSubnet.Conflict", "10.0.0.128/25"):
        ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.0.0.128/25")
    ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.0.1.0/25")
    other = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ec2.create_subnet(VpcId=other, CidrBlock="10.0.0.128/25")


def subnet(vpc_id: str, **settings: Any) -> dict[str, Any]:
    return {"Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": vpc_id, **settings}}}


def test_another_zone_is_another_subnet_which_needs_another_range(ec2, stack, vpc_id):
    stack.create(subnet(vpc_id, CidrBlock="10.0.0.0/24", AvailabilityZoneId="use1-az1"))
    first = stack.physical("Subnet")

    stack.update(subnet(vpc_id, CidrBlock="10.0.0.0/24", AvailabilityZoneId="use1-az2"))
    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert "conflicts with another subnet" in stack.reasons()[0]
    assert stack.physical("Subnet") == first

    stack.update(subnet(vpc_id, CidrBlock="10.0.1.0/24", AvailabilityZoneId="use1-az2"))
    assert stack.status == "UPDATE_COMPLETE"
    found = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc_id]}])["Subnets"]
    assert [each["SubnetId"] for each in found] == [stack.physical("Subnet")] != [first]


def test_nothing_goes_that_an_interface_is_in(ec2, vpc_id, subnet_id, group_id, interface_id):
    with refused("DependencyViolation", subnet_id):
        ec2.delete_subnet(SubnetId=subnet_id)
    with refused("DependencyViolation", group_id):
        ec2.delete_security_group(GroupId=group_id)
    with refused("DependencyViolation", vpc_id):
        ec2.delete_vpc(VpcId=vpc_id)
    with refused("InvalidParameterValue", "currently in use"):
        ec2.delete_network_interface(NetworkInterfaceId=interface_id)

    ministack.delete_network_interface(interface_id)
    ec2.delete_subnet(SubnetId=subnet_id)
    ec2.delete_security_group(GroupId=group_id)
    ec2.delete_vpc(VpcId=vpc_id)


def test_a_stack_that_an_interface_holds_is_deleted_once_it_is_gone(stack):
    network = {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"},
        },
        "Group": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "GroupDescription": "jobs"},
        },
    }
    stack.create(network)
    with ministack.scope("123456789012", "us-east-1"):
        interface = ministack.create_network_interface(
            stack.physical("Subnet"), [stack.physical("Group")], "FSx of fs-1"
        )
        stack.delete()
        assert stack.status == "DELETE_FAILED"
        assert all("DependencyViolation" in reason for reason in stack.reasons())
        assert len(stack.reasons()) == 3

        ministack.delete_network_interface(interface)
    assert stack.delete().status == "DELETE_COMPLETE"


def test_a_group_that_another_names_stays(ec2, vpc_id, group_id):
    other = ec2.create_security_group(GroupName="storage", Description="storage", VpcId=vpc_id)["GroupId"]
    rule = [
        {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "UserIdGroupPairs": [{"GroupId": group_id}]}
    ]
    ec2.authorize_security_group_ingress(GroupId=other, IpPermissions=rule)
    with refused("DependencyViolation", group_id):
        ec2.delete_security_group(GroupId=group_id)
    ec2.revoke_security_group_ingress(GroupId=other, IpPermissions=rule)
    ec2.delete_security_group(GroupId=group_id)


def test_a_vpc_with_an_endpoint_stays(ec2, vpc_id):
    endpoint = ec2.create_vpc_endpoint(VpcId=vpc_id, ServiceName="com.amazonaws.us-east-1.s3")["VpcEndpoint"]
    with refused("DependencyViolation", vpc_id):
        ec2.delete_vpc(VpcId=vpc_id)
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint["VpcEndpointId"]])
    ec2.delete_vpc(VpcId=vpc_id)


def filters(**values: str) -> list[dict[str, Any]]:
    return [{"Name": name.replace("_", "-"), "Values": [value]} for name, value in values.items()]


def test_interfaces_are_found_by_what_holds_them(ec2, vpc_id, subnet_id, group_id, interface_id):
    for asked, found in (
        (filters(subnet_id=subnet_id), 1),
        (filters(group_id=group_id, status="in-use"), 1),
        (filters(description="*fs-1"), 1),
        (filters(subnet_id="subnet-0"), 0),
        (filters(vpc_id=vpc_id, status="available"), 0),
    ):
        answer = ec2.describe_network_interfaces(Filters=asked)["NetworkInterfaces"]
        assert [each["NetworkInterfaceId"] for each in answer] == [interface_id] * found, asked
    with refused("InvalidNetworkInterfaceID.NotFound"):
        ec2.describe_network_interfaces(NetworkInterfaceIds=["eni-0123456789abcdef0"])
    with refused("InvalidParameterValue", "filter 'colour' is invalid"):
        ec2.describe_network_interfaces(Filters=filters(colour="red"))


def test_addresses_of_interfaces_are_free_ones_of_the_subnet(subnet_id):
    with ministack.scope("123456789012", "us-east-1"):
        made = [ministack.create_network_interface(subnet_id, [], "") for _ in range(3)]
        addresses = [ministack.store("network interfaces")[each]["PrivateIpAddress"] for each in made]
    assert addresses == ["10.0.0.4", "10.0.0.5", "10.0.0.6"]


def test_endpoints_are_filtered_and_show_their_policy(ec2, vpc_id):
    policy = '{"Statement": []}'
    made = ec2.create_vpc_endpoint(
        VpcId=vpc_id, ServiceName="com.amazonaws.us-east-1.s3", PolicyDocument=policy
    )["VpcEndpoint"]
    other = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    ec2.create_vpc_endpoint(VpcId=other, ServiceName="com.amazonaws.us-east-1.s3")
    (found,) = ec2.describe_vpc_endpoints(
        Filters=filters(vpc_id=vpc_id, service_name="com.amazonaws.us-east-1.s3")
    )["VpcEndpoints"]
    assert (found["VpcEndpointId"], found["PolicyDocument"]) == (made["VpcEndpointId"], policy)
    assert ec2.describe_vpc_endpoints(Filters=filters(vpc_id="vpc-0"))["VpcEndpoints"] == []
    (full,) = ec2.describe_vpc_endpoints(Filters=filters(vpc_id=other))["VpcEndpoints"]
    assert '"Action": "*"' in full["PolicyDocument"]
    with ministack.scope("123456789012", "us-east-1"):
        assert [each["VpcEndpointId"] for each in ministack.vpc_endpoints(vpc_id)] == [made["VpcEndpointId"]]


def test_subnets_and_groups_are_filtered(ec2, vpc_id, subnet_id, group_id):
    for zone_id, found in (("use1-az1", 1), ("use1-az2", 0)):
        asked = filters(vpc_id=vpc_id, availability_zone_id=zone_id)
        answer = ec2.describe_subnets(Filters=asked)["Subnets"]
        assert [each["SubnetId"] for each in answer] == [subnet_id] * found
    for wanted, found in ((group_id, 1), ("sg-0", 0)):
        answer = ec2.describe_security_groups(Filters=filters(group_id=wanted))["SecurityGroups"]
        assert [each["GroupId"] for each in answer] == [group_id] * found


def test_an_endpoint_of_a_stack_follows_its_template(ec2, stack, vpc_id):
    def endpoint(**settings: Any) -> dict[str, Any]:
        properties = {"VpcId": vpc_id, "ServiceName": "com.amazonaws.us-east-1.s3", **settings}
        return {"S3": {"Type": "AWS::EC2::VPCEndpoint", "Properties": properties}}

    stack.create(endpoint())
    first = stack.physical("S3")
    stack.update(endpoint(PolicyDocument={"Statement": []}))
    assert stack.physical("S3") == first
    (found,) = ec2.describe_vpc_endpoints(VpcEndpointIds=[first])["VpcEndpoints"]
    assert found["PolicyDocument"] == '{"Statement": []}'

    stack.update(endpoint(ServiceName="com.amazonaws.us-east-1.dynamodb"))
    assert stack.physical("S3") != first
    assert len(ec2.describe_vpc_endpoints(Filters=filters(vpc_id=vpc_id))["VpcEndpoints"]) == 1

    stack.update(endpoint(ServiceName="com.amazonaws.eu-west-1.s3"))
    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert "InvalidServiceName" in stack.reasons()[0]


def rule(group: Any, peer: Any, **settings: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {
            "GroupId": group,
            "IpProtocol": "tcp",
            "FromPort": 988,
            "ToPort": 988,
            "SourceSecurityGroupId": peer,
            **settings,
        },
    }


def test_rules_of_their_own_come_and_go(ec2, stack, vpc_id, group_id):
    storage = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"VpcId": vpc_id, "GroupDescription": "storage"},
    }
    low = rule({"Ref": "Storage"}, group_id)
    high = rule({"Ref": "Storage"}, group_id, FromPort=1018, ToPort=1023)
    out = {
        "Type": "AWS::EC2::SecurityGroupEgress",
        "Properties": {
            "GroupId": group_id,
            "IpProtocol": "-1",
            "DestinationSecurityGroupId": {"Ref": "Storage"},
        },
    }

    def ports() -> list[tuple[int, int]]:
        (group,) = ec2.describe_security_groups(GroupIds=[stack.physical("Storage")])["SecurityGroups"]
        return sorted((each["FromPort"], each["ToPort"]) for each in group["IpPermissions"])

    stack.create({"Storage": storage, "Low": low, "High": high, "Out": out})
    assert stack.status == "CREATE_COMPLETE", stack.reasons()
    assert ports() == [(988, 988), (1018, 1023)]
    first = stack.physical("Low")
    described = ec2.describe_security_group_rules(SecurityGroupRuleIds=[first])["SecurityGroupRules"]
    assert [each["ReferencedGroupInfo"]["GroupId"] for each in described] == [group_id]

    told = rule({"Ref": "Storage"}, group_id, Description="Lustre")
    stack.update({"Storage": storage, "Low": told, "High": high, "Out": out})
    assert stack.physical("Low") == first
    assert ports() == [(988, 988), (1018, 1023)]

    moved = rule({"Ref": "Storage"}, group_id, FromPort=989, ToPort=989)
    stack.update({"Storage": storage, "Low": moved, "High": high, "Out": out})
    assert stack.physical("Low") != first
    assert ports() == [(989, 989), (1018, 1023)]

    assert stack.delete().status == "DELETE_COMPLETE"
    (group,) = ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"]
    assert not any(each["UserIdGroupPairs"] for each in group["IpPermissionsEgress"])


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"GroupId": "sg-0123456789abcdef0"}, "InvalidGroup.NotFound"),
        ({"SourceSecurityGroupId": "sg-0123456789abcdef0"}, "InvalidGroup.NotFound"),
        ({"CidrIp": "10.0.0.0/16"}, "InvalidParameterCombination"),
        ({"FromPort": 1023, "ToPort": 988}, "InvalidParameterValue"),
    ],
)
def test_rules_that_ec2_refuses(stack, group_id, settings, code):
    stack.create({"Rule": rule(group_id, group_id, **settings)})
    assert stack.status == "ROLLBACK_COMPLETE"
    assert f"ErrorCode: {code}" in stack.reasons()[0]


def test_a_rule_is_there_once(stack, group_id):
    stack.create({"One": rule(group_id, group_id), "Two": rule(group_id, group_id, Description="again")})
    assert stack.status == "ROLLBACK_COMPLETE"
    assert "InvalidPermission.Duplicate" in stack.reasons()[0]
    assert "TCP, from port: 988, to port: 988" in stack.reasons()[0]

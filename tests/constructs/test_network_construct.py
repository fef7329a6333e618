import pytest
from aws_cdk import CfnParameter, aws_ec2

from trainfeed.rules.rule import RuleViolationError
from trainfeed_constructs import TrainingNetwork


def test_a_minimal_network_is_one_isolated_subnet_with_a_way_to_s3(stack, found, only):
    TrainingNetwork(stack, "Network")

    vpc, _ = only("AWS::EC2::VPC")
    subnet, subnet_body = only("AWS::EC2::Subnet")
    routes, _ = only("AWS::EC2::RouteTable")
    _, association = only("AWS::EC2::SubnetRouteTableAssociation")
    _, endpoint = only("AWS::EC2::VPCEndpoint")
    assert subnet_body["Properties"]["VpcId"] == {"Ref": vpc}
    assert association["Properties"] == {"SubnetId": {"Ref": subnet}, "RouteTableId": {"Ref": routes}}
    assert endpoint["Properties"]["RouteTableIds"] == [{"Ref": routes}]
    assert endpoint["Properties"]["VpcEndpointType"] == "Gateway"
    assert endpoint["Properties"]["VpcId"] == {"Ref": vpc}
    out = {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::Route"}
    assert not out & {body["Type"] for body in found().values()}
    assert subnet_body["Properties"]["MapPublicIpOnLaunch"] is False


def test_the_endpoint_lets_through_this_accounts_buckets_alone(stack, only):
    TrainingNetwork(stack, "Network")

    (statement,) = only("AWS::EC2::VPCEndpoint")[1]["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Effect"] == "Allow"
    assert statement["Condition"] == {"StringEquals": {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}}


def test_the_endpoint_lets_through_buckets_of_others_that_were_named(stack, only):
    TrainingNetwork(stack, "Network", other_buckets=["theirs"])

    _, theirs = only("AWS::EC2::VPCEndpoint")[1]["Properties"]["PolicyDocument"]["Statement"]
    arns = [arn["Fn::Join"][1] for arn in theirs["Resource"]]
    assert [parts[-1] for parts in arns] == [":s3:::theirs", ":s3:::theirs/*"]


def test_jobs_reach_s3_and_each_other_and_nothing_else(stack, only):
    TrainingNetwork(stack, "Network")

    group, body = only("AWS::EC2::SecurityGroup")
    (out,) = body["Properties"]["SecurityGroupEgress"]
    assert (out["IpProtocol"], out["FromPort"], out["ToPort"]) == ("tcp", 443, 443)
    assert "SecurityGroupIngress" not in body["Properties"]
    itself = {"Fn::GetAtt": [group, "GroupId"]}
    _, arriving = only("AWS::EC2::SecurityGroupIngress")
    _, leaving = only("AWS::EC2::SecurityGroupEgress")
    assert arriving["Properties"]["GroupId"] == arriving["Properties"]["SourceSecurityGroupId"] == itself
    assert leaving["Properties"]["GroupId"] == leaving["Properties"]["DestinationSecurityGroupId"] == itself
    assert arriving["Properties"]["IpProtocol"] == leaving["Properties"]["IpProtocol"] == "-1"


def test_the_zone_is_the_accounts_first_unless_named_by_id(make_stack, found):
    unnamed, named = make_stack(), make_stack()
    TrainingNetwork(unnamed, "Network")
    TrainingNetwork(named, "Network", zone_id="use1-az4")

    (first,) = found("AWS::EC2::Subnet", of=unnamed).values()
    (chosen,) = found("AWS::EC2::Subnet", of=named).values()
    assert first["Properties"]["AvailabilityZone"] == {"Fn::Select": [0, {"Fn::GetAZs": ""}]}
    assert "AvailabilityZoneId" not in first["Properties"]
    assert chosen["Properties"]["AvailabilityZoneId"] == "use1-az4"
    assert "AvailabilityZone" not in chosen["Properties"]


@pytest.mark.parametrize(
    ("region", "zone_id", "rule"),
    [
        ("us-east-1", "use1-az4", None),
        ("eu-west-1", "euw1-az1", None),
        (None, "use1-az4", None),  # the Region is only known at deployment
        ("us-east-1", "us-east-1a", "NETWORK-ZONE-ID"),
        ("us-east-1", "usw2-az1", "NETWORK-ZONE-REGION"),
    ],
)
def test_a_zone_is_named_by_an_id_of_the_region(make_stack, region, zone_id, rule):
    if rule is None:
        TrainingNetwork(make_stack(region), "Network", zone_id=zone_id)
    else:
        with pytest.raises(RuleViolationError, match=rule):
            TrainingNetwork(make_stack(region), "Network", zone_id=zone_id)


@pytest.mark.parametrize(
    ("cidr", "message"),
    [
        ("10.0.0.0/16", None),
        ("10.0.0.0/28", None),
        ("10.0.0.0/8", "a range of /8. Allowed: an IPv4 range of /16 to /28"),
        ("10.0.0.0/29", "a range of /29"),
        ("10.0.0.1/20", "has host bits set"),
        ("fd00::/56", "NETWORK-CIDR"),
        ("nonsense", "NETWORK-CIDR"),
    ],
)
def test_the_addresses_are_those_a_vpc_can_have(stack, only, cidr, message):
    if message is None:
        TrainingNetwork(stack, "Network", cidr=cidr)
        assert only("AWS::EC2::VPC")[1]["Properties"]["CidrBlock"] == cidr
        return
    with pytest.raises(RuleViolationError, match=message):
        TrainingNetwork(stack, "Network", cidr=cidr)


def test_addresses_only_known_at_deployment_are_never_judged(stack, only):
    TrainingNetwork(stack, "Network", cidr=CfnParameter(stack, "Cidr").value_as_string)

    assert only("AWS::EC2::Subnet")[1]["Properties"]["CidrBlock"] == {"Ref": "Cidr"}


def test_zone_and_addresses_are_told_at_once(stack):
    with pytest.raises(RuleViolationError, match=r"(?s)NETWORK-CIDR.*NETWORK-ZONE-ID"):
        TrainingNetwork(stack, "Network", cidr="nonsense", zone_id="us-east-1a")


def test_an_existing_network_is_left_as_it_is(stack, found):
    network = TrainingNetwork.from_network_attributes(
        stack, "Network", vpc_id="vpc-1", subnet_id="subnet-1", security_group_id="sg-1"
    )
    network.connections.allow_to(aws_ec2.Peer.ipv4("10.0.0.0/8"), aws_ec2.Port.tcp(443))

    assert (network.vpc_id, network.subnet_id, network.security_group_id) == ("vpc-1", "subnet-1", "sg-1")
    assert found() == {}


def test_others_connect_to_the_jobs_of_a_new_network(stack, found):
    network = TrainingNetwork(stack, "Network")
    network.connections.allow_from(aws_ec2.Peer.ipv4("10.0.0.0/8"), aws_ec2.Port.tcp(22))

    opened = [body["Properties"] for body in found("AWS::EC2::SecurityGroupIngress").values()]
    assert {"10.0.0.0/8"} == {rule["CidrIp"] for rule in opened if rule.get("FromPort") == 22}

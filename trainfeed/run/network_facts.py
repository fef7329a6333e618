"""What an existing network is like, asked of EC2."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from trainfeed.rules.network import JobSubnet, S3Route
from trainfeed.rules.rule import UNRESOLVED
from trainfeed.rules.security_groups import Permission, SecurityGroup
from trainfeed.run.aws import Client, code

_ROUTE_OUT = (
    "NatGatewayId",
    "TransitGatewayId",
    "NetworkInterfaceId",
    "InstanceId",
    "VpcPeeringConnectionId",
)


def zone_ids(client: Client) -> tuple[str, ...]:
    """The ids of the account's Availability Zones in this Region."""
    zones = client("ec2").describe_availability_zones()["AvailabilityZones"]
    return tuple(sorted(zone["ZoneId"] for zone in zones))


def vpc(client: Client, vpc_id: str) -> dict[str, Any] | None:
    """A VPC as EC2 describes it, None if there is none."""
    return _one(client("ec2").describe_vpcs, "Vpcs", VpcIds=[vpc_id])


def subnet(client: Client, subnet_id: str) -> dict[str, Any] | None:
    """A subnet as EC2 describes it, None if there is none."""
    return _one(client("ec2").describe_subnets, "Subnets", SubnetIds=[subnet_id])


def security_group(client: Client, group_id: str) -> dict[str, Any] | None:
    """A security group as EC2 describes it, None if there is none."""
    return _one(client("ec2").describe_security_groups, "SecurityGroups", GroupIds=[group_id])


def job_subnet(client: Client, described: dict[str, Any], *, instances: int) -> JobSubnet:
    """A described subnet as the rules look at it: its zone, its way to S3, its free addresses."""
    home = vpc(client, described["VpcId"]) or {}
    return JobSubnet(
        subnet_id=described["SubnetId"],
        zone_id=described["AvailabilityZoneId"],
        s3_route=_s3_route(client, described),
        free_addresses=described["AvailableIpAddressCount"],
        instances=instances,
        tenancy=home.get("InstanceTenancy", "default"),
    )


def group_rules(client: Client, described: dict[str, Any]) -> SecurityGroup:
    """A described security group as the rules look at it, its prefix lists written out."""
    return SecurityGroup(
        id=described["GroupId"],
        ingress=tuple(_permissions(client, described.get("IpPermissions", ()))),
        egress=tuple(_permissions(client, described.get("IpPermissionsEgress", ()))),
    )


def _permissions(client: Client, described: Any) -> Iterator[Permission]:
    for rule in described:
        peers = [pair["GroupId"] for pair in rule.get("UserIdGroupPairs", ()) if "GroupId" in pair]
        peers += [block["CidrIp"] for block in rule.get("IpRanges", ())]
        peers += [block["CidrIpv6"] for block in rule.get("Ipv6Ranges", ())]
        for listed in rule.get("PrefixListIds", ()):
            peers += _prefix_list(client, listed["PrefixListId"])
        for peer in peers:
            yield Permission(
                protocol=rule["IpProtocol"],
                peer=peer,
                from_port=rule.get("FromPort", 0),
                to_port=rule.get("ToPort", 65535),
            )


def _prefix_list(client: Client, list_id: str) -> list[Any]:
    """The address blocks of a prefix list; one that may not be read leaves its rule without judgement."""
    pages = client("ec2").get_paginator("get_managed_prefix_list_entries").paginate(PrefixListId=list_id)
    try:
        return [entry["Cidr"] for page in pages for entry in page["Entries"]]
    except ClientError:
        return [UNRESOLVED]


def _s3_route(client: Client, described: dict[str, Any]) -> S3Route:
    """The best way to S3: an endpoint before a NAT gateway before nothing."""
    ec2, vpc_id = client("ec2"), described["VpcId"]
    table = _route_table(ec2, described)
    endpoints = [
        endpoint
        for page in ec2.get_paginator("describe_vpc_endpoints").paginate()
        for endpoint in page["VpcEndpoints"]
        if endpoint["VpcId"] == vpc_id and endpoint["ServiceName"].endswith(".s3")
    ]
    if any(table.get("RouteTableId") in endpoint.get("RouteTableIds", ()) for endpoint in endpoints):
        return S3Route.GATEWAY_ENDPOINT
    if any(endpoint.get("VpcEndpointType") == "Interface" for endpoint in endpoints):
        return S3Route.INTERFACE_ENDPOINT
    default = [route for route in table.get("Routes", ()) if route.get("DestinationCidrBlock") == "0.0.0.0/0"]
    if any(route.get(target) for route in default for target in _ROUTE_OUT):
        return S3Route.NAT
    if any(route.get("GatewayId", "").startswith("igw-") for route in default):
        return S3Route.INTERNET_GATEWAY
    return S3Route.NONE


def _route_table(ec2: Any, described: dict[str, Any]) -> dict[str, Any]:
    """The subnet's own route table, or the main one of its VPC."""
    tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [described["VpcId"]]}])[
        "RouteTables"
    ]
    main: dict[str, Any] = {}
    for table in tables:
        for association in table.get("Associations", ()):
            if association.get("SubnetId") == described["SubnetId"]:
                return table
            if association.get("Main"):
                main = table
    return main


def _one(describe: Any, member: str, **ids: list[str]) -> dict[str, Any] | None:
    try:
        return next(iter(describe(**ids)[member]), None)
    except ClientError as error:
        if code(error).endswith((".NotFound", ".Malformed")):  # InvalidVpcID.NotFound, and so on
            return None
        raise

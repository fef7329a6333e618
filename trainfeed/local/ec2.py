"""Networks as EC2 keeps them: what depends on what, zones that exist, filters that filter."""

import json
from collections.abc import Callable
from ipaddress import IPv4Network, ip_network
from typing import Any
from xml.sax.saxutils import escape

from trainfeed.local import ec2_filters, ministack, security_group_rules
from trainfeed.local.service import ApiError

Properties = dict[str, Any]
Step = Callable[..., Any]

#: What EC2 gives an endpoint that names no policy.
_FULL_ACCESS = {
    "Version": "2008-10-17",
    "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}],
}


def install() -> None:
    """Correct MiniStack."""
    ec2_filters.install()
    security_group_rules.install()
    ministack.guard("ec2", "CreateSubnet", check_subnet)
    ministack.guard("ec2", "DeleteSubnet", lambda form: check_subnet_unused(form.get("SubnetId", "")))
    ministack.guard("ec2", "DeleteSecurityGroup", lambda form: check_group_unused(form.get("GroupId", "")))
    ministack.guard("ec2", "DeleteVpc", lambda form: check_vpc_unused(form.get("VpcId", "")))
    ministack.guard("ec2", "DeleteNetworkInterface", _check_interface_free)
    ministack.wrap_ec2_action("CreateVpc", _opening_default_group)
    ministack.wrap_ec2_action("CreateVpcEndpoint", _keeping_policy)
    ministack.wrap("endpoint as XML", _with_policy)
    ministack.wrap_type(
        "AWS::EC2::VPC",
        replacing=("CidrBlock",),
        create=lambda create: _describing_vpc(_opening_default_group(create)),
        update=_describing_vpc,
        delete=lambda delete: _before_delete(check_vpc_unused, delete),
    )
    ministack.wrap_type(
        "AWS::EC2::Subnet",
        # CloudFormation makes the new subnet while the old one is there, so the range has to change too.
        replacing=("AvailabilityZone", "AvailabilityZoneId", "CidrBlock", "VpcId"),
        create=lambda create: _describing_subnet(_before_create(check_subnet, create)),
        update=_describing_subnet,
        delete=lambda delete: _before_delete(check_subnet_unused, delete),
    )
    ministack.wrap_type(
        "AWS::EC2::SecurityGroup",
        replacing=("GroupDescription", "GroupName", "VpcId"),
        create=lambda create: _before_create(_check_group, create),
        delete=lambda delete: _before_delete(check_group_unused, delete),
    )
    ministack.wrap_type(
        "AWS::EC2::VPCEndpoint",
        replacing=("ServiceName", "VpcEndpointType", "VpcId"),
        create=lambda create: _before_create(_check_endpoint, create),
    )


def check_subnet(subnet: Properties) -> None:
    """Refuse a subnet that EC2 would.

    Raises:
        ApiError: no such VPC or zone, or an address range outside the VPC or in use.
    """
    vpc = ministack.store("vpcs").get(subnet.get("VpcId", ""))
    if vpc is None:
        raise ApiError("InvalidVpcID.NotFound", f"The vpc ID '{subnet.get('VpcId')}' does not exist")
    _check_zone(subnet)
    _check_range(subnet, vpc)


def _check_zone(subnet: Properties) -> None:
    zones = ministack.zones()
    zone, zone_id = subnet.get("AvailabilityZone"), subnet.get("AvailabilityZoneId")
    for parameter, value, known in (
        ("availabilityZone", zone, zones.keys()),
        ("availabilityZoneId", zone_id, zones.values()),
    ):
        if value and value not in known:
            raise ApiError(
                "InvalidParameterValue",
                f"Value ({value}) for parameter {parameter} is invalid. Subnets can currently only be "
                f"created in the following availability zones: {', '.join(known)}.",
            )
    if zone and zone_id:
        raise ApiError(
            "InvalidParameterCombination",
            "Only one of availabilityZone and availabilityZoneId may be given.",
        )


def _check_range(subnet: Properties, vpc: Properties) -> None:
    cidr = subnet.get("CidrBlock", "")
    try:
        wanted = ip_network(cidr, strict=False)
    except ValueError as error:
        raise ApiError(
            "InvalidParameterValue",
            f"Value ({cidr}) for parameter cidrBlock is invalid. This is not a valid CIDR block.",
        ) from error
    if not (
        isinstance(wanted, IPv4Network)
        and 16 <= wanted.prefixlen <= 28
        and wanted.subnet_of(IPv4Network(vpc["CidrBlock"], strict=False))
    ):
        raise ApiError("InvalidSubnet.Range", f"The CIDR '{cidr}' is invalid.")
    for other in ministack.store("subnets").values():
        if other["VpcId"] == vpc["VpcId"] and wanted.overlaps(IPv4Network(other["CidrBlock"], strict=False)):
            raise ApiError("InvalidSubnet.Conflict", f"The CIDR '{cidr}' conflicts with another subnet")


def check_subnet_unused(subnet_id: str) -> None:
    """Refuse to delete a subnet that a network interface is in.

    Raises:
        ApiError: DependencyViolation.
    """
    if any(each["SubnetId"] == subnet_id for each in ministack.store("network interfaces").values()):
        raise ApiError(
            "DependencyViolation", f"The subnet '{subnet_id}' has dependencies and cannot be deleted."
        )


def check_group_unused(group_id: str) -> None:
    """Refuse to delete a security group that an interface has, or another group's rule names.

    Raises:
        ApiError: DependencyViolation.
    """
    held = any(
        group["GroupId"] == group_id
        for interface in ministack.store("network interfaces").values()
        for group in interface["Groups"]
    )
    named = any(
        pair.get("GroupId") == group_id
        for group in ministack.store("security groups").values()
        if group["GroupId"] != group_id
        for permission in (*group["IpPermissions"], *group["IpPermissionsEgress"])
        for pair in permission["UserIdGroupPairs"]
    )
    if held or named:
        raise ApiError("DependencyViolation", f"resource {group_id} has a dependent object")


def check_vpc_unused(vpc_id: str) -> None:
    """Refuse to delete a VPC that an endpoint is in; MiniStack sees to subnets and security groups.

    Raises:
        ApiError: DependencyViolation.
    """
    if ministack.vpc_endpoints(vpc_id):
        raise ApiError("DependencyViolation", f"The vpc '{vpc_id}' has dependencies and cannot be deleted.")


def _check_interface_free(form: Properties) -> None:
    interface = ministack.store("network interfaces").get(form.get("NetworkInterfaceId", ""))
    if interface is not None and interface["Status"] == "in-use":
        raise ApiError(
            "InvalidParameterValue",
            f"Network interface '{interface['NetworkInterfaceId']}' is currently in use.",
        )


def _check_group(group: Properties) -> None:
    name, vpc_id = group.get("GroupName"), group.get("VpcId")
    if vpc_id is not None and vpc_id not in ministack.store("vpcs"):
        raise ApiError("InvalidVpcID.NotFound", f"The vpc ID '{vpc_id}' does not exist")
    for other in ministack.store("security groups").values():
        if name and (other["GroupName"], other["VpcId"]) == (name, vpc_id):
            raise ApiError(
                "InvalidGroup.Duplicate", f"The security group '{name}' already exists for VPC '{vpc_id}'"
            )


def _check_endpoint(endpoint: Properties) -> None:
    service, vpc_id = endpoint.get("ServiceName", ""), endpoint.get("VpcId", "")
    if vpc_id not in ministack.store("vpcs"):
        raise ApiError("InvalidVpcId.NotFound", f"The Vpc Id {vpc_id} does not exist")
    if not service.startswith(f"com.amazonaws.{ministack.region()}."):
        raise ApiError("InvalidServiceName", f"The Vpc Endpoint Service '{service}' does not exist")
    for table in endpoint.get("RouteTableIds", []):
        if table not in ministack.store("route tables"):
            raise ApiError("InvalidRouteTableId.NotFound", f"The routeTable ID '{table}' does not exist")
        for other in ministack.vpc_endpoints(vpc_id):
            if other["ServiceName"] == service and table in other["RouteTableIds"]:
                raise ApiError("RouteAlreadyExists", f"route table {table} already has a route to {service}")


def _before_create(check: Callable[[Properties], None], create: Step) -> Step:
    def run(logical_id: str, properties: Properties, stack: str) -> Any:
        check(properties)
        return create(logical_id, properties, stack)

    return run


def _before_delete(check: Callable[[str], None], delete: Step) -> Step:
    def run(physical_id: str, properties: Properties) -> None:
        check(physical_id)
        delete(physical_id, properties)

    return run


def _describing_subnet(step: Step) -> Step:
    def run(*args: Any) -> Any:
        subnet_id, attributes = step(*args)
        subnet = ministack.store("subnets")[subnet_id]
        names = ("AvailabilityZone", "AvailabilityZoneId", "CidrBlock", "VpcId")
        return subnet_id, {**attributes, **{name: subnet[name] for name in names}}

    return run


def _describing_vpc(step: Step) -> Step:
    def run(*args: Any) -> Any:
        vpc_id, attributes = step(*args)
        return vpc_id, {**attributes, "CidrBlock": ministack.store("vpcs")[vpc_id]["CidrBlock"]}

    return run


def _opening_default_group(create: Step) -> Step:
    """Let the default group of a new VPC in to itself.

    https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html
    """

    def run(*args: Any) -> Any:
        known = set(ministack.store("security groups").keys())
        answer = create(*args)
        for group_id, group in ministack.store("security groups").items():
            if group_id not in known and group["GroupName"] == "default":
                members = {"UserId": group["OwnerId"], "GroupId": group_id}
                group["IpPermissions"].append(
                    {
                        "IpProtocol": "-1",
                        "IpRanges": [],
                        "Ipv6Ranges": [],
                        "PrefixListIds": [],
                        "UserIdGroupPairs": [members],
                    }
                )
        return answer

    return run


def _keeping_policy(create: Step) -> Step:
    def run(form: dict[str, list[str]]) -> Any:
        known = set(ministack.store("endpoints").keys())
        answer = create(form)
        for endpoint_id, endpoint in ministack.store("endpoints").items():
            if endpoint_id not in known and form.get("PolicyDocument"):
                endpoint["PolicyDocument"] = json.loads(form["PolicyDocument"][0])
        return answer

    return run


def _with_policy(write: Step) -> Step:
    def run(ep: Properties, tag: str = "item") -> str:
        policy = json.dumps(ep.get("PolicyDocument") or _FULL_ACCESS)
        body = write(ep, tag).rstrip().removesuffix(f"</{tag}>")
        return f"{body}<policyDocument>{escape(policy)}</policyDocument></{tag}>"

    return run

"""The network of a job that runs in a VPC: what the call refuses, and what the job finds missing."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.service import ApiError

_HTTPS = 443

# What the execution role of a job in a VPC needs on its network interfaces, and what it needs to see.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createtrainingjob-perms
_ON_INTERFACES = (
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
)
_ON_ANYTHING = (
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeVpcs",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeSubnets",
    "ec2:DescribeSecurityGroups",
)


@dataclass(frozen=True, kw_only=True)
class Network:
    """The VpcConfig of a job."""

    vpc_id: str
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]

    @classmethod
    def of(cls, configuration: dict[str, Any]) -> "Network":
        """Read a VpcConfig.

        Raises:
            ApiError: a subnet or group does not exist, or they are not of one VPC.
        """
        subnet_ids, group_ids = configuration["Subnets"], configuration["SecurityGroupIds"]
        found = {
            **{name: ministack.subnet(name) for name in subnet_ids},
            **{name: ministack.security_group(name) for name in group_ids},
        }
        missing = [name for name, record in found.items() if record is None]
        if missing:
            raise ApiError(
                "ValidationException", f"VpcConfig names what does not exist here: {', '.join(missing)}."
            )
        homes = {name: record["VpcId"] for name, record in found.items() if record is not None}
        if len(set(homes.values())) > 1:
            listed = ", ".join(f"{name} of {home}" for name, home in homes.items())
            raise ApiError(
                "ValidationException", f"The subnets and groups of VpcConfig must be of one VPC: {listed}."
            )
        return cls(
            vpc_id=homes[subnet_ids[0]],
            subnet_ids=tuple(subnet_ids),
            security_group_ids=tuple(group_ids),
        )

    def missing_right(self, role_arn: str) -> str | None:
        """The denial of the first right that a role lacks to attach a job to this network, or None."""
        here = f"arn:aws:ec2:{ministack.region()}:{ministack.account_id()}"
        interface = f"{here}:network-interface/*"
        wanted = [(action, "*") for action in _ON_ANYTHING]
        wanted += [(action, interface) for action in _ON_INTERFACES]
        wanted += [("ec2:CreateNetworkInterface", f"{here}:subnet/{name}") for name in self.subnet_ids]
        wanted += [
            ("ec2:CreateNetworkInterface", f"{here}:security-group/{name}")
            for name in self.security_group_ids
        ]
        context = {"ec2:Vpc": f"{here}:vpc/{self.vpc_id}"}
        denials = (ministack.role_allows(role_arn, action, arn, context) for action, arn in wanted)
        return next((denial for denial in denials if denial is not None), None)

    def reaches_s3(self, subnet_id: str) -> bool:
        """Whether a job in one of the subnets gets to S3: by an endpoint or a NAT, and through its groups."""
        service = f"com.amazonaws.{ministack.region()}.s3"
        endpoints = [
            endpoint
            for endpoint in ministack.vpc_endpoints(self.vpc_id)
            if endpoint["ServiceName"] == service
        ]
        table = ministack.route_table(subnet_id) or {"RouteTableId": "", "Routes": []}
        if any(endpoint["VpcEndpointType"] == "Interface" for endpoint in endpoints):
            return self._lets_out(to_groups=True)
        routed = any(table["RouteTableId"] in endpoint.get("RouteTableIds", ()) for endpoint in endpoints)
        return (routed or any(map(_leads_out, table["Routes"]))) and self._lets_out(to_groups=False)

    def _lets_out(self, *, to_groups: bool) -> bool:
        return any(
            rule.get("PrefixListIds")
            or (to_groups and rule.get("UserIdGroupPairs"))
            or any(not ip_network(given["CidrIp"], strict=False).is_private for given in rule["IpRanges"])
            for rule in self._https_rules()
        )

    def _https_rules(self) -> Iterator[dict[str, Any]]:
        for group_id in self.security_group_ids:
            group = ministack.security_group(group_id)
            for rule in group["IpPermissionsEgress"] if group else ():
                protocol = str(rule["IpProtocol"])
                if protocol == "-1" or (
                    protocol in ("tcp", "6") and int(rule["FromPort"]) <= _HTTPS <= int(rule["ToPort"])
                ):
                    yield rule


def _leads_out(route: dict[str, Any]) -> bool:
    """Whether a route leads to the internet for a job: it has no public address, so a gateway does not."""
    return route.get("DestinationCidrBlock") == "0.0.0.0/0" and not str(
        route.get("GatewayId") or ""
    ).startswith("igw-")

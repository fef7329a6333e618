"""Whether Lustre's traffic can pass between security groups of the local AWS.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.service import ApiError
from trainfeed.rules.network import LustrePaths, closed_ports
from trainfeed.rules.security_groups import Permission, SecurityGroup


@dataclass(frozen=True, kw_only=True)
class Side:
    """One end of the traffic: its security groups, and the addresses of its subnet."""

    groups: tuple[SecurityGroup, ...]
    cidr: str


def side(subnet_id: str, group_ids: Iterable[str]) -> Side:
    """The side of something in a subnet with these groups.

    Raises:
        ApiError: the subnet or a group does not exist, or they are of different VPCs.
    """
    home = ministack.subnet(subnet_id)
    if home is None:
        raise ApiError("InvalidNetworkSettings", f"The subnet ID '{subnet_id}' does not exist.")
    return Side(groups=tuple(_group(each, home) for each in group_ids), cidr=home["CidrBlock"])


def default_group(vpc_id: str) -> list[str]:
    """The default security group of a VPC, used where a request names none."""
    groups = ministack.store("security groups").values()
    return [each["GroupId"] for each in groups if each["VpcId"] == vpc_id and each["GroupName"] == "default"]


def closed(file_system: Side, job: Side | None = None) -> str | None:
    """What keeps a file system's servers apart, and the job from them, in words; None where nothing does."""
    paths = LustrePaths(
        file_system=file_system.groups,
        cidr=file_system.cidr,
        clients=job.groups if job else (),
        clients_cidr=job.cidr if job else None,
    )
    return "; ".join(closed_ports(paths)) or None


def _group(group_id: str, home: dict[str, Any]) -> SecurityGroup:
    found = ministack.security_group(group_id)
    if found is None:
        raise ApiError("InvalidNetworkSettings", f"The security group ID '{group_id}' does not exist.")
    if found["VpcId"] != home["VpcId"]:
        raise ApiError(
            "InvalidNetworkSettings",
            f"The security group {group_id} is in {found['VpcId']}, and the subnet {home['SubnetId']} in "
            f"{home['VpcId']}. Both must be in the same VPC.",
        )
    return SecurityGroup(
        id=group_id,
        ingress=tuple(_permissions(found["IpPermissions"])),
        egress=tuple(_permissions(found["IpPermissionsEgress"])),
    )


def _permissions(rules: Iterable[dict[str, Any]]) -> Iterator[Permission]:
    for rule in rules:
        peers = [each["CidrIp"] for each in rule.get("IpRanges", [])]
        peers += [each["GroupId"] for each in rule.get("UserIdGroupPairs", [])]
        for peer in peers:
            yield Permission(
                protocol=str(rule["IpProtocol"]),
                peer=peer,
                from_port=int(rule.get("FromPort", 0)),
                to_port=int(rule.get("ToPort", 65535)),
            )

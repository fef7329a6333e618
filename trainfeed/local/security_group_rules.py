"""AWS::EC2::SecurityGroupIngress and AWS::EC2::SecurityGroupEgress, which MiniStack lacks."""

import secrets
from dataclasses import dataclass
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.service import ApiError

Permission = dict[str, Any]

_PEERS = {
    "IpRanges": "CidrIp",
    "Ipv6Ranges": "CidrIpv6",
    "PrefixListIds": "PrefixListId",
    "UserIdGroupPairs": "GroupId",
}
_WITH_PORTS = ("tcp", "udp", "6", "17")


def install() -> None:
    """Provide both types."""
    for direction, rules, peer in (
        ("Ingress", "IpPermissions", "Source"),
        ("Egress", "IpPermissionsEgress", "Destination"),
    ):
        kind = RuleType(rules=rules)
        ministack.register_type(
            f"AWS::EC2::SecurityGroup{direction}",
            create=kind.create,
            update=kind.update,
            delete=kind.delete,
            blocking=False,
            replacing=(
                "CidrIp",
                "CidrIpv6",
                "FromPort",
                "GroupId",
                "GroupName",
                "IpProtocol",
                "ToPort",
                f"{peer}PrefixListId",
                f"{peer}SecurityGroupId",
                f"{peer}SecurityGroupName",
                f"{peer}SecurityGroupOwnerId",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class RuleType:
    """One of the two types; `rules` is the group's list it keeps its rules in."""

    rules: str

    def create(self, _: str, properties: dict[str, Any], __: str) -> tuple[str, dict[str, Any]]:
        """Add the rule to its group.

        Raises:
            ApiError: no such group, a rule that names no peer or no ports, or one that is there already.
        """
        group = _group(properties.get("GroupId", ""))
        permission = _permission(properties)
        if any(_rules_of(permission) & _rules_of(there) for there in group[self.rules]):
            raise ApiError(
                "InvalidPermission.Duplicate", f"the specified rule {_said(permission)} already exists"
            )
        rule_id = f"sgr-{secrets.token_hex(9)[:17]}"
        group[self.rules].append({**permission, "SecurityGroupRuleId": rule_id})
        return rule_id, {"Id": rule_id}

    def update(
        self, rule_id: str, _: dict[str, Any], new: dict[str, Any], __: str
    ) -> tuple[str, dict[str, Any]]:
        """Change the description, the one property that does not replace the rule."""
        group = _group(new["GroupId"])
        group[self.rules][:] = [
            {**_permission(new), "SecurityGroupRuleId": rule_id}
            if there.get("SecurityGroupRuleId") == rule_id
            else there
            for there in group[self.rules]
        ]
        return rule_id, {"Id": rule_id}

    def delete(self, rule_id: str, properties: dict[str, Any]) -> None:
        """Take the rule from its group, if the group is still there."""
        group = ministack.security_group(properties.get("GroupId", ""))
        if group is not None:
            group[self.rules][:] = [
                there for there in group[self.rules] if there.get("SecurityGroupRuleId") != rule_id
            ]


def _group(group_id: str) -> dict[str, Any]:
    group = ministack.security_group(group_id)
    if group is None:
        raise ApiError("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")
    return group


def _permission(properties: dict[str, Any]) -> Permission:
    (permission,) = ministack.function("security group rules")([properties])
    if len(_rules_of(permission)) != 1:
        raise ApiError(
            "InvalidParameterCombination",
            "Exactly one of a CIDR range, a prefix list and a security group must be given.",
        )
    for pair in permission["UserIdGroupPairs"]:
        _group(pair.get("GroupId", ""))
    first, last = permission.get("FromPort"), permission.get("ToPort")
    if str(permission["IpProtocol"]).lower() in _WITH_PORTS:
        if first is None or last is None:
            raise ApiError(
                "InvalidParameterValue",
                "Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.",
            )
        if not 0 <= first <= last <= 65535:
            raise ApiError("InvalidParameterValue", f"Invalid TCP/UDP port range ({first}:{last})")
    return permission


def _rules_of(permission: Permission) -> set[tuple[Any, ...]]:
    """A permission as single rules: it may hold several peers."""
    protocol = str(permission["IpProtocol"]).lower()
    ports = () if protocol == "-1" else (permission.get("FromPort"), permission.get("ToPort"))
    return {
        (protocol, *ports, peer.get(name))
        for kind, name in _PEERS.items()
        for peer in permission.get(kind, [])
    }


def _said(permission: Permission) -> str:
    ((protocol, *ports, peer),) = _rules_of(permission)
    span = f", from port: {ports[0]}, to port: {ports[1]}" if ports else ""
    return f'"peer: {peer}, {"ALL" if protocol == "-1" else protocol.upper()}{span}, ALLOW"'

"""What a security group lets through, as plain values."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

#: Any protocol, as EC2 writes it.
ALL_PROTOCOLS = "-1"

_ALL_PORTS = frozenset(range(65536))


@dataclass(frozen=True, kw_only=True)
class Permission:
    """One rule of a security group.

    Attributes:
        protocol: `tcp`, `udp`, or ALL_PROTOCOLS, which has no ports.
        peer: the id of a security group, or a CIDR block.
    """

    protocol: str
    peer: str
    from_port: int = 0
    to_port: int = 65535

    @property
    def tcp_ports(self) -> frozenset[int]:
        """The TCP ports it opens."""
        if self.protocol == ALL_PROTOCOLS:
            return _ALL_PORTS
        if self.protocol not in ("tcp", "6"):
            return frozenset()
        return frozenset(range(max(self.from_port, 0), self.to_port + 1))


@dataclass(frozen=True, kw_only=True)
class SecurityGroup:
    """A security group with its rules."""

    id: str
    ingress: tuple[Permission, ...] = ()
    egress: tuple[Permission, ...] = ()


def open_ports(
    permissions: Iterable[Permission], peers: Iterable[SecurityGroup], cidr: str
) -> frozenset[int]:
    """The TCP ports that rules open towards machines in some groups and in a CIDR block.

    Args:
        permissions: the rules of one side, in one direction; those of all its groups add up.
        peers: the groups of the other side; a rule that names any of them opens to it.
        cidr: where the other side's addresses are.
    """
    ids = {group.id for group in peers}
    found: frozenset[int] = frozenset()
    for permission in permissions:
        if permission.peer in ids or _covers(permission.peer, cidr):
            found |= permission.tcp_ports
    return found


def in_words(ports: Iterable[int]) -> str:
    """Ports as a person writes them: `988, 1018-1023`."""
    ranges: list[tuple[int, int]] = []
    for port in sorted(ports):
        if ranges and port == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], port)
        else:
            ranges.append((port, port))
    return ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in ranges)


def _covers(peer: str, cidr: str) -> bool:
    try:
        outer, inner = ipaddress.ip_network(peer, strict=False), ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        # Another group, or a prefix list: not this subnet.
        return False
    return outer.version == inner.version and outer.supernet_of(inner)  # type: ignore[arg-type]

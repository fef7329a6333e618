"""What a security group lets through, as plain values."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from itertools import pairwise

#: Any protocol, as EC2 writes it.
ALL_PROTOCOLS = "-1"

_ALL_PORTS = range(65536)

_LOOPBACK = IPv4Network("127.0.0.0/8")
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))


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
    def tcp_ports(self) -> range:
        """The TCP ports it opens."""
        if self.protocol == ALL_PROTOCOLS:
            return _ALL_PORTS
        if self.protocol not in ("tcp", "6"):
            return range(0)
        return range(max(self.from_port, 0), self.to_port + 1)


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
    rules = [rule for rule in permissions if rule.tcp_ports]
    edges = sorted({edge for rule in rules for edge in (rule.tcp_ports.start, rule.tcp_ports.stop)})
    found: set[int] = set()
    for first, after in pairwise(edges):
        named = {rule.peer for rule in rules if first in rule.tcp_ports}
        if named & ids or _cover(named, cidr):
            found.update(range(first, after))
    return frozenset(found)


def in_words(ports: Iterable[int]) -> str:
    """Ports as a person writes them: `988, 1018-1023`."""
    ranges: list[tuple[int, int]] = []
    for port in sorted(ports):
        if ranges and port == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], port)
        else:
            ranges.append((port, port))
    return ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in ranges)


def reaches(permissions: Iterable[Permission], port: int, *, private: bool) -> bool:
    """Whether rules open a TCP port towards addresses beyond this machine.

    Args:
        permissions: outgoing rules.
        port: the port.
        private: whether private addresses and security groups count, or public addresses alone.
    """
    for rule in permissions:
        if port not in rule.tcp_ports:
            continue
        block = _network(rule.peer)
        if block is None or block.version == 6:
            if private:
                return True
        elif not any(block.subnet_of(part) for part in (_LOOPBACK, *(() if private else _PRIVATE))):
            return True
    return False


def _cover(peers: Iterable[str], cidr: str) -> bool:
    """Whether the address blocks among peers, taken together, hold all of a block."""
    inner = _network(cidr)
    blocks = [block for block in map(_network, peers) if isinstance(block, IPv4Network)]
    return isinstance(inner, IPv4Network) and any(
        inner.subnet_of(block) for block in ipaddress.collapse_addresses(blocks)
    )


def _network(peer: str) -> IPv4Network | IPv6Network | None:
    try:
        return ipaddress.ip_network(peer, strict=False)
    except ValueError:
        return None  # a security group, or a prefix list that was not looked into

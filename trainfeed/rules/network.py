"""What the network must be like for a job to reach its file system, and S3."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from trainfeed.rules.regions import zone_prefix
from trainfeed.rules.rule import Level, Refusal, Rule
from trainfeed.rules.security_groups import Permission, SecurityGroup, in_words, open_ports, reaches

_CHECKED = date(2026, 11, 20)
_GROUPS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"
_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"
_ZONES = "https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html"

#: The TCP ports of Lustre, between a file system and its clients and among its own servers.
LUSTRE_PORTS = frozenset({988, *range(1018, 1024)})

_HTTPS = 443

_ADDRESSES_PER_INSTANCE = {False: 2, True: 5}
_ZONE_ID = re.compile(r"[a-z]+[0-9]+-az[0-9]+")


@dataclass(frozen=True, kw_only=True)
class LustrePaths:
    """The security groups on both ends of a Lustre mount.

    Attributes:
        file_system: the groups of the file system.
        clients: the groups of the job's instances; empty where only the file system is in question.
        cidr: the addresses of the file system's subnet.
        clients_cidr: those of the job's subnet; None where that is the same.
    """

    file_system: tuple[SecurityGroup, ...]
    clients: tuple[SecurityGroup, ...] = ()
    cidr: str
    clients_cidr: str | None = None


class S3Route(StrEnum):
    """How a subnet reaches S3."""

    GATEWAY_ENDPOINT = "gateway endpoint"
    INTERFACE_ENDPOINT = "interface endpoint"
    NAT = "NAT gateway"
    INTERNET_GATEWAY = "internet gateway"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class JobSubnet:
    """The subnet a job is to run in, as it was found.

    Attributes:
        zone_id: its Availability Zone (`use1-az1`).
        file_system_zone_id: that of the file system, None for a job without one.
        s3_route: how it reaches S3.
        free_addresses: how many of its addresses are unused.
        instances: how many the job takes.
        efa: the instances use Elastic Fabric Adapters.
        tenancy: of the VPC: `default` or `dedicated`.
    """

    subnet_id: str
    zone_id: str
    file_system_zone_id: str | None = None
    s3_route: S3Route
    free_addresses: int
    instances: int = 1
    efa: bool = False
    tenancy: str = "default"


@dataclass(frozen=True, kw_only=True)
class JobGroups:
    """The security groups of a job's instances.

    Attributes:
        cidr: the addresses of the job's subnet.
        s3_route: how that subnet reaches S3.
    """

    groups: tuple[SecurityGroup, ...]
    instances: int
    cidr: str
    s3_route: S3Route = S3Route.GATEWAY_ENDPOINT


@dataclass(frozen=True, kw_only=True)
class JobsOfNewFileSystem:
    """The existing groups of jobs whose file system gets a group of its own, which lets them in and out.

    Attributes:
        cidr: the addresses of the subnet that both are in.
    """

    clients: tuple[SecurityGroup, ...]
    cidr: str


@dataclass(frozen=True, kw_only=True)
class ZoneChoice:
    """An Availability Zone asked for by its id, in a Region."""

    zone_id: str
    region: str


_Groups = tuple[SecurityGroup, ...]


def closed_ports(value: LustrePaths) -> tuple[str, ...]:
    """Each way that a Lustre port is shut, in words; empty where everything passes."""
    return (*_closed_inside(value), *_closed_outside(value))


def _closed_inside(value: LustrePaths) -> Iterator[str]:
    servers = _End("the file system", value.file_system, value.cidr)
    yield from _closed_way(servers, servers)


def _closed_outside(value: LustrePaths) -> Iterator[str]:
    if value.clients:
        servers = _End("the file system", value.file_system, value.cidr)
        clients = _End("the job", value.clients, value.clients_cidr or value.cidr)
        yield from _closed_way(clients, servers)
        yield from _closed_way(servers, clients)


class _End(NamedTuple):
    name: str
    groups: _Groups
    cidr: str

    def __str__(self) -> str:
        return f"{self.name} ({_ids(self.groups)})"


def _closed_way(source: _End, target: _End) -> Iterator[str]:
    leaving = [rule for group in source.groups for rule in group.egress]
    if shut := LUSTRE_PORTS - open_ports(leaving, target.groups, target.cidr):
        yield f"out of {source} to {target}: {in_words(shut)}"
    arriving = [rule for group in target.groups for rule in group.ingress]
    if shut := LUSTRE_PORTS - open_ports(arriving, source.groups, source.cidr):
        yield f"into {target} from {source}: {in_words(shut)}"


def _ids(groups: _Groups) -> str:
    return ", ".join(group.id for group in groups) or "no security group"


def _within_file_system(value: LustrePaths) -> str | None:
    return _shut(tuple(_closed_inside(value)))


def _between(value: LustrePaths) -> str | None:
    return _shut(tuple(_closed_outside(value)))


def _shut(ways: tuple[str, ...]) -> str | None:
    if not ways:
        return None
    return (
        f"Lustre traffic is shut {'; '.join(ways)}. Needed: TCP {in_words(LUSTRE_PORTS)}. Open these ports."
    )


def _wide(value: LustrePaths) -> str | None:
    opened = frozenset().union(*(rule.tcp_ports for group in value.file_system for rule in group.ingress))
    more = opened - LUSTRE_PORTS
    if not more:
        return None
    return (
        f"The file system's security groups ({_ids(value.file_system)}) let in TCP {in_words(more)} as well. "
        f"Lustre needs {in_words(LUSTRE_PORTS)} alone. Close the rest, unless something else is there."
    )


def _zone(value: JobSubnet) -> str | None:
    if value.file_system_zone_id in (None, value.zone_id):
        return None
    return (
        f"The subnet {value.subnet_id} is in the zone {value.zone_id}, the file system in "
        f"{value.file_system_zone_id}. Run the job in the file system's subnet."
    )


def _s3_route(value: JobSubnet) -> str | None:
    if value.s3_route not in (S3Route.NONE, S3Route.INTERNET_GATEWAY):
        return None
    why = (
        "has no route to S3"
        if value.s3_route is S3Route.NONE
        else "reaches S3 by an internet gateway only, and a job's instances have no public address"
    )
    return (
        f"The subnet {value.subnet_id} {why}; the job would fail when it loads or stores. "
        "Add an S3 gateway endpoint to the route table of the subnet; it is free."
    )


def _addresses(value: JobSubnet) -> str | None:
    each = _ADDRESSES_PER_INSTANCE[value.efa]
    if value.free_addresses >= each * value.instances:
        return None
    return (
        f"The subnet {value.subnet_id} has {value.free_addresses} free addresses, and {value.instances} "
        f"instances at {each} each need {each * value.instances}. Use fewer instances, or a larger subnet."
    )


def _tenancy(value: JobSubnet) -> str | None:
    if value.tenancy == "default":
        return None
    return (
        f"The VPC of the subnet {value.subnet_id} has {value.tenancy} tenancy. Allowed for training jobs: "
        "default. Choose another VPC."
    )


def _among_instances(value: JobGroups) -> str | None:
    if value.instances < 2:
        return None
    leaving = [rule for group in value.groups for rule in group.egress]
    arriving = [rule for group in value.groups for rule in group.ingress]
    if open_ports(leaving, value.groups, value.cidr) & open_ports(arriving, value.groups, value.cidr):
        return None
    return (
        f"The {value.instances} instances of the job cannot talk to each other by the security groups "
        f"{_ids(value.groups)}. Let the group in and out to itself, with all traffic."
    )


def _s3_port(value: JobGroups) -> str | None:
    # An interface endpoint has addresses of the VPC, S3 itself has public ones.
    inside = value.s3_route is S3Route.INTERFACE_ENDPOINT
    leaving = [rule for group in value.groups for rule in group.egress]
    if reaches(leaving, _HTTPS, private=inside):
        return None
    towards = "the S3 endpoint of the VPC" if inside else "S3 (its prefix list, or 0.0.0.0/0)"
    return (
        f"The security groups of the job ({_ids(value.groups)}) let no TCP {_HTTPS} out to S3; the job would "
        f"fail when it loads or stores. Let TCP {_HTTPS} out to {towards}."
    )


def _new_group(value: JobsOfNewFileSystem) -> str | None:
    rules = tuple(
        Permission(protocol="tcp", peer=group.id, from_port=port, to_port=port)
        for group in value.clients
        for port in LUSTRE_PORTS
    )
    new = (SecurityGroup(id="a new group", ingress=rules, egress=rules),)
    shut = tuple(_closed_outside(LustrePaths(file_system=new, clients=value.clients, cidr=value.cidr)))
    return (
        f"Lustre traffic is shut {'; '.join(shut)}. No rule is added to groups that were there before. Let "
        f"TCP {in_words(LUSTRE_PORTS)} in from and out to {value.cidr}, or to the new group once it is made."
        if shut
        else None
    )


def _zone_id(value: ZoneChoice) -> str | None:
    if _ZONE_ID.fullmatch(value.zone_id):
        return None
    return (
        f"{value.zone_id!r} is no id of an Availability Zone. Write an id such as "
        f"{zone_prefix(value.region) or 'use1'}-az1; letters as in us-east-1a differ from account to account."
    )


def _zone_region(value: ZoneChoice) -> str | None:
    prefix = zone_prefix(value.region)
    if prefix is None or not _ZONE_ID.fullmatch(value.zone_id) or value.zone_id.split("-")[0] == prefix:
        return None
    return (
        f"The zone {value.zone_id} is not in {value.region}, whose zones are {prefix}-az1 and so on. "
        "Correct the zone or the Region."
    )


_paths = partial(Rule[LustrePaths], level=Level.ERROR, source=_GROUPS, checked=_CHECKED)
_subnet = partial(Rule[JobSubnet], level=Level.ERROR, source=_TRAIN_VPC, checked=_CHECKED)
_choice = partial(Rule[ZoneChoice], level=Level.ERROR, source=_ZONES, checked=_CHECKED)

LUSTRE_PATH_RULES: tuple[Rule[LustrePaths], ...] = (
    _paths(
        id="NETWORK-LUSTRE-SERVERS",
        statement="A file system's servers reach each other on TCP 988 and 1018-1023.",
        reads=("file_system", "cidr"),
        violated=_within_file_system,
        refused_by=(Refusal(operation="fsx:CreateFileSystem", code="InvalidNetworkSettings"),),
    ),
    _paths(
        id="NETWORK-LUSTRE-CLIENTS",
        statement="Job and file system reach each other on TCP 988 and 1018-1023, both ways.",
        reads=("file_system", "clients", "cidr", "clients_cidr"),
        violated=_between,
    ),
    _paths(
        id="NETWORK-LUSTRE-WIDE",
        level=Level.WARNING,
        statement="A file system's security groups let in Lustre traffic and no more.",
        reads=("file_system",),
        violated=_wide,
    ),
)

JOB_SUBNET_RULES: tuple[Rule[JobSubnet], ...] = (
    _subnet(
        id="NETWORK-ZONE",
        statement="A job runs in the Availability Zone of its file system.",
        reads=("subnet_id", "zone_id", "file_system_zone_id"),
        violated=_zone,
    ),
    _subnet(
        id="NETWORK-S3-ROUTE",
        statement="The subnet of a job has a route to S3.",
        source=f"{_TRAIN_VPC}#train-vpc-s3",
        reads=("subnet_id", "s3_route"),
        violated=_s3_route,
    ),
    _subnet(
        id="NETWORK-ADDRESSES",
        statement="The subnet of a job has 2 free addresses for each instance, 5 with EFA.",
        source=f"{_TRAIN_VPC}#train-vpc-ip",
        reads=("subnet_id", "free_addresses", "instances", "efa"),
        violated=_addresses,
    ),
    _subnet(
        id="NETWORK-TENANCY",
        statement="The VPC of a job has default tenancy.",
        reads=("subnet_id", "tenancy"),
        violated=_tenancy,
        refused_by=(Refusal(operation="sagemaker:CreateTrainingJob", code="ValidationException"),),
    ),
)

JOB_GROUP_RULES: tuple[Rule[JobGroups], ...] = (
    Rule(
        id="NETWORK-INSTANCES",
        level=Level.ERROR,
        statement="The instances of a distributed job reach each other.",
        source=f"{_TRAIN_VPC}#train-vpc-groups",
        checked=_CHECKED,
        reads=("groups", "instances", "cidr"),
        violated=_among_instances,
    ),
    Rule(
        id="NETWORK-S3-PORT",
        level=Level.ERROR,
        statement="The security groups of a job let TCP 443 out to S3.",
        source=f"{_TRAIN_VPC}#train-vpc-groups",
        checked=_CHECKED,
        reads=("groups", "s3_route"),
        violated=_s3_port,
    ),
)

NEW_FILE_SYSTEM_RULES: tuple[Rule[JobsOfNewFileSystem], ...] = (
    Rule(
        id="NETWORK-NEW-GROUP",
        level=Level.WARNING,
        statement="An existing group of jobs lets Lustre traffic through to a file system yet to be made.",
        source=_GROUPS,
        checked=_CHECKED,
        reads=("clients", "cidr"),
        violated=_new_group,
    ),
)

ZONE_RULES: tuple[Rule[ZoneChoice], ...] = (
    _choice(
        id="NETWORK-ZONE-ID",
        statement="An Availability Zone is named by its id.",
        reads=("zone_id",),
        violated=_zone_id,
    ),
    _choice(
        id="NETWORK-ZONE-REGION",
        statement="A zone id belongs to the Region of the deployment.",
        reads=("zone_id", "region"),
        violated=_zone_region,
    ),
)

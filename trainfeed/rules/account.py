"""What an AWS account must have before anything can be deployed to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial

from trainfeed.rules.rule import Level, Rule

_CHECKED = date(2026, 12, 1)
_ZONES = "https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html"
_BOOTSTRAP = "https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping.html"
_SIMULATION = "https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html"
_NETWORK = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"
_BUCKETS = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html"
_LOGGING = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerLogs.html"

_KINDS = {"vpc": "VPC", "subnet": "subnet", "sg": "security group"}
#: The oldest bootstrap that the CDK of today deploys with.
OLDEST_BOOTSTRAP = 6


@dataclass(frozen=True, kw_only=True)
class ZoneInAccount:
    """A zone asked for, and the zones of the account in the Region."""

    zone_id: str
    region: str
    zones: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """How far the CDK was bootstrapped in an account and Region.

    Attributes:
        version: of the bootstrap stack, None where there is none.
    """

    account: str
    region: str
    version: int | None


@dataclass(frozen=True, kw_only=True)
class ExistingNetworkIds:
    """A network that is to be used as it is.

    Attributes:
        missing: those of its ids that do not exist in the account and Region.
        vpc_of: the VPC that subnet and security group are in, by their id.
    """

    vpc_id: str
    region: str
    missing: tuple[str, ...] = ()
    vpc_of: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ExistingBucket:
    """A bucket that is to be used as it is.

    Attributes:
        fault: why it cannot be used, None if it can.
        region: where it is.
        needed_region: where it has to be; None where it may be anywhere.
    """

    name: str
    fault: str | None = None
    region: str | None = None
    needed_region: str | None = None


@dataclass(frozen=True, kw_only=True)
class PrincipalRights:
    """What an identity may not do.

    Attributes:
        principal: its ARN.
        role: what it is needed for (`deploys the stacks`).
        missing: the IAM actions it needs and lacks.
        unknown: why it could not be asked; None if it could.
    """

    principal: str
    role: str
    missing: tuple[str, ...] = ()
    unknown: str | None = None


def _zone(value: ZoneInAccount) -> str | None:
    if value.zone_id in value.zones:
        return None
    return (
        f"This account has no zone {value.zone_id} in {value.region}. It has {', '.join(value.zones)}. "
        "Choose one of them for network.zone_id."
    )


def _bootstrap(value: Bootstrap) -> str | None:
    if value.version is not None and value.version >= OLDEST_BOOTSTRAP:
        return None
    state = "is not bootstrapped" if value.version is None else f"is bootstrapped at version {value.version}"
    return (
        f"The CDK {state} in {value.region} of account {value.account}. "
        f"Version {OLDEST_BOOTSTRAP} or later is needed: run `cdk bootstrap` once."
    )


def _network_exists(value: ExistingNetworkIds) -> str | None:
    if not value.missing:
        return None
    listed = ", ".join(f"{_KINDS[one.split('-')[0]]} {one}" for one in value.missing)
    return f"There is no {listed} in {value.region} of this account. Correct the settings, or the Region."


def _network_together(value: ExistingNetworkIds) -> str | None:
    elsewhere = {one: vpc for one, vpc in value.vpc_of.items() if vpc != value.vpc_id}
    if not elsewhere:
        return None
    listed = ", ".join(f"{one} is in {vpc}" for one, vpc in elsewhere.items())
    return f"network.existing names the VPC {value.vpc_id}, but {listed}. Name what belongs together."


def _bucket(value: ExistingBucket) -> str | None:
    return value.fault


def _bucket_region(value: ExistingBucket) -> str | None:
    if value.region is None or value.needed_region in (None, value.region):
        return None
    return (
        f"The bucket {value.name} is in {value.region}. Jobs leave their models, and buckets their access "
        f"logs, in a bucket of their own Region alone. Name one in {value.needed_region}, or deploy to "
        f"{value.region}."
    )


def _rights(value: PrincipalRights) -> str | None:
    if not value.missing:
        return None
    return (
        f"{value.principal}, which {value.role}, may not call {', '.join(value.missing)}. "
        "Have these actions added to its policies; docs/permissions.md has them with their resources."
    )


def _rights_unknown(value: PrincipalRights) -> str | None:
    if value.unknown is None:
        return None
    return (
        f"Whether {value.principal}, which {value.role}, has all rights is not known: {value.unknown} "
        "Compare its policies with docs/permissions.md."
    )


_network = partial(Rule[ExistingNetworkIds], level=Level.ERROR, source=_NETWORK, checked=_CHECKED)
_principal = partial(Rule[PrincipalRights], source=_SIMULATION, checked=_CHECKED)

ZONE_RULES: tuple[Rule[ZoneInAccount], ...] = (
    Rule(
        id="ACCOUNT-ZONE",
        level=Level.ERROR,
        statement="The zone exists for the account.",
        source=_ZONES,
        checked=_CHECKED,
        reads=("zone_id", "zones"),
        violated=_zone,
    ),
)
BOOTSTRAP_RULES: tuple[Rule[Bootstrap], ...] = (
    Rule(
        id="ACCOUNT-BOOTSTRAP",
        level=Level.ERROR,
        statement="The CDK is bootstrapped in the account and Region.",
        source=_BOOTSTRAP,
        checked=_CHECKED,
        reads=("version",),
        violated=_bootstrap,
    ),
)
NETWORK_RULES: tuple[Rule[ExistingNetworkIds], ...] = (
    _network(
        id="ACCOUNT-NETWORK",
        statement="An existing network exists.",
        reads=("missing",),
        violated=_network_exists,
    ),
    _network(
        id="ACCOUNT-ONE-VPC",
        statement="Subnet and security group belong to the VPC.",
        reads=("vpc_id", "vpc_of"),
        violated=_network_together,
    ),
)
BUCKET_RULES: tuple[Rule[ExistingBucket], ...] = (
    Rule(
        id="ACCOUNT-BUCKET",
        level=Level.ERROR,
        statement="An existing bucket exists and can be read.",
        source=_BUCKETS,
        checked=_CHECKED,
        reads=("fault",),
        violated=_bucket,
    ),
    Rule(
        id="ACCOUNT-BUCKET-REGION",
        level=Level.ERROR,
        statement="The buckets of models and of access logs are in the Region of the deployment.",
        source=_LOGGING,
        checked=_CHECKED,
        reads=("region", "needed_region"),
        violated=_bucket_region,
    ),
)
RIGHTS_RULES: tuple[Rule[PrincipalRights], ...] = (
    _principal(
        id="ACCOUNT-RIGHTS",
        level=Level.ERROR,
        statement="Who deploys and who runs jobs may do all that it takes.",
        reads=("missing",),
        violated=_rights,
    ),
    _principal(
        id="ACCOUNT-RIGHTS-UNKNOWN",
        level=Level.WARNING,
        statement="Rights can be asked for.",
        reads=("unknown",),
        violated=_rights_unknown,
    ),
)

"""What EC2 accepts as the addresses of a VPC and of a subnet that fills it."""

from dataclasses import dataclass
from datetime import date
from ipaddress import IPv4Network

from trainfeed.rules.rule import Level, Rule

_LARGEST, _SMALLEST = 16, 28


@dataclass(frozen=True, kw_only=True)
class CidrChoice:
    """The range of addresses asked for, as it is written."""

    cidr: str


def _range(value: CidrChoice) -> str | None:
    allowed = f"Allowed: an IPv4 range of /{_LARGEST} to /{_SMALLEST}, such as 10.42.0.0/20. Choose one."
    try:
        size = IPv4Network(value.cidr).prefixlen
    except ValueError as error:
        return f"A VPC cannot have the addresses {value.cidr!r} ({error}). {allowed}"
    if _LARGEST <= size <= _SMALLEST:
        return None
    return f"A VPC cannot have the addresses {value.cidr!r}, a range of /{size}. {allowed}"


RULES: tuple[Rule[CidrChoice], ...] = (
    Rule(
        id="NETWORK-CIDR",
        level=Level.ERROR,
        statement="A VPC has an IPv4 range of /16 to /28.",
        source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html",
        checked=date(2026, 12, 1),
        reads=("cidr",),
        violated=_range,
    ),
)

"""What EFA asks of the security groups of a file system and of its clients."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from trainfeed.rules.rule import Level, Refusal, Rule
from trainfeed.rules.security_groups import ALL_PROTOCOLS, Permission, SecurityGroup

_Groups = tuple[SecurityGroup, ...]


@dataclass(frozen=True, kw_only=True)
class EfaPaths:
    """The security groups on both ends of a file system with EFA.

    Attributes:
        file_system: the groups of the file system.
        clients: the groups of the job's instances; empty where only the file system is in question.
    """

    file_system: _Groups
    clients: _Groups = ()


def _all_traffic(value: EfaPaths) -> str | None:
    ways = [*_closed_way(value.file_system, value.file_system)]
    if value.clients:
        ways += _closed_way(value.clients, value.file_system)
        ways += _closed_way(value.file_system, value.clients)
    if not ways:
        return None
    return (
        "Insufficient security group permissions to create an EFA-enabled file system. Update security group "
        f"to allow all internal inbound and outbound traffic. Missing: {'; '.join(ways)}. Add rules for all "
        "traffic (protocol -1) that name the other group by its id, or turn EFA off."
    )


def _closed_way(source: _Groups, target: _Groups) -> Iterator[str]:
    if not _open(target, (rule for group in source for rule in group.egress)):
        yield f"out of {_ids(source)} to {_ids(target)}"
    if not _open(source, (rule for group in target for rule in group.ingress)):
        yield f"into {_ids(target)} from {_ids(source)}"


def _open(peers: _Groups, rules: Iterable[Permission]) -> bool:
    # EFA goes past IP, so that a rule with addresses lets none of it through.
    ids = {group.id for group in peers}
    return any(rule.protocol == ALL_PROTOCOLS and rule.peer in ids for rule in rules)


def _ids(groups: _Groups) -> str:
    return ", ".join(group.id for group in groups) or "no security group"


RULES: tuple[Rule[EfaPaths], ...] = (
    Rule(
        id="NETWORK-LUSTRE-EFA",
        level=Level.ERROR,
        statement="With EFA a file system's servers, and its clients, let each other's group through with "
        "all traffic.",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html#efa-security-groups",
        checked=date(2026, 12, 1),
        reads=("file_system", "clients"),
        violated=_all_traffic,
        refused_by=(Refusal(operation="fsx:CreateFileSystem", code="InvalidNetworkSettings"),),
    ),
)

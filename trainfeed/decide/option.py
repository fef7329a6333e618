"""A way to feed a workload: a source, how it is used, how long it takes and what it costs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from trainfeed.decide.stand_in import StandIn
from trainfeed.estimate import EPHEMERAL, Estimate, LustrePlan, estimate
from trainfeed.estimate.cost import Cost, cost
from trainfeed.prices import PriceBook
from trainfeed.sources import SourceKind
from trainfeed.workload import Workload

#: The ways to use a Lustre file system that are compared.
LUSTRE_PLANS = (EPHEMERAL, LustrePlan(preload=True), LustrePlan(kept=True))

#: What costs at most so much more than the cheapest may be chosen for being simpler: an estimate is not
#: more exact than that.
SIMPLER_AT = Decimal("1.1")
#: What is at most so much worse than the best is as good: of two as cheap the faster is taken, of two as
#: fast the cheaper.
AS_GOOD = 1.05

#: From what a job does by itself to what someone must make, fill and delete.
_SIMPLEST_FIRST = (
    SourceKind.S3_FILE,
    SourceKind.S3_FAST_FILE,
    SourceKind.EFS,
    SourceKind.S3_PIPE,
    SourceKind.LUSTRE,
)


class Prefer(StrEnum):
    """What a source is chosen by."""

    COST = "cost"
    TIME = "time"
    SIMPLICITY = "simplicity"


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One way.

    Attributes:
        source: where the job reads from.
        plan: how the file system is used, if it is Lustre.
        packed: the files are packed into containers first.
        estimate: its phases.
        cost: of one run.
        price: USD a run to compare by: the cost, with a stand-in where the instance's price is not known.
    """

    source: SourceKind
    plan: LustrePlan | None
    packed: bool
    estimate: Estimate
    cost: Cost
    price: Decimal

    @property
    def kept(self) -> bool:
        """Whether a file system stays all month."""
        return self.plan is not None and self.plan.kept

    @property
    def title(self) -> str:
        """`S3 File`; `FSx for Lustre, kept all month`; `S3 FastFile on packed files`."""
        kept = ""
        if self.plan is not None:
            kept = ", kept all month" if self.plan.kept else ", made for each run"
        return f"{self.source}{kept}{' on packed files' if self.packed else ''}"

    @property
    def way(self) -> tuple[SourceKind, bool, bool]:
        """What tells this way from another, whatever its figures."""
        return self.source, self.kept, self.packed


@dataclass(frozen=True, kw_only=True, slots=True)
class Market:
    """The prices that options are compared by.

    Attributes:
        book: all known prices.
        on: the day whose prices are taken.
        stand_in: for the instance, where its price is not known.
    """

    book: PriceBook
    on: date
    stand_in: StandIn | None


def options(
    workload: Workload, source: SourceKind, market: Market, *, packed: bool = False
) -> tuple[Option, ...]:
    """The ways to use a source: one, or for Lustre one a plan."""
    plans = LUSTRE_PLANS if source is SourceKind.LUSTRE else (None,)
    return tuple(_option(workload, source, plan, market, packed=packed) for plan in plans)


def rank(found: Iterable[Option], prefer: Prefer) -> tuple[Option, ...]:
    """Options, the best first."""
    given = tuple(found)
    if len(given) < 2:
        return given
    match prefer:
        case Prefer.COST:
            least = Decimal(AS_GOOD) * min(each.price for each in given)
            return tuple(sorted(given, key=lambda each: _by_cost(each, least)))
        case Prefer.TIME:
            soonest = AS_GOOD * min(each.estimate.total_seconds for each in given)
            return tuple(sorted(given, key=lambda each: _by_time(each, soonest)))
        case Prefer.SIMPLICITY:
            limit = SIMPLER_AT * min(each.price for each in given)
            return tuple(sorted(given, key=lambda each: _by_simplicity(each, limit)))


def close(best: Option, other: Option, prefer: Prefer) -> bool:
    """Whether an estimate cannot tell which of two is better."""
    if prefer is Prefer.TIME:
        return other.estimate.total_seconds <= float(SIMPLER_AT) * best.estimate.total_seconds
    return other.price <= SIMPLER_AT * best.price


def _option(
    workload: Workload, source: SourceKind, plan: LustrePlan | None, market: Market, *, packed: bool
) -> Option:
    found = estimate(workload, source, plan=plan or EPHEMERAL)
    paid = cost(found.usage, market.book, region=workload.region, on=market.on)
    price = paid.total
    if market.stand_in is not None:
        price += market.stand_in.per_second * Decimal(found.usage.instance_seconds)
    return Option(source=source, plan=plan, packed=packed, estimate=found, cost=paid, price=price)


def _by_cost(each: Option, least: Decimal) -> tuple[Decimal, float, Decimal]:
    return max(each.price, least), each.estimate.total_seconds, each.price


def _by_time(each: Option, soonest: float) -> tuple[float, Decimal]:
    return max(each.estimate.total_seconds, soonest), each.price


def _by_simplicity(each: Option, limit: Decimal) -> tuple[bool, bool, int, Decimal]:
    dear = each.price > limit
    return dear, each.packed, _SIMPLEST_FIRST.index(each.source), each.price

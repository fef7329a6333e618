"""A way to feed a workload: a source, how it is used, how long it takes and what it costs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, Self

from trainfeed.decide.elsewhere import Elsewhere
from trainfeed.estimate import (
    EPHEMERAL,
    Estimate,
    LustrePlan,
    PhaseName,
    estimate,
    lustre_capacity_gib,
    lustre_feeding_gib,
)
from trainfeed.estimate.cost import Cost, cost
from trainfeed.prices import PriceBook
from trainfeed.sources import SourceKind
from trainfeed.workload import Workload

#: The ways to use a Lustre file system that are compared.
LUSTRE_PLANS = (EPHEMERAL, LustrePlan(preload=True), LustrePlan(kept=True))

#: What costs at most so much more than the cheapest may be chosen for being simpler: an estimate is not
#: more exact than that.
SIMPLER_AT = 1.1
#: What is at most so much worse than the best is as good: of two as cheap the faster is taken, of two as
#: fast the cheaper, and of two as good in both the one whose cost times time is less.
AS_GOOD = 1.05
#: What differs by at most so much does not differ: of two alike in both the one that downloads less is taken.
EVEN = 1.005

#: Pipe mode is superseded by FastFile, whose estimate it is given for want of a measurement. It must be so
#: much better to be chosen.
_PIPE_HANDICAP = 1.1

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
        compared: the cost to compare by, with prices of elsewhere for those that are not known.
    """

    source: SourceKind
    plan: LustrePlan | None
    packed: bool
    estimate: Estimate
    cost: Cost
    compared: Cost

    @property
    def price(self) -> Decimal:
        """USD a run to compare by."""
        return self.compared.total

    @property
    def handicap(self) -> float:
        """By what its price and its time are multiplied in a ranking."""
        return _PIPE_HANDICAP if self.source is SourceKind.S3_PIPE else 1.0

    @property
    def kept(self) -> bool:
        """Whether a file system stays all month."""
        return self.plan is not None and self.plan.kept

    @property
    def title(self) -> str:
        """`S3 File`; `FSx for Lustre, kept all month`; `S3 FastFile on packed files`."""
        kept = ""
        if self.plan is not None:
            made = "preloaded" if self.plan.preload else "made"
            kept = ", kept all month" if self.plan.kept else f", {made} for each run"
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
        elsewhere: the same, with prices of elsewhere for those that a Region lacks.
    """

    book: PriceBook
    on: date
    elsewhere: PriceBook

    @classmethod
    def of(cls, book: PriceBook, *, on: date) -> Self:
        """The market of a day."""
        return cls(book=book, on=on, elsewhere=Elsewhere(book))


def options(
    workload: Workload, source: SourceKind, market: Market, *, packed: bool = False
) -> tuple[Option, ...]:
    """The ways to use a source: one, or for Lustre one a plan."""
    plans = _lustre_plans(workload) if source is SourceKind.LUSTRE else (None,)
    return tuple(_option(workload, source, plan, market, packed=packed) for plan in plans)


def _lustre_plans(workload: Workload) -> tuple[LustrePlan, ...]:
    """Each plan with the smallest file system, and with one as fast as the model if that is larger."""
    feeding = lustre_feeding_gib(workload)
    if feeding == lustre_capacity_gib(workload.size_bytes):
        return LUSTRE_PLANS
    return LUSTRE_PLANS + tuple(replace(plan, capacity_gib=feeding) for plan in LUSTRE_PLANS)


def rank(found: Iterable[Option], prefer: Prefer) -> tuple[Option, ...]:
    """Options, the best first."""
    given = tuple(found)
    if len(given) < 2:
        return given
    match prefer:
        case Prefer.COST:
            return _by(given, _price, _time)
        case Prefer.TIME:
            return _by(given, _time, _price)
        case Prefer.SIMPLICITY:
            limit = SIMPLER_AT * min(map(_price, given))
            return tuple(sorted(given, key=lambda each: _by_simplicity(each, limit)))


def close(best: Option, other: Option, prefer: Prefer) -> bool:
    """Whether an estimate cannot tell which of two is better."""
    weight = _time if prefer is Prefer.TIME else _price
    return weight(other) < SIMPLER_AT * weight(best)


def _option(
    workload: Workload, source: SourceKind, plan: LustrePlan | None, market: Market, *, packed: bool
) -> Option:
    found = estimate(workload, source, plan=plan or EPHEMERAL)
    paid = cost(found.usage, market.book, region=workload.region, on=market.on)
    compared = paid
    if paid.at_least:
        compared = cost(found.usage, market.elsewhere, region=workload.region, on=market.on)
    return Option(source=source, plan=plan, packed=packed, estimate=found, cost=paid, compared=compared)


def _price(each: Option) -> float:
    return float(each.price) * each.handicap


def _time(each: Option) -> float:
    return each.estimate.total_seconds * each.handicap


def download(each: Option) -> float:
    """Seconds the instance waits for files before the script starts, which grow with the data."""
    return each.handicap * sum(
        phase.seconds for phase in each.estimate.phases if phase.name is PhaseName.DOWNLOAD
    )


class _Weighed(NamedTuple):
    first: float
    second: float
    option: Option

    def alike(self, other: "_Weighed") -> bool:
        return _even(self.first, other.first) and _even(self.second, other.second)

    def beats(self, other: "_Weighed") -> bool:
        """Better in one figure by more than a trifle, and in the other no worse."""
        return (
            self.first <= other.first
            and self.second <= other.second
            and (EVEN * self.first < other.first or EVEN * self.second < other.second)
        )


def _even(one: float, other: float) -> bool:
    return one <= EVEN * other and other <= EVEN * one


def _by(
    given: tuple[Option, ...], first: Callable[[Option], float], second: Callable[[Option], float]
) -> tuple[Option, ...]:
    """Options by one figure, those as good in it by another, and those as good in both by the two together.

    None stands before one that beats it.
    """
    weighed = [_Weighed(first(each), second(each), each) for each in given]
    best = AS_GOOD * min(one for one, _, _ in weighed)
    best_of_these = AS_GOOD * min(other for one, other, _ in weighed if one <= best)
    weighed.sort(key=lambda each: (max(each[0], best), max(each[1], best_of_these), each[0] * each[1]))
    alike = [each for each in weighed if each.alike(weighed[0])]
    if len(alike) > 1:
        unbeaten = (each for each in alike if not any(other.beats(each) for other in weighed))
        least = min(unbeaten, key=lambda each: download(each.option))
        weighed.remove(least)
        weighed.insert(0, least)
    return tuple(option for _, _, option in weighed)


def _by_simplicity(each: Option, limit: float) -> tuple[bool, bool, int, float]:
    price = _price(each)
    return price > limit, each.packed, _SIMPLEST_FIRST.index(each.source), price

"""What an instance's hour is taken to cost where its price is not known, so that sources can be compared."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from trainfeed.decide.words import money
from trainfeed.prices import PriceBook
from trainfeed.prices.products import training
from trainfeed.workload import Workload

#: USD an hour, of the instances that many jobs run on (ml.g5.2xlarge costs 1.52).
_COMMON = Decimal("1.5")


@dataclass(frozen=True, kw_only=True, slots=True)
class StandIn:
    """A price taken instead of one that is not known: it weighs sources, and is part of no printed cost.

    Attributes:
        per_second: USD a second and instance.
        why: what it is, as a sentence.
    """

    per_second: Decimal
    why: str


def stand_in(workload: Workload, book: PriceBook, *, on: date) -> StandIn | None:
    """What to take for an instance's price, or None where it is known."""
    kind, region = workload.instance_type, workload.region
    key = training(kind)
    if book.price(key, region=region, on=on):
        return None
    for other in book.regions():
        if found := book.price(key, region=other, on=on):
            return _taken(found.amount, f"No price of {kind} in {region} is known; that of {other}")
    return _taken(_COMMON, f"No price of {kind} is known; that of a common instance")


def _taken(hourly: Decimal, said: str) -> StandIn:
    return StandIn(
        per_second=hourly / 3600,
        why=f"{said}, {money(hourly)} an hour, is taken to compare the sources, but left out of the costs.",
    )

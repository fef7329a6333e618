"""One price: an amount, its unit, and where and when it was seen."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

#: A price seen longer ago than this is doubted aloud.
STALE_AFTER = datetime.timedelta(days=180)


class Confidence(StrEnum):
    """How sure a price is.

    HIGH is the price list itself, or a text that quotes it; MEDIUM is derived, secondary or undated; LOW
    is contradicted elsewhere, or told without a list.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Unit(StrEnum):
    """What a price is asked for. A GB of AWS's bills is 2^30 bytes, a month 730 hours."""

    HOUR = "hour"
    GB = "GB"
    GB_MONTH = "GB-month"
    MIBPS_MONTH = "MiB/s-month"
    THOUSAND_REQUESTS = "1,000 requests"
    THOUSAND_OBJECT_MONTHS = "1,000 objects a month"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tier:
    """A part of a month's quantity that has one price.

    Attributes:
        amount: USD per unit.
        up_to: where in the month's quantity it ends; None: it does not.
    """

    amount: Decimal
    up_to: Decimal | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """What a quantity costs.

    Attributes:
        amount: USD for what has a known price.
        unknown: the part of the quantity beyond the last known tier.
    """

    amount: Decimal
    unknown: Decimal


@dataclass(frozen=True, kw_only=True, slots=True)
class PriceRecord:
    """A price as it was seen one day.

    Attributes:
        key: what is priced (`fsx.lustre.scratch-2`), as `trainfeed.prices.products` names it.
        region: where.
        tiers: the price, by the month's quantity; most have one tier.
        unit: what it is asked for.
        source: who says so.
        url: where it says so; empty where the source has no page of its own.
        date: the day it was seen. It holds from then until a newer record.
        confidence: how sure it is.
        note: what one should know of it.
    """

    key: str
    region: str
    tiers: tuple[Tier, ...]
    unit: Unit
    source: str
    date: datetime.date
    confidence: Confidence
    url: str = ""
    note: str = ""

    @property
    def amount(self) -> Decimal:
        """USD per unit, of the first tier."""
        return self.tiers[0].amount

    def charge(self, quantity: Decimal) -> Charge:
        """What a month's quantity, in the price's own unit, costs."""
        first = self.tiers[0]
        if first.up_to is None or quantity <= first.up_to:
            return Charge(amount=quantity * first.amount, unknown=Decimal(0))
        total, priced = Decimal(0), Decimal(0)
        for tier in self.tiers:
            end = quantity if tier.up_to is None else min(quantity, tier.up_to)
            total += (end - priced) * tier.amount
            priced = end
            if priced == quantity:
                break
        return Charge(amount=total, unknown=quantity - priced)

    def stale(self, on: datetime.date) -> bool:
        """Whether it was seen more than 180 days before a day."""
        return on - self.date > STALE_AFTER

"""What a run costs: its usage times dated prices, line by line.

A price that is not known leaves its line without an amount and makes the total an "at least". Amounts are
not rounded here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from trainfeed.estimate.result import EfsUse, LustreUse, Usage
from trainfeed.prices import products
from trainfeed.prices.book import PriceBook
from trainfeed.prices.record import PriceRecord, Unit
from trainfeed.workload import EfsThroughput

#: A month of AWS's bills is 730 hours: https://aws.amazon.com/fsx/lustre/pricing/.
MONTH_SECONDS = Decimal(730 * 3600)
#: A GB of AWS's bills is 2^30 bytes, of storage as of transfer: https://aws.amazon.com/s3/faqs/.
BILLED_GB = Decimal(2**30)
_MONTH = float(MONTH_SECONDS)
_HOUR = Decimal(3600)
_THOUSAND = Decimal(1000)
_BOTH_WAYS = 2
_ZERO = Decimal(0)

#: Storage includes 50 KiB/s of throughput for each GiB; Provisioned bills what is provisioned beyond it:
#: https://aws.amazon.com/efs/pricing/.
EFS_INCLUDED_MIBPS_PER_GIB = Decimal(50) / Decimal(1024)

NOT_INCLUDED = (
    "taxes, discounts, Savings Plans and free tiers",
    "output artifacts and checkpoints",
    "logs, images and metrics",
    "data that leaves the Region",
)
_NOT_INCLUDED_SPOT = (
    "the Spot discount: instances are priced on demand, as no price list holds Spot prices",
    *NOT_INCLUDED,
)


class S3Class(StrEnum):
    """The storage class of the dataset in S3."""

    STANDARD = "standard"
    INTELLIGENT_TIERING = "intelligent-tiering"


_S3_STORAGE = {
    S3Class.STANDARD: products.S3_STANDARD,
    S3Class.INTELLIGENT_TIERING: products.S3_INTELLIGENT_TIERING,
}


class LineItem(NamedTuple):
    """One line of a bill: a tuple, since a sweep over workloads makes them by the million.

    Attributes:
        name: what is paid for.
        quantity: how much of it, in the unit.
        unit: what the price is asked for.
        rate: USD per unit, the mean where a month's quantity has tiers; None: not known.
        amount: USD; None: not known. Of a quantity beyond the last known tier, only what is known.
        price: the record the rate comes from.
        monthly: it bills by the month, whatever runs; this is one run's share.
        complete: whether the whole quantity has a price.
    """

    name: str
    quantity: Decimal
    unit: Unit
    rate: Decimal | None
    amount: Decimal | None
    price: PriceRecord | None
    monthly: bool = False
    complete: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one run costs, in USD.

    Attributes:
        line_items: line by line.
        total: the sum of what is known.
        at_least: whether something in it has no known price, so that it costs more.
        not_included: what is on a bill too, and not here.
    """

    line_items: tuple[LineItem, ...]
    total: Decimal
    at_least: bool
    not_included: tuple[str, ...]

    @property
    def unknown(self) -> tuple[LineItem, ...]:
        """The lines that have no price, or not for all of their quantity."""
        return tuple(item for item in self.line_items if not item.complete)

    def stale(self, on: date) -> tuple[PriceRecord, ...]:
        """The prices in it that were seen more than 180 days before a day."""
        return tuple(item.price for item in self.line_items if item.price and item.price.stale(on))


def cost(
    usage: Usage,
    book: PriceBook,
    *,
    region: str,
    on: date,
    s3_class: S3Class = S3Class.STANDARD,
) -> Cost:
    """What a run costs.

    Args:
        usage: what it uses.
        book: the prices.
        region: where it runs.
        on: the day whose prices hold; a price first seen later is not known that day.
        s3_class: how the dataset is stored in S3.
    """
    runs = _decimal(_sharing(usage))
    items = tuple(
        _line(key, quantity, book.price(key, region=region, on=on), runs=runs if monthly else None)
        for key, quantity, monthly in _uses(usage, s3_class)
    )
    return Cost(
        line_items=items,
        total=sum((item.amount for item in items if item.amount is not None), _ZERO),
        at_least=not all(item.complete for item in items),
        not_included=_NOT_INCLUDED_SPOT if usage.spot else NOT_INCLUDED,
    )


def _sharing(usage: Usage) -> float:
    """How many runs share a month: as stated, but no more than there is time for, one after the other."""
    if usage.run_seconds * usage.runs_per_month <= _MONTH:
        return usage.runs_per_month
    return _MONTH / usage.run_seconds


def _line(key: str, quantity: Decimal, price: PriceRecord | None, *, runs: Decimal | None) -> LineItem:
    """A quantity as a line; a monthly one, of which a run bears its share, comes with the runs a month."""
    product = products.product(key)
    assert product is not None, key  # noqa: S101 - each use below names one
    monthly = runs is not None
    share = quantity / runs if runs else quantity
    if price is None:
        return LineItem(product.title, share, product.unit, None, None, None, monthly, complete=False)
    first = price.tiers[0]
    if first.up_to is None or quantity <= first.up_to:
        return LineItem(
            product.title, share, product.unit, first.amount, share * first.amount, price, monthly
        )
    charge = price.charge(quantity)
    return LineItem(
        product.title,
        share,
        product.unit,
        charge.amount / (quantity - charge.unknown),
        charge.amount / runs if runs else charge.amount,
        price,
        monthly,
        complete=charge.unknown == 0,
    )


def _uses(usage: Usage, s3_class: S3Class) -> Iterator[tuple[str, Decimal, bool]]:
    """What is used: the product's key, the quantity in its unit, and whether that is a month's."""
    if usage.instance_seconds:
        yield products.training(usage.instance_type), _decimal(usage.instance_seconds) / _HOUR, False
    if usage.volume_gib_seconds:
        yield products.VOLUME, _decimal(usage.volume_gib_seconds) / MONTH_SECONDS, False
    if usage.lustre:
        yield _lustre(usage.lustre)
    if usage.efs:
        yield from _efs(usage.efs)
    if usage.s3_tier1_requests:
        yield products.S3_TIER1, _decimal(usage.s3_tier1_requests) / _THOUSAND, False
    if usage.s3_tier2_requests:
        yield products.S3_TIER2, _decimal(usage.s3_tier2_requests) / _THOUSAND, False
    if usage.s3_stored_bytes:
        yield _S3_STORAGE[s3_class], _decimal(usage.s3_stored_bytes) / BILLED_GB, True
    if usage.interface_endpoint_seconds:
        yield products.ENDPOINT, _decimal(usage.interface_endpoint_seconds) / _HOUR, False
    if usage.cross_zone_bytes:
        # Billed where it leaves a zone, and again where it enters one.
        yield products.CROSS_ZONE, _decimal(usage.cross_zone_bytes) / BILLED_GB * _BOTH_WAYS, False


def _decimal(quantity: float) -> Decimal:
    """A quantity to its millionth part: by way of a whole number, which takes a fifth of the time."""
    return Decimal(round(quantity * 1_000_000)).scaleb(-6)


def _lustre(use: LustreUse) -> tuple[str, Decimal, bool]:
    # Once, however many instances mount it; by its provisioned GiB, however full it is.
    key, capacity = products.lustre(use.deployment_type), _decimal(use.capacity_gib)
    if use.seconds is None:
        return key, capacity, True
    return key, capacity * _decimal(use.seconds) / MONTH_SECONDS, False


def _efs(use: EfsUse) -> Iterator[tuple[str, Decimal, bool]]:
    stored = _decimal(use.stored_bytes) / BILLED_GB
    yield products.EFS_STANDARD, stored, True
    match use.throughput:
        case EfsThroughput.ELASTIC:
            # Bills what is read whole: the third at which reads count is the throughput meter's alone,
            # https://docs.aws.amazon.com/efs/latest/ug/metered-sizes.html.
            if use.read_bytes:
                yield products.EFS_READ, _decimal(use.read_bytes) / BILLED_GB, False
            if use.written_bytes:
                yield products.EFS_WRITE, _decimal(use.written_bytes) / BILLED_GB, False
        case EfsThroughput.PROVISIONED:
            provisioned = _decimal(use.provisioned_mib_per_second or 0)
            beyond = provisioned - stored * EFS_INCLUDED_MIBPS_PER_GIB
            if beyond > 0:
                yield products.EFS_PROVISIONED, beyond, True
        case EfsThroughput.BURSTING:
            pass

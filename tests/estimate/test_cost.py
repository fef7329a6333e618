"""What usage costs: each kind of line, the post's own figures, and what is not known."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from trainfeed.estimate import EfsUse, LustreUse, Usage
from trainfeed.estimate.cost import Cost, S3Class, cost
from trainfeed.prices import Confidence, PriceBook, PriceRecord, Tier, products
from trainfeed.workload import EfsThroughput

HOUR = 3600.0
MONTH = 730 * HOUR
GIB = 2.0**30
TODAY = date(2026, 12, 1)
POST = date(2022, 2, 23)
NOTHING = Usage(instance_type="ml.p3.2xlarge", spot=False, instance_seconds=0)


def price(key: str, *tiers: tuple[str, int | None], seen: date = TODAY) -> PriceRecord:
    product = products.product(key)
    assert product is not None
    return PriceRecord(
        key=key,
        region="x-1",
        tiers=tuple(
            Tier(amount=Decimal(amount), up_to=None if up_to is None else Decimal(up_to))
            for amount, up_to in tiers
        ),
        unit=product.unit,
        source="a test",
        date=seen,
        confidence=Confidence.HIGH,
    )


#: Every price is a different prime, so that no line can pass for another.
BOOK = PriceBook(
    price(key, (amount, None))
    for key, amount in {
        products.training("ml.p3.2xlarge"): "2",
        products.VOLUME: "3",
        products.SCRATCH_2: "5",
        products.S3_STANDARD: "7",
        products.S3_INTELLIGENT_TIERING: "11",
        products.S3_TIER1: "13",
        products.S3_TIER2: "17",
        products.EFS_STANDARD: "19",
        products.EFS_READ: "23",
        products.EFS_WRITE: "29",
        products.EFS_PROVISIONED: "31",
        products.ENDPOINT: "37",
        products.CROSS_ZONE: "41",
    }.items()
)


def of(**usage: object) -> Cost:
    return cost(replace(NOTHING, **usage), BOOK, region="x-1", on=TODAY)


def lustre(*, seconds: float | None, capacity_gib: int = 1200) -> LustreUse:
    return LustreUse(deployment_type="SCRATCH_2", capacity_gib=capacity_gib, seconds=seconds)


def efs(
    throughput: EfsThroughput, *, provisioned: float | None = None, read: float = 0, stored: float = GIB
) -> EfsUse:
    return EfsUse(
        stored_bytes=int(stored),
        throughput=throughput,
        provisioned_mib_per_second=provisioned,
        read_bytes=read,
        written_bytes=2 * GIB,
    )


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        ({}, "0"),
        # Instances: seconds over all of them, to the second.
        ({"instance_seconds": HOUR}, "2"),
        ({"instance_seconds": 8 * HOUR}, "16"),
        ({"instance_seconds": 1800.0}, "1"),
        # Volumes: GiB for a month.
        ({"volume_gib_seconds": 100 * MONTH}, "300"),
        # A file system: its provisioned GiB from creation to deletion, or a month's share for each run.
        ({"lustre": lustre(seconds=MONTH)}, "6000"),
        ({"lustre": lustre(seconds=MONTH / 1000)}, "6"),
        ({"lustre": lustre(seconds=None)}, "6000"),
        ({"lustre": lustre(seconds=None), "runs_per_month": 10.0}, "600"),
        ({"lustre": lustre(seconds=MONTH / 1000), "runs_per_month": 10.0}, "6"),
        ({"lustre": lustre(seconds=None), "runs_per_month": 0.5}, "12000"),
        # A run of months pays for each of them, and runs share a month only if they fit in it.
        ({"lustre": lustre(seconds=None), "run_seconds": 8 * MONTH}, "48000"),
        ({"lustre": lustre(seconds=None), "run_seconds": 8 * MONTH, "runs_per_month": 20.0}, "48000"),
        ({"lustre": lustre(seconds=None), "run_seconds": MONTH / 4, "runs_per_month": 10.0}, "1500"),
        ({"lustre": lustre(seconds=None), "run_seconds": MONTH / 10, "runs_per_month": 10.0}, "600"),
        ({"s3_stored_bytes": 10 * GIB, "run_seconds": 2 * MONTH}, "140"),
        ({"efs": efs(EfsThroughput.BURSTING), "run_seconds": 4 * MONTH}, "76"),
        # Once, whatever the instances.
        ({"lustre": lustre(seconds=MONTH / 1000), "instance_seconds": 16 * HOUR}, "38"),
        # Requests by the thousand; what S3 holds by GiB.
        ({"s3_tier1_requests": 1000.0}, "13"),
        ({"s3_tier2_requests": 1_000_000.0}, "17000"),
        ({"s3_stored_bytes": 10 * GIB}, "70"),
        ({"s3_stored_bytes": 10 * GIB, "runs_per_month": 4.0}, "17.5"),
        # EFS: storage by the month; Elastic bills what is read and written, whole.
        ({"efs": efs(EfsThroughput.BURSTING, read=100 * GIB)}, "19"),
        ({"efs": efs(EfsThroughput.ELASTIC, read=3 * GIB)}, "146"),
        ({"efs": efs(EfsThroughput.ELASTIC, read=3 * GIB), "runs_per_month": 2.0}, "136.5"),
        # Provisioned bills what is beyond the 50 KiB/s that each GiB brings; 1 TiB brings 50 MiB/s.
        ({"efs": efs(EfsThroughput.PROVISIONED, provisioned=51, stored=1024 * GIB)}, "19487"),
        ({"efs": efs(EfsThroughput.PROVISIONED, provisioned=50, stored=1024 * GIB)}, "19456"),
        ({"efs": efs(EfsThroughput.PROVISIONED, provisioned=10, stored=1024 * GIB)}, "19456"),
        # Two endpoints for an hour; a GiB between zones, billed on both sides.
        ({"interface_endpoint_seconds": 2 * HOUR}, "74"),
        ({"cross_zone_bytes": GIB}, "82"),
    ],
)
def test_each_kind_of_usage_has_its_price(usage: dict[str, object], total: str) -> None:
    found = of(**usage)
    assert found.total == Decimal(total)
    assert not found.at_least
    assert sum(item.amount or 0 for item in found.line_items) == found.total
    assert all(item.price and item.rate == item.price.amount for item in found.line_items)


def test_a_line_shows_quantity_unit_rate_and_record() -> None:
    (line,) = of(lustre=lustre(seconds=None), runs_per_month=4.0).line_items
    assert (line.name, line.quantity, line.unit, line.rate, line.amount, line.monthly) == (
        "Lustre Scratch 2 storage",
        Decimal(300),
        "GB-month",
        Decimal(5),
        Decimal(1500),
        True,
    )
    assert line.price == BOOK.price(products.SCRATCH_2, region="x-1", on=TODAY)


def test_intelligent_tiering_has_its_own_price() -> None:
    usage = replace(NOTHING, s3_stored_bytes=GIB)
    tiered = cost(usage, BOOK, region="x-1", on=TODAY, s3_class=S3Class.INTELLIGENT_TIERING)
    assert tiered.total == 11


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        # A TB of the post is 1,000 of the GB that AWS bills.
        ({"s3_stored_bytes": 1000 * GIB}, "23"),
        ({"lustre": lustre(seconds=MONTH)}, "168"),
        ({"lustre": lustre(seconds=None)}, "168"),
        ({"instance_seconds": HOUR}, "3.825"),
        ({"volume_gib_seconds": 100 * HOUR}, "0.02"),
        ({"s3_tier2_requests": 1_000_000.0}, "0.4"),
    ],
)
def test_the_posts_prices_come_out_for_its_date(usage: dict[str, object], total: str) -> None:
    found = cost(
        replace(NOTHING, **usage),
        PriceBook.shipped(),
        region="us-east-1",
        on=POST,
        s3_class=S3Class.INTELLIGENT_TIERING,
    )
    digits = Decimal("0.001") if "." in total and len(total) > 4 else Decimal("0.01")
    assert found.total.quantize(digits) == Decimal(total).quantize(digits)
    assert not found.at_least
    assert not found.stale(POST)


def test_what_has_no_price_stays_unknown_and_the_total_says_at_least() -> None:
    usage = replace(NOTHING, instance_seconds=HOUR, lustre=lustre(seconds=HOUR))
    found = cost(replace(usage, instance_type="ml.p9.huge"), BOOK, region="x-1", on=TODAY)
    assert found.at_least
    (unknown,) = found.unknown
    assert (unknown.name, unknown.quantity, unknown.rate, unknown.amount, unknown.price) == (
        "ml.p9.huge training",
        Decimal(1),
        None,
        None,
        None,
    )
    assert found.total == next(item.amount for item in found.line_items if item.amount is not None)
    elsewhere = cost(usage, BOOK, region="x-2", on=TODAY)
    assert elsewhere.total == 0
    assert elsewhere.at_least


def test_a_price_first_seen_later_is_not_known_yet() -> None:
    assert cost(replace(NOTHING, instance_seconds=HOUR), BOOK, region="x-1", on=POST).at_least


def test_a_months_storage_is_tiered_before_it_is_shared() -> None:
    book = PriceBook([price(products.S3_STANDARD, ("3", 10), ("2", 20))])

    def stored(gib: float, runs: float) -> Cost:
        usage = replace(NOTHING, s3_stored_bytes=gib * GIB, runs_per_month=runs)
        return cost(usage, book, region="x-1", on=TODAY)

    assert stored(10, 2).total == 15
    (line,) = stored(20, 2).line_items
    assert (line.quantity, line.rate, line.amount, line.complete) == (10, Decimal("2.5"), 25, True)
    (line,) = stored(40, 2).line_items
    assert (line.amount, line.complete) == (25, False)
    assert stored(40, 2).at_least


def test_spot_is_priced_on_demand_and_says_so() -> None:
    found = of(instance_seconds=HOUR, spot=True)
    assert found.total == 2
    assert "Spot discount" in found.not_included[0]
    assert not any("Spot" in each for each in of(instance_seconds=HOUR).not_included)


def test_old_prices_are_named() -> None:
    old = price(products.VOLUME, ("1", None), seen=date(2026, 1, 1))
    book = PriceBook([old, price(products.training("ml.p3.2xlarge"), ("1", None))])
    usage = replace(NOTHING, instance_seconds=HOUR, volume_gib_seconds=HOUR, s3_tier2_requests=5.0)
    found = cost(usage, book, region="x-1", on=TODAY)
    assert found.stale(TODAY) == (old,)
    assert found.stale(date(2026, 6, 30)) == ()

"""What a quantity costs, and when a price is too old to trust."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from trainfeed.prices import Charge, Confidence, PriceRecord, Tier, Unit


def record(*tiers: tuple[str, int | None], seen: date = date(2026, 1, 1)) -> PriceRecord:
    return PriceRecord(
        key="s3.standard.storage",
        region="us-east-1",
        tiers=tuple(
            Tier(amount=Decimal(amount), up_to=None if up_to is None else Decimal(up_to))
            for amount, up_to in tiers
        ),
        unit=Unit.GB_MONTH,
        source="a test",
        date=seen,
        confidence=Confidence.HIGH,
    )


@pytest.mark.parametrize(
    ("quantity", "amount", "unknown"),
    [
        ("0", "0", "0"),
        ("100", "2.300", "0"),
        ("51200", "1177.600", "0"),
        ("51201", "1177.622", "0"),
        ("512000", "11315.200", "0"),
        ("612000", "13415.200", "0"),
    ],
)
def test_each_part_of_a_quantity_has_its_tiers_price(quantity: str, amount: str, unknown: str) -> None:
    price = record(("0.023", 51200), ("0.022", 512000), ("0.021", None))
    assert price.charge(Decimal(quantity)) == Charge(amount=Decimal(amount), unknown=Decimal(unknown))


def test_beyond_the_last_known_tier_nothing_is_known() -> None:
    charge = record(("0.023", 51200)).charge(Decimal(60000))
    assert charge == Charge(amount=Decimal("1177.600"), unknown=Decimal(8800))


@pytest.mark.parametrize(
    ("days", "stale"), [(-1, False), (0, False), (180, False), (181, True), (1742, True)]
)
def test_a_price_is_doubted_after_180_days(days: int, stale: bool) -> None:
    seen = date(2026, 1, 1)
    assert record(("1", None), seen=seen).stale(seen + timedelta(days=days)) is stale

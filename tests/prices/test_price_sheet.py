"""Price sheets: what is read, what is refused, and that what is written is read back."""

import json
from datetime import date
from decimal import Decimal

import pytest

from trainfeed.prices import BookError, Confidence, PriceRecord, Tier, Unit
from trainfeed.prices.sheet import dump, read

SHEET = """
- source: AWS price list
  url: https://example.com/list
  date: 2026-09-01
  confidence: high
  note: One of many.
  prices:
    fsx.lustre.scratch-2: 0.14 USD per GB-month
    s3.standard.storage:
      - 0.023 USD per GB-month, up to 51200
      - 0.022 USD per GB-month
"""


def test_a_sheet_is_read_whole() -> None:
    lustre, s3 = read(SHEET, name="eu-west-1.yaml", region="eu-west-1")
    assert lustre == PriceRecord(
        key="fsx.lustre.scratch-2",
        region="eu-west-1",
        tiers=(Tier(amount=Decimal("0.14")),),
        unit=Unit.GB_MONTH,
        source="AWS price list",
        url="https://example.com/list",
        date=date(2026, 9, 1),
        confidence=Confidence.HIGH,
        note="One of many.",
    )
    assert s3.tiers == (
        Tier(amount=Decimal("0.023"), up_to=Decimal(51200)),
        Tier(amount=Decimal("0.022")),
    )


def test_what_is_written_is_read_back() -> None:
    records = read(SHEET, name="eu-west-1.yaml", region="eu-west-1")
    assert read(json.dumps(dump(records)), name="eu-west-1.json", region="eu-west-1") == records


@pytest.mark.parametrize(
    ("line", "amount"),
    [
        ("0.14 USD per GB-month", "0.14"),
        ("0.1400000000 USD per GB-month", "0.1400000000"),
        ("0 USD per GB-month", "0"),
        ("12 USD per GB-month", "12"),
    ],
)
def test_amounts_are_decimals_as_written(line: str, amount: str) -> None:
    (record,) = read(_with(line), name="x.yaml", region="x")
    assert str(record.amount) == amount


def _with(price: object, key: str = "fsx.lustre.scratch-2") -> str:
    return json.dumps([{"source": "me", "date": "2026-01-01", "confidence": "low", "prices": {key: price}}])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nothing: here", "must be a list of sheets"),
        ("- just text", "a sheet must name its confidence, date, prices, source; given: 'just text'"),
        ("- [", "x.yaml is no YAML"),
        ("- {source: me, date: 2026-01-01, confidence: high}", "a sheet lacks its prices"),
        (SHEET.replace("note:", "remark:"), "a sheet has no remark. Allowed: confidence, date, note"),
        (SHEET.replace("2026-09-01", "last year"), "'last year' is no date. Write it as 2026-12-31"),
        (SHEET.replace("high", "sure"), "no confidence 'sure'. Allowed: high, medium, low"),
        (
            _with("0.14 USD per GB-month", key="fsx.lustre.scratch-3"),
            "nothing is called 'fsx.lustre.scratch-3'",
        ),
        (_with("0.14 USD per hour"), "costs '0.14 USD per hour'.*Write it as `0.14 USD per GB-month`"),
        (_with("0.14 EUR per GB-month"), "is not understood"),
        (_with("-1 USD per GB-month"), "is not understood"),
        (_with(0.14), "costs 0.14, which is not understood"),
        (_with([]), r"costs \[\], which is not understood"),
        (
            _with(["1 USD per GB-month, up to 20", "1 USD per GB-month, up to 10"]),
            "each tier of fsx.lustre.scratch-2 must end above the one before",
        ),
        (_with(["1 USD per GB-month", "2 USD per GB-month"]), "only the last has no end"),
        (
            json.dumps([{**json.loads(_with(1))[0], "prices": 5}]),
            "prices must be written as KEY: PRICE lines",
        ),
    ],
)
def test_what_is_no_sheet_is_refused_by_name(text: str, says: str) -> None:
    with pytest.raises(BookError, match=says):
        read(text, name="x.yaml", region="x")


def test_json_is_refused_by_name_too() -> None:
    with pytest.raises(BookError, match=r"x\.json is no JSON"):
        read("[", name="x.json", region="x")

"""Which record holds on which day, and where records come from."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from trainfeed.prices import BookError, PriceBook

KEY = "fsx.lustre.scratch-2"


def sheet(day: str, amount: str, source: str = "a list") -> str:
    return (
        f"- source: {source}\n  date: {day}\n  confidence: high\n"
        f"  prices:\n    {KEY}: {amount} USD per GB-month\n"
    )


@pytest.fixture
def book(tmp_path: Path) -> PriceBook:
    # Not in the order of time: a sheet that is found later may be of an earlier day.
    (tmp_path / "x-1.yaml").write_text(
        sheet("2024-01-01", "2") + sheet("2022-01-01", "1") + sheet("2026-01-01", "3")
    )
    return PriceBook.load(tmp_path)


@pytest.mark.parametrize(
    ("day", "amount"),
    [
        (date(2021, 12, 31), None),
        (date(2022, 1, 1), "1"),
        (date(2023, 12, 31), "1"),
        (date(2024, 1, 1), "2"),
        (date(2030, 1, 1), "3"),
    ],
)
def test_a_price_holds_from_its_day_until_the_next(book: PriceBook, day: date, amount: str | None) -> None:
    record = book.price(KEY, region="x-1", on=day)
    assert (str(record.amount) if record else None) == amount


def test_what_was_replaced_is_still_there(book: PriceBook) -> None:
    assert [str(each.amount) for each in book.history(KEY, region="x-1")] == ["3", "2", "1"]


def test_no_region_stands_in_for_another(book: PriceBook) -> None:
    assert book.price(KEY, region="x-2", on=date(2030, 1, 1)) is None
    assert book.keys("x-2") == ()
    assert book.regions() == ("x-1",)


def test_of_one_day_the_other_book_is_taken_and_of_two_days_the_newer(
    book: PriceBook, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "x-1.yaml").write_text(sheet("2026-01-01", "33", "mine") + sheet("2025-01-01", "22", "mine"))
    (mine / "x-9.yaml").write_text(sheet("2026-01-01", "9"))
    both = book.with_(PriceBook.load(mine))
    today = date(2026, 12, 1)
    assert both.regions() == ("x-1", "x-9")
    assert both.price(KEY, region="x-1", on=today) == PriceBook.load(mine).price(KEY, region="x-1", on=today)
    assert [str(each.amount) for each in both.history(KEY, region="x-1")] == ["33", "3", "22", "2", "1"]
    given = PriceBook(both.history(KEY, region="x-1"))
    assert given.regions() == ("x-1",)
    assert given.price(KEY, region="x-1", on=date(2025, 6, 1)) == both.price(
        KEY, region="x-1", on=date(2025, 6, 1)
    )


def test_a_missing_book_is_an_empty_one(tmp_path: Path) -> None:
    book = PriceBook.load(tmp_path / "none")
    assert book.regions() == ()
    assert book.price(KEY, region="us-east-1", on=date(2026, 1, 1)) is None


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "x-1.json").write_text("{")
    with pytest.raises(BookError, match=r"x-1\.json is no JSON"):
        PriceBook.load(tmp_path).price(KEY, region="x-1", on=date(2026, 1, 1))
    (tmp_path / "x-2.json").write_bytes(b"\xff")
    with pytest.raises(BookError, match=r"x-2\.json cannot be read"):
        PriceBook.load(tmp_path).keys("x-2")


def test_the_shipped_book_can_be_read_and_gives_its_sources() -> None:
    book = PriceBook.shipped()
    assert set(book.regions()) >= {"us-east-1", "us-west-2", "eu-west-1", "ap-northeast-1"}
    for region in book.regions():
        records = [each for key in book.keys(region) for each in book.history(key, region=region)]
        assert records
        assert all(each.source and date(2019, 1, 1) <= each.date for each in records)
        assert all(tier.amount > 0 for each in records for tier in each.tiers)


@pytest.mark.parametrize(
    ("key", "region", "day", "amount"),
    [
        # The prices of February 2022, by which the post compares sources, and those of today: both stay.
        ("sagemaker.training.ml.p3.2xlarge", "us-east-1", date(2022, 2, 23), "3.825"),
        ("sagemaker.volume", "us-east-1", date(2022, 2, 23), "0.14"),
        ("fsx.lustre.scratch-2", "us-east-1", date(2022, 2, 23), "0.14"),
        ("s3.intelligent-tiering.storage", "us-east-1", date(2022, 2, 23), "0.023"),
        ("s3.requests.tier-2", "us-east-1", date(2022, 2, 23), "0.0004"),
        ("s3.standard.storage", "us-east-1", date(2022, 2, 23), None),
        ("s3.standard.storage", "us-east-1", date(2026, 12, 1), "0.023"),
        ("sagemaker.training.ml.p3.2xlarge", "us-east-1", date(2022, 2, 22), None),
        ("sagemaker.volume", "us-east-1", date(2026, 12, 1), "0.14"),
        ("sagemaker.training.ml.g5.xlarge", "us-east-1", date(2026, 12, 1), "1.408"),
        ("sagemaker.training.ml.p5.48xlarge", "us-east-1", date(2026, 12, 1), "63.296"),
        ("s3.requests.tier-1", "us-west-2", date(2026, 12, 1), "0.005"),
        ("s3.standard.storage", "eu-west-1", date(2026, 12, 1), "0.023"),
        ("sagemaker.training.ml.g5.xlarge", "us-west-2", date(2026, 12, 1), "1.41"),
        ("sagemaker.training.ml.g5.xlarge", "eu-west-1", date(2026, 12, 1), "1.57"),
        ("sagemaker.training.ml.g6.xlarge", "ap-northeast-1", date(2026, 12, 1), "1.634"),
        ("efs.provisioned", "ap-northeast-1", date(2026, 12, 1), "7.20"),
        ("fsx.lustre.scratch-2", "eu-west-1", date(2026, 12, 1), None),
    ],
)
def test_shipped_prices(key: str, region: str, day: date, amount: str | None) -> None:
    record = PriceBook.shipped().price(key, region=region, on=day)
    assert (record.amount if record else None) == (Decimal(amount) if amount else None)

"""From how many runs a month on a kept file system is cheaper."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from trainfeed.estimate import LustreUse, Usage
from trainfeed.estimate.cost import cost
from trainfeed.estimate.keeping import keeping
from trainfeed.prices import PriceBook

HOUR = 3600.0
POST = date(2022, 2, 23)
BOOK = PriceBook.shipped()


def usage(*, hours: float, lustre_hours: float | None, runs: float = 1.0, region_stored: float = 0) -> Usage:
    return Usage(
        instance_type="ml.p3.2xlarge",
        spot=False,
        instance_seconds=hours * HOUR,
        lustre=LustreUse(
            deployment_type="SCRATCH_2",
            capacity_gib=1200,
            seconds=None if lustre_hours is None else lustre_hours * HOUR,
        ),
        s3_stored_bytes=region_stored,
        runs_per_month=runs,
    )


def monthly(one: Usage, runs: int) -> Decimal:
    return runs * cost(replace(one, runs_per_month=runs), BOOK, region="us-east-1", on=POST).total


@pytest.mark.parametrize(("cold", "warm", "own"), [(2, 1.5, 3), (1, 1, 1.5), (10, 1, 11), (100, 1, 200)])
def test_the_break_even_is_where_the_months_bills_cross(cold: float, warm: float, own: float) -> None:
    ephemeral, kept = usage(hours=cold, lustre_hours=own), usage(hours=warm, lustre_hours=None)
    answer = keeping(ephemeral, kept, BOOK, region="us-east-1", on=POST)
    assert answer.month == 168
    assert not answer.at_least
    runs = answer.runs_per_month
    assert runs is not None
    assert monthly(kept, runs) < monthly(ephemeral, runs)
    assert runs == 1 or monthly(kept, runs - 1) >= monthly(ephemeral, runs - 1)


def test_a_file_system_that_saves_nothing_is_never_worth_keeping() -> None:
    answer = keeping(
        usage(hours=1, lustre_hours=0), usage(hours=1, lustre_hours=None), BOOK, region="us-east-1", on=POST
    )
    assert answer.runs_per_month is None


def test_one_run_of_a_whole_month_and_a_day_is_worth_keeping_it() -> None:
    answer = keeping(
        usage(hours=1, lustre_hours=730.5),
        usage(hours=1, lustre_hours=None),
        BOOK,
        region="us-east-1",
        on=POST,
    )
    assert answer.runs_per_month == 1


def test_runs_stated_and_data_in_s3_do_not_move_it() -> None:
    plain = keeping(
        usage(hours=2, lustre_hours=3), usage(hours=1, lustre_hours=None), BOOK, region="us-east-1", on=POST
    )
    today = date(2026, 12, 1)
    stated = keeping(
        usage(hours=2, lustre_hours=3, runs=30, region_stored=2.0**40),
        usage(hours=1, lustre_hours=None, runs=30, region_stored=2.0**40),
        BOOK,
        region="us-east-1",
        on=today,
    )
    assert (stated.runs_per_month, stated.month) == (plain.runs_per_month, plain.month)


def test_an_unknown_price_is_told() -> None:
    answer = keeping(
        usage(hours=2, lustre_hours=3), usage(hours=1, lustre_hours=None), BOOK, region="eu-west-1", on=POST
    )
    assert answer.at_least

"""Whether to keep a file system all month, or to make one for each run."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_FLOOR, Decimal

from trainfeed.estimate.cost import Cost, cost
from trainfeed.estimate.result import Usage
from trainfeed.prices.book import PriceBook


@dataclass(frozen=True, kw_only=True, slots=True)
class Keeping:
    """How a kept file system compares with one made for each run. Amounts are USD.

    Attributes:
        runs_per_month: from so many runs a month on keeping is cheaper; None: it never is.
        month: what is paid each month for keeping it, whatever runs.
        each_run: what a run on the kept one costs beside that.
        each_ephemeral_run: what a run with its own file system costs.
        at_least: whether a price in it is not known; runs_per_month is then an indication.
    """

    runs_per_month: int | None
    month: Decimal
    each_run: Decimal
    each_ephemeral_run: Decimal
    at_least: bool


def keeping(ephemeral: Usage, kept: Usage, book: PriceBook, *, region: str, on: date) -> Keeping:
    """Compare keeping a file system with making one for each run.

    Args:
        ephemeral: what a run uses that makes and deletes its own.
        kept: what a run uses on one that is there all month, loaded already.
        book: the prices.
        region: where.
        on: the day whose prices hold.
    """
    own = cost(replace(ephemeral, runs_per_month=1, run_seconds=0), book, region=region, on=on)
    shared = cost(replace(kept, runs_per_month=1, run_seconds=0), book, region=region, on=on)
    # What both bear each month (the dataset in S3) is no part of the question.
    month = _monthly(shared) - _monthly(own)
    each_run, each_ephemeral_run = _by_run(shared), _by_run(own)
    saved = each_ephemeral_run - each_run
    runs = None
    if saved > 0:
        runs = max(1, int((month / saved).to_integral_value(ROUND_FLOOR)) + 1)
    return Keeping(
        runs_per_month=runs,
        month=month,
        each_run=each_run,
        each_ephemeral_run=each_ephemeral_run,
        at_least=own.at_least or shared.at_least,
    )


def _monthly(of: Cost) -> Decimal:
    return sum((item.amount for item in of.line_items if item.monthly and item.amount), Decimal(0))


def _by_run(of: Cost) -> Decimal:
    return of.total - _monthly(of)

"""What the page on costs shows can be done as it is shown."""

import re
from datetime import date
from decimal import Decimal
from pathlib import Path

from trainfeed.prices import PriceBook
from trainfeed.prices.sheet import read

_PAGE = (Path(__file__).parents[2] / "docs" / "costs.md").read_text()


def test_the_sheet_of_ones_own_prices_is_taken_before_the_shipped_ones() -> None:
    (shown,) = re.findall(r"```yaml\n(.*?)```", _PAGE, flags=re.DOTALL)
    mine = PriceBook(read(shown, name="us-east-1.yaml", region="us-east-1"))
    price = (
        PriceBook.shipped()
        .with_(mine)
        .price("sagemaker.training.ml.g5.xlarge", region="us-east-1", on=date(2026, 12, 1))
    )
    assert price
    assert (price.amount, price.source) == (Decimal("1.10"), "our agreement with AWS")


def test_it_is_true_of_the_regions_it_names() -> None:
    book, today = PriceBook.shipped(), date(2026, 12, 1)
    known = {
        region for region in book.regions() if book.price("fsx.lustre.scratch-2", region=region, on=today)
    }
    assert known == {"us-east-1", "us-west-2"}


def test_a_terabyte_costs_what_it_says() -> None:
    billed = Decimal(10**12) / 2**30
    assert f"{billed:.0f} of them" in _PAGE
    assert f"{billed * Decimal('0.023'):.2f} USD a month" in _PAGE

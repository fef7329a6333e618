"""Prices of elsewhere, where a Region's own are not known: sources must be compared all the same."""

from datetime import date

from trainfeed.prices import PriceBook, PriceRecord
from trainfeed.prices.products import training

#: What an instance is taken for whose price is not known anywhere.
COMMON_INSTANCE = "ml.g5.2xlarge"


class Elsewhere(PriceBook):
    """A book that knows a price if any Region has one. Costs that are printed do not come from it."""

    def __init__(self, book: PriceBook) -> None:
        super().__init__()
        self._book = book
        self._found: dict[tuple[str, str, date], PriceRecord | None] = {}

    def price(self, key: str, *, region: str, on: date) -> PriceRecord | None:
        """The Region's own price, else another's, else a common instance's."""
        asked = key, region, on
        if asked not in self._found:
            self._found[asked] = self._look(key, region, on)
        return self._found[asked]

    def _look(self, key: str, region: str, on: date) -> PriceRecord | None:
        for each in (key, training(COMMON_INSTANCE)) if key.startswith(training("")) else (key,):
            for place in (region, *self._book.regions()):
                if found := self._book.price(each, region=place, on=on):
                    return found
        return None

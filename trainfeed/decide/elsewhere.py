"""Prices of elsewhere, where a Region's own are not known: sources must be compared all the same."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from math import log

from trainfeed.estimate.instances import find
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
        """The Region's own price, else another's, else one of the family, else a common instance's."""
        asked = key, region, on
        if asked not in self._found:
            self._found[asked] = self._look(key, region, on)
        return self._found[asked]

    def _look(self, key: str, region: str, on: date) -> PriceRecord | None:
        if found := self._anywhere(key, region, on):
            return found
        if not key.startswith(training("")):
            return None
        return self._of_family(key, region, on) or self._anywhere(training(COMMON_INSTANCE), region, on)

    def _anywhere(self, key: str, region: str, on: date) -> PriceRecord | None:
        for place in (region, *self._book.regions()):
            if found := self._book.price(key, region=place, on=on):
                return found
        return None

    def _of_family(self, key: str, region: str, on: date) -> PriceRecord | None:
        """The price of the member nearest in size, in proportion to virtual CPUs; its key tells which."""
        wanted = find(key.removeprefix(training("")))
        if not wanted.known:
            return None
        family = f"{key.rpartition('.')[0]}."
        for place in (region, *self._book.regions()):
            priced = [
                (record, find(each.removeprefix(training(""))))
                for each in self._book.keys(place)
                if each.startswith(family) and (record := self._book.price(each, region=place, on=on))
            ]
            priced = [(record, instance) for record, instance in priced if instance.known]
            if priced:
                record, near = min(priced, key=lambda each: abs(log(each[1].vcpus / wanted.vcpus)))
                factor = Decimal(wanted.vcpus) / near.vcpus
                tiers = tuple(replace(tier, amount=tier.amount * factor) for tier in record.tiers)
                return replace(record, tiers=tiers)
        return None

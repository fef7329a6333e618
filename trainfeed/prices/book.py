"""A price book: every price that is known, now and earlier."""

from collections.abc import Iterable, Mapping
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Self

from trainfeed.prices.record import PriceRecord
from trainfeed.prices.sheet import BookError, read

_SUFFIXES = (".yaml", ".json")

_Region = Mapping[str, tuple[PriceRecord, ...]]


class PriceBook:
    """Prices by product, Region and date.

    A record holds from the day it was seen until a newer one. A Region's files are read when its first price
    is asked for, so that a command pays for the Region it uses alone.
    """

    def __init__(self, records: Iterable[PriceRecord] = (), *, folders: tuple[Traversable, ...] = ()) -> None:
        self._given = tuple(records)
        self._folders = folders
        self._regions: dict[str, _Region] = {}
        # A sweep over workloads asks for the same few prices by the million.
        self._found: dict[tuple[str, str, date], PriceRecord | None] = {}
        self._names: tuple[str, ...] | None = None

    @classmethod
    def shipped(cls) -> Self:
        """The book that comes with trainfeed."""
        return cls(folders=(files("trainfeed.prices") / "book",))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """The book of a folder with one file a Region (`eu-west-1.yaml`, or `.json`). It may be missing."""
        return cls(folders=(folder,))

    def with_(self, other: "PriceBook") -> "PriceBook":
        """This book and another together; of records of one day, the other's is taken."""
        return PriceBook((*self._given, *other._given), folders=(*self._folders, *other._folders))

    def price(self, key: str, *, region: str, on: date) -> PriceRecord | None:
        """The newest record of a product in a Region that is not younger than a day.

        Returns:
            None where no record is that old: a price that is not known stays unknown.

        Raises:
            BookError: a file of the Region cannot be read.
        """
        asked = (key, region, on)
        try:
            return self._found[asked]
        except KeyError:
            newest = (record for record in self._region(region).get(key, ()) if record.date <= on)
            return self._found.setdefault(asked, next(newest, None))

    def history(self, key: str, *, region: str) -> tuple[PriceRecord, ...]:
        """Every record of a product in a Region, the newest first."""
        return self._region(region).get(key, ())

    def keys(self, region: str) -> tuple[str, ...]:
        """What has a record in a Region, in alphabetical order."""
        return tuple(sorted(self._region(region)))

    def regions(self) -> tuple[str, ...]:
        """The Regions that have a record."""
        if self._names is None:
            self._names = self._all_regions()
        return self._names

    def _all_regions(self) -> tuple[str, ...]:
        found = {record.region for record in self._given}
        for folder in self._folders:
            if folder.is_dir():
                found |= {
                    entry.name.rpartition(".")[0]
                    for entry in folder.iterdir()
                    if entry.name.endswith(_SUFFIXES)
                }
        return tuple(sorted(found))

    def _region(self, region: str) -> _Region:
        if region not in self._regions:
            by_key: dict[str, list[PriceRecord]] = {}
            for record in (*self._read(region), *(each for each in self._given if each.region == region)):
                by_key.setdefault(record.key, []).append(record)
            # Sorting is stable: of one day's records, the one that was read last comes first.
            self._regions[region] = {
                key: tuple(sorted(found, key=lambda each: each.date)[::-1]) for key, found in by_key.items()
            }
        return self._regions[region]

    def _read(self, region: str) -> Iterable[PriceRecord]:
        for folder in self._folders:
            for suffix in _SUFFIXES:
                file = folder / f"{region}{suffix}"
                if file.is_file():
                    try:
                        text = file.read_text(encoding="utf-8")
                    except (OSError, UnicodeDecodeError) as error:
                        raise BookError(f"{file} cannot be read: {error}.") from None
                    yield from read(text, name=str(file), region=region)

"""Prices as people read them: what, how much, seen when, by whom."""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from trainfeed.prices import STALE_AFTER, Confidence, PriceBook, PriceRecord, Tier, Unit
from trainfeed.prices.products import PRODUCTS, Product, product


def show(book: PriceBook, region: str, console: Console, *, on: date, history: bool = False) -> None:
    """A Region's prices as of a day, with their sources below.

    Args:
        book: the prices.
        region: which.
        console: where to.
        on: the day.
        history: whether to show what a newer record has replaced, too.
    """
    console.print(Text(region, style="bold"))
    rows = [
        record
        for key in sorted(book.keys(region), key=_place(book, region, on))
        for record in _as_of(book.history(key, region=region), on)[: None if history else 1]
    ]
    sources = list(dict.fromkeys((record.source, record.url, record.note) for record in rows))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("Price of", "USD", "Seen", "Sure", "From"):
        # In a narrow terminal the words wrap; dates and places, which cannot, stay whole.
        table.add_column(heading, no_wrap=heading not in ("Price of", "USD"))
    for record in rows:
        place = sources.index((record.source, record.url, record.note)) + 1
        table.add_row(
            _known(record.key).title,
            "\n".join(_tier(tier, record.unit) for tier in record.tiers),
            Text(f"{record.date}*", style="yellow") if record.stale(on) else str(record.date),
            Text(record.confidence, style="" if record.confidence is Confidence.HIGH else "yellow"),
            f"[{place}]",
        )
    if rows:
        console.print(table)
    if any(record.stale(on) for record in rows):
        console.print(f"* more than {STALE_AFTER.days} days ago", style="yellow")
    for place, (source, url, note) in enumerate(sources, start=1):
        said = ". ".join(part.rstrip(".") for part in (source, note, url) if part)
        console.print(Text(f"[{place}] {said}", style="dim"), soft_wrap=True)
    known = {record.key for record in rows}
    if unknown := [each.title for each in PRODUCTS.values() if each.key not in known]:
        console.print(Text(f"Not known: {', '.join(unknown)}."), soft_wrap=True)
    if any(record.stale(on) for record in rows) or unknown:
        console.print(f"Ask AWS: trainfeed prices refresh --region {region}", style="dim")


def _as_of(records: Sequence[PriceRecord], on: date) -> list[PriceRecord]:
    return [record for record in records if record.date <= on]


def _known(key: str) -> Product:
    found = product(key)
    assert found is not None, "a book holds what is known alone"  # noqa: S101
    return found


def _place(book: PriceBook, region: str, on: date) -> Callable[[str], tuple[int, str, Decimal]]:
    """Where a price stands: instances last, by family, a family by price."""
    places = {key: place for place, key in enumerate(PRODUCTS)}

    def place(key: str) -> tuple[int, str, Decimal]:
        family = "" if key in places else key.rpartition(".")[0]
        price = book.price(key, region=region, on=on)
        return places.get(key, len(places)), family, price.amount if price else Decimal(0)

    return place


def _tier(tier: Tier, unit: Unit) -> str:
    end = "" if tier.up_to is None else f", up to {tier.up_to:,f}"
    return f"{amount(tier.amount)} per {unit}{end}"


def amount(value: Decimal) -> str:
    """A price with at least its cents: `0.14`, `1.00`, `0.0004`."""
    whole, _, cents = f"{value:f}".partition(".")
    return f"{whole}.{cents.rstrip('0').ljust(2, '0')}"

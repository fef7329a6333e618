"""Reading and writing price sheets: prices that one source gave on one day.

A book has one file a Region, a list of sheets: YAML where people write it, JSON, which is read faster, where
`trainfeed prices refresh` does. A sheet is appended, never changed: an old price stays for old dates.

    - source: AWS price list
      url: https://...
      date: 2026-09-01
      confidence: high
      note: (optional)
      prices:
        fsx.lustre.scratch-2: 0.14 USD per GB-month
        s3.standard.storage:
          - 0.023 USD per GB-month, up to 51200
          - 0.022 USD per GB-month
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from trainfeed.prices.products import product
from trainfeed.prices.record import Confidence, PriceRecord, Tier, Unit

_PRICE = re.compile(r"(?P<amount>\d+(\.\d+)?) USD per (?P<unit>.+?)(, up to (?P<up_to>\d+(\.\d+)?))?")
_NEEDED = {"source", "date", "confidence", "prices"}
_ALLOWED = _NEEDED | {"url", "note"}


class BookError(ValueError):
    """A price book cannot be read; the text names the file, what is wrong in it, and what is allowed."""


def read(text: str, *, name: str, region: str) -> tuple[PriceRecord, ...]:
    """The records of a file's text.

    Args:
        text: YAML, or JSON where the name ends in `.json`.
        name: the file, for messages.
        region: what its prices are for.

    Raises:
        BookError: it is no price book.
    """
    sheets = _json(text, name) if name.endswith(".json") else _yaml(text, name)
    if not isinstance(sheets, list):
        raise BookError(f"{name} is no price book: it must be a list of sheets.")
    return tuple(record for sheet in sheets for record in _records(sheet, name=name, region=region))


def dump(records: Iterable[PriceRecord]) -> list[dict[str, Any]]:
    """Records as sheets, in plain values that `read` takes back from JSON or YAML."""
    sheets: dict[tuple[Any, ...], dict[str, Any]] = {}
    for each in records:
        head = {
            "source": each.source,
            "url": each.url,
            "date": each.date.isoformat(),
            "confidence": each.confidence.value,
            "note": each.note,
        }
        sheet = sheets.setdefault(tuple(head.values()), {**head, "prices": {}})
        lines = [_text(tier, each.unit) for tier in each.tiers]
        sheet["prices"][each.key] = lines[0] if len(lines) == 1 else lines
    return list(sheets.values())


def _text(tier: Tier, unit: Unit) -> str:
    end = "" if tier.up_to is None else f", up to {tier.up_to:f}"
    return f"{tier.amount:f} USD per {unit}{end}"


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BookError(f"{name} is no JSON: {error}.") from None


def _yaml(text: str, name: str) -> Any:
    from ruamel.yaml import YAML  # noqa: PLC0415 - 60 ms, for who reads YAML
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise BookError(f"{name} is no YAML: {error}.") from None


def _records(sheet: Any, *, name: str, region: str) -> tuple[PriceRecord, ...]:
    if not isinstance(sheet, Mapping):
        raise BookError(f"{name}: a sheet must name its {', '.join(sorted(_NEEDED))}; given: {sheet!r}.")
    if missing := _NEEDED - sheet.keys():
        raise BookError(f"{name}: a sheet lacks its {', '.join(sorted(missing))}.")
    if unknown := sheet.keys() - _ALLOWED:
        raise BookError(
            f"{name}: a sheet has no {', '.join(sorted(map(str, unknown)))}. "
            f"Allowed: {', '.join(sorted(_ALLOWED))}."
        )
    if not isinstance(sheet["prices"], Mapping):
        raise BookError(f"{name}: prices must be written as KEY: PRICE lines; given: {sheet['prices']!r}.")
    day, confidence = _date(sheet["date"], name), _confidence(sheet["confidence"], name)
    records = []
    for key, said in sheet["prices"].items():
        tiers, unit = _price(said, key=key, name=name)
        records.append(
            PriceRecord(
                key=key,
                region=region,
                tiers=tiers,
                unit=unit,
                source=str(sheet["source"]),
                url=str(sheet.get("url", "")),
                date=day,
                confidence=confidence,
                note=str(sheet.get("note", "")),
            )
        )
    return tuple(records)


def _date(value: Any, name: str) -> date:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise BookError(f"{name}: {value!r} is no date. Write it as 2026-12-31.") from None


def _confidence(value: Any, name: str) -> Confidence:
    try:
        return Confidence(value)
    except ValueError:
        raise BookError(f"{name}: no confidence {value!r}. Allowed: {', '.join(Confidence)}.") from None


def _price(said: Any, *, key: Any, name: str) -> tuple[tuple[Tier, ...], Unit]:
    known = product(key) if isinstance(key, str) else None
    if known is None:
        raise BookError(f"{name}: nothing is called {key!r}; `trainfeed prices show` lists what has a price.")
    lines: Sequence[Any] = said if isinstance(said, list) and said else [said]
    tiers = []
    for line in lines:
        match = _PRICE.fullmatch(line) if isinstance(line, str) else None
        if match is None or match["unit"] != known.unit:
            raise BookError(
                f"{name}: {key} costs {line!r}, which is not understood. "
                f"Write it as `0.14 USD per {known.unit}`, with `, up to 51200` where a tier ends."
            )
        tiers.append(
            Tier(amount=Decimal(match["amount"]), up_to=Decimal(match["up_to"]) if match["up_to"] else None)
        )
    ends = [tier.up_to for tier in tiers]
    bounds = [end for end in ends if end is not None]
    if None in ends[:-1] or bounds != sorted(set(bounds)):
        raise BookError(
            f"{name}: each tier of {key} must end above the one before; only the last has no end."
        )
    return tuple(tiers), known.unit

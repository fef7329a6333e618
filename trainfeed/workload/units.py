"""Sizes, durations and rates as people write them: `54 GB`, `1.2 TiB`, `1 h 20 min`, `330 images/s`.

GB is 1,000,000,000 bytes and GiB is 1,073,741,824; the two are never taken for each other.
"""

import re
from decimal import Decimal

_SIZES = {
    **{"B": 1, "bytes": 1, "byte": 1},
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("KMGTPE", start=1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTPE", start=1)},
}
_BY_LOWER_CASE = {unit.lower(): size for unit, size in _SIZES.items()}
#: Units to write a size in: the largest that leaves a short number, decimal before binary.
_WRITTEN = sorted(
    ((size, unit) for unit, size in _SIZES.items() if unit not in ("bytes", "byte")), reverse=True
)

_SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3_600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
}

_NUMBER = r"\d+(?:[_,]\d{3})*(?:\.\d+)?|\.\d+"
_QUANTITY = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>[A-Za-z]*)")
_RATE = re.compile(r"(?P<amount>.+?)\s*(?:/|\bper\b|\ba\b|\ban\b)\s*(?P<per>[A-Za-z]+)")


def number(text: str) -> Decimal:
    """Read `1,530,350`, `1_530_350` or `0.5`.

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch(_NUMBER, text.strip()):
        raise ValueError("write a number, like 1,530,350 or 0.5")
    return Decimal(text.strip().replace(",", "").replace("_", ""))


def quantity(text: str) -> tuple[Decimal, str]:
    """Part `330 images` into its number and its unit, which may be empty.

    Raises:
        ValueError: it is none.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise ValueError("write a number and its unit, like 330 images")
    return number(match["number"]), match["unit"]


def size(text: str) -> int:
    """Read a size in whole bytes: `54 GB`, `39KB`, `1.2 TiB`, `512 B`.

    Raises:
        ValueError: it is none, or has no unit.
    """
    return round(in_bytes(text))


def in_bytes(text: str) -> Decimal:
    """Read a size in bytes and parts of them, as rates have them.

    Raises:
        ValueError: it is none, or has no unit.
    """
    match = _QUANTITY.fullmatch(text.strip())
    factor = size_unit(match["unit"]) if match else None
    if match is None or factor is None:
        raise ValueError("write a size with its unit: B, KB, MB, GB, TB, or KiB, MiB, GiB, TiB, like 54 GB")
    return number(match["number"]) * factor


def size_unit(unit: str) -> int | None:
    """The bytes of a unit of size, in any case; None if it is none."""
    return _BY_LOWER_CASE.get(unit.lower())


def duration(text: str) -> float:
    """Read seconds: `90 s`, `1.5 h`, `1 h 20 min`.

    Raises:
        ValueError: it is none, or has no unit.
    """
    parts = list(_QUANTITY.finditer(text))
    if not parts or _QUANTITY.sub("", text).strip() or not all(part["unit"] in _SECONDS for part in parts):
        raise ValueError("write a time with its unit: s, min, h or d, like 1 h 20 min")
    return float(sum(number(part["number"]) * _SECONDS[part["unit"]] for part in parts))


def rate(text: str) -> tuple[str, str]:
    """Part `330 images/s` or `80 min per epoch` into what stands before and after.

    Raises:
        ValueError: it is no rate.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise ValueError("write a rate, like 330 images/s, 12 MB/s or 80 min/epoch")
    return match["amount"], match["per"]


def seconds_in(unit: str) -> int:
    """The seconds of a unit of time (`s`, `min`, `h`).

    Raises:
        ValueError: it is none.
    """
    if unit not in _SECONDS:
        raise ValueError(f"{unit!r} is no unit of time; write s, min, h or d")
    return _SECONDS[unit]


def write_size(value: int) -> str:
    """A size that reads back as the same number: `54 GB`, `1.2 TiB`, `1234567 B`."""
    for factor, unit in _WRITTEN:
        amount = Decimal(value) / factor
        if amount >= 1 and amount == round(amount, 3):
            return f"{amount.normalize():f} {unit}"
    return f"{value} B"

"""Quantities as the answer's sentences say them."""

from decimal import Decimal

_SI = (("PB", 10**15), ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3))


def si_bytes(value: float) -> str:
    """`39 KB`, `54 GB`, `1.2 TB`: decimal units, two figures or all whole ones."""
    for unit, size in _SI:
        if value >= 0.9995 * size:
            return f"{_figures(value / size)} {unit}"
    return f"{value:.0f} bytes"


def count(value: float) -> str:
    """`840`, `30,607`, `1.5 million`."""
    if value >= 10**6:
        return f"{_figures(value / 10**6)} million"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def seconds(value: float) -> str:
    """`12 s`, `3 min 5 s`, `2 h 7 min`, `3 days 4 h`."""
    whole = round(value)
    for units in ((86_400, "days", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        large, name, small, name_of_small = units
        if whole >= (2 if name == "days" else 1) * large:
            rest = whole % large // small
            return f"{whole // large} {name}" + (f" {rest} {name_of_small}" if rest else "")
    return f"{whole} s"


def money(value: Decimal) -> str:
    """`$0.0042`, `$0.44`, `$168.00`: cents, and below ten cents two figures."""
    if 0 < value < Decimal("0.00005"):
        return "under $0.0001"
    if 0 < value < Decimal("0.1"):
        return f"${value:.4f}".rstrip("0")
    return f"${value:,.2f}"


def _figures(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.95 or abs(value - round(value)) < 0.05 else f"{value:.1f}"

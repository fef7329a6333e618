"""Numbers as people read them."""

from datetime import timedelta


def seconds(value: float) -> str:
    """`0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`."""
    if value < 1:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def age(value: timedelta) -> str:
    """`40 s`, `12 min`, `5 h`, `9 days`: one figure is enough for an age."""
    whole = int(value.total_seconds())
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if whole >= 2 * size or (whole >= size and unit != "days"):
            return f"{whole // size} {unit}"
    return f"{whole} s"


def size(value: int) -> str:
    """Bytes in binary units: `812 bytes`, `1.5 MiB`."""
    amount = float(value)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            return f"{value} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError  # the loop ends at TiB

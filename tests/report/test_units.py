"""Numbers as people read them."""

from datetime import timedelta

import pytest

from trainfeed.report import units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0.0 s"),
        (0.44, "0.4 s"),
        (1, "1 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185, "3 min 05 s"),
        (3599.6, "1 h 00 min"),
        (7620, "2 h 07 min"),
    ],
)
def test_seconds(value: float, text: str) -> None:
    assert units.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (timedelta(seconds=40), "40 s"),
        (timedelta(minutes=1), "1 min"),
        (timedelta(hours=5, minutes=50), "5 h"),
        (timedelta(hours=47), "47 h"),
        (timedelta(days=9, hours=3), "9 days"),
    ],
)
def test_age(value: timedelta, text: str) -> None:
    assert units.age(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1536, "1.5 KiB"),
        (5 * 1024**4, "5.0 TiB"),
        (2**60, "1048576.0 TiB"),
    ],
)
def test_size(value: int, text: str) -> None:
    assert units.size(value) == text

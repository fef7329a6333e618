"""Quantities as sentences say them."""

from decimal import Decimal

import pytest

from trainfeed.decide import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (39_000, "39 KB"),
        (35_285.9, "35 KB"),
        (1_500_000, "1.5 MB"),
        (999_900, "1 MB"),
        (54 * 10**9, "54 GB"),
        (1.2e12, "1.2 TB"),
        (3.04e12, "3 TB"),
        (2e15, "2 PB"),
        (2e18, "2,000 PB"),
    ],
)
def test_bytes(value, text):
    assert words.si_bytes(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (2.5, "2.5"),
        (840, "840"),
        (30_607, "30,607"),
        (1_530_350, "1.5 million"),
        (2e7, "20 million"),
    ],
)
def test_counts(value, text):
    assert words.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (185, "3 min 5 s"),
        (3600, "1 h"),
        (7620, "2 h 7 min"),
        (90_000, "25 h"),
        (200_000, "2 days 7 h"),
    ],
)
def test_times(value, text):
    assert words.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "$0.00"),
        ("0.00001", "under $0.0001"),
        ("0.0042", "$0.0042"),
        ("0.05", "$0.05"),
        ("0.441", "$0.44"),
        ("168", "$168.00"),
        ("12345.6", "$12,345.60"),
    ],
)
def test_money(value, text):
    assert words.money(Decimal(value)) == text

"""Units as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainfeed.workload import units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("54 GB", 54_000_000_000),
        ("54GB", 54_000_000_000),
        ("54 GiB", 57_982_058_496),
        ("39 KB", 39_000),
        ("39 kB", 39_000),
        ("1.2 TiB", 1_319_413_953_331),
        ("1,234 B", 1_234),
        ("1_234 bytes", 1_234),
        (".5 MB", 500_000),
        (" 2 tb ", 2_000_000_000_000),
    ],
)
def test_a_size_is_read(text, expected):
    assert units.size(text) == expected


@pytest.mark.parametrize(
    "text", ["54", "GB", "54 G", "54 Gb/s", "-1 GB", "1e3 GB", "", "1,2 TB", "1 GB 2 MB"]
)
def test_what_is_no_size_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="like 54 GB"):
        units.size(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (54_000_000_000, "54 GB"),
        (54 * 2**30, "54 GiB"),
        (1_500, "1.5 KB"),
        (1_536, "1.5 KiB"),
        (2**20, "1 MiB"),
        (1_234_567, "1234.567 KB"),
        (1_234_567_891, "1234567.891 KB"),
        (12_345_678_901, "12345678.901 KB"),
        (999, "999 B"),
        (0, "0 B"),
    ],
)
def test_a_size_is_written_in_the_unit_it_was_meant_in(value, expected):
    assert units.write_size(value) == expected


@given(st.integers(0, 10**18))
def test_a_written_size_reads_back_as_the_same(value):
    assert units.size(units.write_size(value)) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90 s", 90), ("1.5 h", 5400), ("1 h 20 min", 4800), ("1h20min", 4800), ("2 days", 172_800)],
)
def test_a_time_is_read(text, expected):
    assert units.duration(text) == expected


@pytest.mark.parametrize("text", ["90", "1 hour and 2 minutes", "h", "5 weeks", "", "-5 s"])
def test_what_is_no_time_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="like 1 h 20 min"):
        units.duration(text)

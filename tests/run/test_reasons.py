"""Reasons of AWS, cut to what helps."""

import pytest

from trainfeed.run.reasons import shorten

MANY = [
    f"ml.{family}.{size}" for family in ("m5", "c5", "p3", "g5") for size in ("xlarge", "2xlarge", "4xlarge")
]
FAULT = (
    "1 validation error detected: Value '{given}' at 'resourceConfig.instanceType' failed to satisfy "
    "constraint: Member must satisfy enum value set: [{values}]"
)


@pytest.mark.parametrize(
    ("reason", "short"),
    [
        ("AlgorithmError: no labels.csv, exit code: 1", "AlgorithmError: no labels.csv, exit code: 1"),
        ("Rate exceeded (Service: SageMaker, Status Code: 400, Request ID: 1-2)", "Rate exceeded"),
        ("Too much (Service: Fsx; Status Code: 400; Request ID: 1) (SDK Attempt Count: 1)", "Too much"),
        ("no file (train.csv)", "no file (train.csv)"),
        (FAULT.format(given="x", values="File, Pipe"), FAULT.format(given="x", values="File, Pipe")),
        (
            FAULT.format(given="ml.m5.xlrage", values=", ".join(MANY)),
            FAULT.format(
                given="ml.m5.xlrage",
                values="ml.m5.xlarge, ml.m5.4xlarge, ml.m5.2xlarge, ml.g5.xlarge and 8 more",
            ),
        ),
    ],
)
def test_what_is_cut(reason: str, short: str) -> None:
    assert shorten(reason) == short


def test_a_list_that_was_cut_short_itself() -> None:
    text = FAULT.format(given="ml.m5.xlrage", values=", ".join(MANY))[:-20]
    assert shorten(text).endswith(" more")
    assert "ml.m5.xlarge" in shorten(text)

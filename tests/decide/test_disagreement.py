"""Where chart and estimate differ, and why the answer says so."""

from dataclasses import replace
from datetime import date

import pytest

from trainfeed.decide import Prefer, recommend
from trainfeed.prices import PriceBook
from trainfeed.sources import SourceKind
from trainfeed.workload import (
    Access,
    EfsState,
    EfsThroughput,
    Location,
    S3DataType,
    SecondsPerEpoch,
    Workload,
    parse,
)

BOOK, ON = PriceBook.shipped(), date(2026, 12, 1)
GB = 10**9
SMALL_FILES = Workload(
    size_bytes=54 * GB,
    files=1_530_350,
    instance_type="ml.g5.2xlarge",
    consumption=SecondsPerEpoch(seconds=4650),
    packable=False,
)
LARGE = replace(SMALL_FILES, size_bytes=500 * GB)
SLOW_MODEL = replace(LARGE, consumption=SecondsPerEpoch(seconds=80_000))
MANIFEST = replace(SLOW_MODEL, size_bytes=120 * GB, files=1000, s3_data_type=S3DataType.MANIFEST)
FEW_LARGE = replace(
    SMALL_FILES, size_bytes=3 * GB, files=24, consumption=SecondsPerEpoch(seconds=2400), epochs=3
)
RANDOM = replace(LARGE, files=5000, access=Access.RANDOM, epochs=20)
SLOW_EFS = replace(
    SMALL_FILES,
    location=Location.EFS,
    efs=EfsState(stored_bytes=54 * GB, throughput=EfsThroughput.PROVISIONED, provisioned_mib_per_second=1),
)

CASES = [
    (LARGE, SourceKind.LUSTRE, SourceKind.LUSTRE, ""),
    (SLOW_MODEL, SourceKind.LUSTRE, SourceKind.S3_FAST_FILE, "The model is slower than the stream from S3"),
    (
        MANIFEST,
        SourceKind.S3_FAST_FILE,
        SourceKind.S3_FILE,
        "FastFile, which is ruled out: FastFile mode reads",
    ),
    (FEW_LARGE, SourceKind.S3_FILE, SourceKind.S3_FAST_FILE, "hardly a difference"),
    (RANDOM, SourceKind.S3_FAST_FILE, SourceKind.LUSTRE, "this job reads at random"),
]


@pytest.mark.parametrize(("workload", "chart", "chosen", "said"), CASES)
def test_the_answer_says_why_it_is_not_the_charts(workload, chart, chosen, said):
    answer = recommend(workload, BOOK, on=ON)
    assert (answer.chart, answer.chosen.source) == (chart, chosen)
    assert bool(answer.disagreement) is (chart is not chosen)
    assert said in answer.disagreement


def test_efs_that_is_too_slow_leads_on_through_the_chart():
    answer = recommend(SLOW_EFS, BOOK, on=ON, flips=False)
    enough = answer.path[1]
    assert enough.answer == "no"
    assert "where data is local" in enough.why
    assert len(answer.path) > 2


def test_within_its_range_the_estimate_takes_one_of_the_charts_ways():
    answer = recommend(SMALL_FILES, BOOK, on=ON, flips=False)
    assert len(answer.ends) == 2
    assert answer.end in answer.ends
    assert answer.chosen.source is answer.chart
    assert answer.disagreement == ""


def test_packed_files_are_chosen_only_if_they_may_be_packed():
    may = recommend(replace(LARGE, packable=True), BOOK, on=ON, flips=False)
    may_not = recommend(LARGE, BOOK, on=ON, flips=False)
    assert may.chosen.packed
    assert may.disagreement == ""
    assert not any(option.packed for option in may_not.ranking)
    assert may_not.packing is None


@pytest.mark.parametrize("prefer", Prefer)
def test_pipe_never_stands_before_fast_file(prefer):
    ranking = [
        option.source for option in recommend(SLOW_MODEL, BOOK, on=ON, prefer=prefer, flips=False).ranking
    ]
    assert ranking.index(SourceKind.S3_FAST_FILE) < ranking.index(SourceKind.S3_PIPE)


@pytest.mark.parametrize("prefer", [Prefer.COST, Prefer.TIME])
def test_what_is_dearer_and_slower_is_not_chosen_for_a_shorter_download(prefer):
    workload = parse(
        {
            "size": "5 TB",
            "file_size": "256 MB",
            "epochs": 8,
            "instance_type": "ml.g5.12xlarge",
            "instance_count": 4,
            "region": "us-west-2",
            "consumption": "800 MB/s",
        }
    )
    chosen, *others = recommend(workload, BOOK, on=ON, prefer=prefer, flips=False).ranking
    assert chosen.source is SourceKind.S3_FAST_FILE
    (lustre,) = (option for option in others if option.source is SourceKind.LUSTRE)
    assert chosen.price < lustre.price
    assert chosen.estimate.total_seconds < lustre.estimate.total_seconds


def test_what_runs_longer_than_a_job_may_is_ruled_out():
    month = replace(SMALL_FILES, consumption=SecondsPerEpoch(seconds=27 * 86_400))
    answer = recommend(month, BOOK, on=ON, flips=False)
    assert any("SOURCE-RUNTIME" in warning for warning in answer.warnings)
    longer = recommend(replace(month, epochs=2), BOOK, on=ON, flips=False)
    assert longer.chosen is None
    assert {found.rule.id for each in longer.verdicts for found in each.ruled_out} == {
        "SOURCE-RUNTIME",
        "SOURCE-EFS-DATA",
    }


def test_a_file_system_beyond_the_default_quota_is_warned_of():
    huge = replace(RANDOM, size_bytes=150_000 * GB, consumption=None, instance_count=64)
    answer = recommend(huge, BOOK, on=ON, prefer=Prefer.TIME, flips=False)
    assert answer.chosen.source is SourceKind.LUSTRE
    assert any("SOURCE-LUSTRE-QUOTA" in warning for warning in answer.warnings)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"region": "us-esat-1"}, "The Region us-esat-1 is not known here. Did you mean us-east-1?"),
        ({"instance_type": "ml.g5.2xlrage"}, "ml.g5.2xlrage is not known here. Did you mean ml.g5.2xlarge?"),
        ({"region": "xx-new-9"}, ""),
        ({"region": "eu-west-1"}, ""),
        ({}, ""),
    ],
)
def test_a_slip_of_the_pen_is_the_first_warning(stated, said):
    first, *others = recommend(
        replace(SMALL_FILES, consumption=None, **stated), BOOK, on=ON, flips=False
    ).warnings
    assert said in first
    assert ("Did you mean" in first) is bool(said)
    assert not any("Did you mean" in each for each in others)


def test_what_costs_far_more_than_the_cheapest_says_so():
    dear = recommend(SMALL_FILES, BOOK, on=ON, prefer=Prefer.TIME, flips=False)
    assert dear.chosen.kept
    assert any("times as much as the cheapest way" in each for each in dear.warnings)
    assert any("already made and filled" in each for each in dear.warnings)
    cheap = recommend(SMALL_FILES, BOOK, on=ON, flips=False)
    assert not any("times as much" in each for each in cheap.warnings)


@pytest.mark.parametrize(
    ("instance_type", "region", "hourly", "said"),
    [
        ("ml.p5.4xlarge", "us-east-1", 63.296 / 12, "ml.p5.48xlarge in proportion to virtual CPUs"),
        ("ml.p4d.24xlarge", "xx-new-9", 25.251, "another Region's price"),
        ("ml.x9.new", "us-east-1", 1.515, "ml.g5.2xlarge for the instance, which may be far off"),
    ],
)
def test_a_price_is_borrowed_within_the_family(instance_type, region, hourly, said):
    workload = replace(SMALL_FILES, instance_type=instance_type, region=region)
    answer = recommend(workload, BOOK, on=ON, flips=False)
    (line,) = (item for item in answer.chosen.compared.line_items if item.name.endswith(" training"))
    assert float(line.rate) == pytest.approx(hourly)
    assert any(said in each for each in answer.warnings)


@pytest.mark.parametrize(
    ("stated", "warned"),
    [
        ({}, True),
        ({"volume_size_gib": 200}, False),
        ({"instance_type": "ml.g5.2xlarge"}, False),
        # FastFile is far cheaper there, whatever the volume.
        ({"instance_type": "ml.p3.2xlarge"}, False),
        ({"size_bytes": 400 * GB}, False),
    ],
)
def test_a_volume_that_would_be_faster_is_named(stated, warned):
    workload = replace(
        SMALL_FILES,
        files=1000,
        instance_type="ml.p3.8xlarge",
        epochs=20,
        consumption=SecondsPerEpoch(seconds=1),
    )
    workload = replace(workload, **{"size_bytes": 90 * GB, **stated})
    answer = recommend(workload, BOOK, on=ON, prefer=Prefer.SIMPLICITY, flips=False)
    assert any("volume of 334 GiB is faster" in each for each in answer.warnings) is warned

"""The conclusions of the AWS post's case study, from its own workloads."""

from dataclasses import replace
from datetime import date

import pytest

from trainfeed.decide import Dimension, Prefer, recommend
from trainfeed.estimate.calibration import RERUN, jobs
from trainfeed.prices import PriceBook
from trainfeed.sources import SourceKind
from trainfeed.workload import SecondsPerEpoch, Workload

BOOK, ON = PriceBook.shipped(), date(2022, 2, 23)
CASE = {job.scenario: job.workload for job in jobs() if job.measured_by == RERUN}


def chosen(workload, prefer=Prefer.COST, epochs=1):
    answer = recommend(replace(workload, epochs=epochs), BOOK, prefer=prefer, on=ON, flips=False)
    return answer.chosen.source


def test_small_files_small_data_lustre_is_fastest_and_more_epochs_make_file_cheapest():
    assert chosen(CASE["A"], Prefer.TIME) is SourceKind.LUSTRE
    assert chosen(CASE["A"], Prefer.SIMPLICITY) is SourceKind.S3_FILE
    answer = recommend(CASE["A"], BOOK, prefer=Prefer.COST, on=ON)
    turns = [flip for flip in answer.flips if flip.dimension is Dimension.EPOCHS]
    assert [(flip.at, flip.title) for flip in turns] == [(2, "S3 File")]
    assert chosen(CASE["A"], epochs=20) is SourceKind.S3_FILE


@pytest.mark.parametrize("scenario", ["B", "D"])
@pytest.mark.parametrize("prefer", [Prefer.COST, Prefer.TIME])
def test_large_files_stream(scenario, prefer):
    assert chosen(CASE[scenario], prefer) is SourceKind.S3_FAST_FILE


@pytest.mark.parametrize("prefer", Prefer)
def test_small_files_large_data_lustre_by_far(prefer):
    answer = recommend(CASE["C"], BOOK, prefer=prefer, on=ON, flips=False)
    best = answer.chosen
    assert best.source is SourceKind.LUSTRE
    assert all(
        other.estimate.billable_seconds > 1.5 * best.estimate.billable_seconds
        for other in answer.ranking
        if other.source is not SourceKind.LUSTRE
    )


@pytest.mark.parametrize("prefer", Prefer)
def test_several_terabytes_of_large_files_stream_and_file_takes_hours_longer(prefer):
    workload = Workload(
        size_bytes=5 * 10**12,
        files=33_000,
        instance_type="ml.p3.8xlarge",
        consumption=SecondsPerEpoch(seconds=5 * 3600),
    )
    answer = recommend(workload, BOOK, prefer=prefer, on=ON, flips=False)
    assert answer.chosen.source is SourceKind.S3_FAST_FILE
    (file,) = (option for option in answer.ranking if option.source is SourceKind.S3_FILE)
    assert file.estimate.total_seconds - answer.chosen.estimate.total_seconds > 3 * 3600

"""The estimate against the case study of the AWS post."""

from dataclasses import fields
from statistics import mean

import pytest

from trainfeed.estimate.calibration import RERUN, SCENARIOS, fit, jobs, leave_one_out, predict
from trainfeed.estimate.rates import FITTED, Rates
from trainfeed.sources import SourceKind

THREE = {SourceKind.S3_FILE, SourceKind.S3_FAST_FILE, SourceKind.LUSTRE}
RERUN_JOBS = [job for job in jobs() if job.measured_by == RERUN]


def test_there_are_twelve_jobs_measured_twice():
    assert len(jobs()) == 24
    for measured in (RERUN, "post-chart"):
        for scenario in SCENARIOS:
            found = [job for job in jobs() if (job.measured_by, job.scenario) == (measured, scenario)]
            assert {job.source for job in found} == THREE


def test_there_are_at_most_eight_fitted_constants():
    assert len(fields(Rates)) <= 8


def test_the_constants_in_use_are_those_that_are_fitted():
    found = fit(RERUN_JOBS)
    for each in fields(Rates):
        assert getattr(FITTED, each.name) == pytest.approx(getattr(found, each.name), rel=5e-3), each.name


@pytest.mark.parametrize("job", RERUN_JOBS, ids=lambda job: f"{job.scenario}-{job.source}")
def test_billable_time_is_predicted_within_a_tenth(job):
    assert abs(predict(job).error) < 0.1


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_sources_are_ordered_as_measured_where_they_differ_by_a_tenth(scenario):
    found = [predict(job) for job in RERUN_JOBS if job.scenario == scenario]
    apart = [(fast, slow) for fast in found for slow in found if slow.job.billable > 1.1 * fast.job.billable]
    assert all(fast.billable < slow.billable for fast, slow in apart)
    assert bool(apart) == (scenario in "AC")


def test_a_scenario_is_predicted_by_the_others():
    found = leave_one_out()
    assert len(found) == 12
    assert mean(abs(each.error) for each in found) < 0.1


def test_no_fitted_constant_is_idle():
    for each in fields(Rates):
        changed = Rates(
            **{
                other.name: getattr(FITTED, other.name) * (1.3 if other is each else 1)
                for other in fields(Rates)
            }
        )
        assert any(predict(job, changed) != predict(job) for job in RERUN_JOBS), each.name

"""Fits the eight measured constants to the case study of the AWS post, and says how well they predict it.

`case_study.csv` holds its twelve jobs twice: as the authors measured them again in August 2022 (means of
three runs, in result_analysis/analyze-and-plot-benchmarks.ipynb of commit 2abdf69 of
https://github.com/aws-samples/sagemaker-bencher), and as read off the post's chart (doc/sm_analysis_blog.png
there; within 3 s for A and B, within 80 s for C and D). Only the first are fitted. One epoch of ResNet-50 on
ml.p3.2xlarge with a volume of 500 GB and 8 reader threads, over 30,607 images (A, B) or 50 copies of them
(C, D), as JPEG files (A, C) or packed in TFRecord files (B, D). The post's "54 GB" are GiB: its 500 files of
110 MB and 1.5 million of 39 KB say so.

What the model itself takes is no constant of ours but the workload's own: the images a second of File mode,
whose data is local. The file system was there before the jobs and used by all repetitions, so it counts as
kept, its files loaded.
"""

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from trainfeed.estimate.rates import FITTED, Rates
from trainfeed.estimate.result import Estimate, LustrePlan, PhaseName
from trainfeed.estimate.sources import estimate
from trainfeed.sources import SourceKind
from trainfeed.workload import SamplesPerSecond, Workload

RERUN = "rerun-2022-08"
SCENARIOS = ("A", "B", "C", "D")
#: Where the fit starts, and stays if the jobs do not say otherwise: what is documented or commonly seen.
_EXPECTED = Rates(
    image=180.0,
    framework=60.0,
    channel=10.0,
    file_each=0.01,
    file_bytes=200e6,
    fast_file_listed=5500.0,
    fast_file_open=0.05,
    walked=5500.0,
)
#: What it costs to leave the expected value, against a miss of a job's billable time: very little.
_PULL = 0.02
#: Weight of download and training time beside billable time, which is what is judged.
_PARTS = 0.3


@dataclass(frozen=True, kw_only=True)
class Job:
    """A measured job. Times are in seconds; `training` is without set-up."""

    measured_by: str
    scenario: str
    source: SourceKind
    workload: Workload
    download: float
    training: float
    billable: float


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """A measured job and what the estimate says of it, in seconds."""

    job: Job
    download: float
    training: float
    billable: float

    @property
    def error(self) -> float:
        """How much more billable time is predicted than was measured: 0.1 is 10% more."""
        return self.billable / self.job.billable - 1


@cache
def jobs() -> tuple[Job, ...]:
    """The measured jobs, in the order of the file."""
    text = files("trainfeed.estimate").joinpath("case_study.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    local = {
        (row["measured_by"], row["scenario"]): int(row["samples"]) / float(row["training_s"])
        for row in rows
        if row["source"] == SourceKind.S3_FILE
    }
    return tuple(
        Job(
            measured_by=row["measured_by"],
            scenario=row["scenario"],
            source=SourceKind(row["source"]),
            workload=_workload(row, local[row["measured_by"], row["scenario"]]),
            download=float(row["download_s"]),
            training=float(row["training_s"]),
            billable=float(row["billable_s"]),
        )
        for row in rows
    )


def _workload(row: dict[str, str], images_per_second: float) -> Workload:
    return Workload(
        size_bytes=int(row["size_bytes"]),
        files=int(row["files"]),
        instance_type="ml.p3.2xlarge",
        volume_size_gib=500,
        loaders=8,
        consumption=SamplesPerSecond(rate=images_per_second, samples=int(row["samples"])),
    )


def predict(job: Job, rates: Rates = FITTED) -> Prediction:
    """What the estimate says of a measured job."""
    found = estimate(job.workload, job.source, plan=LustrePlan(kept=True), rates=rates)
    return Prediction(
        job=job,
        download=_seconds(found, PhaseName.DOWNLOAD),
        training=_seconds(found, PhaseName.FIRST_EPOCH),
        billable=found.billable_seconds,
    )


def _seconds(found: Estimate, name: PhaseName) -> float:
    return sum(phase.seconds for phase in found.phases if phase.name is name)


def fit(measured: Iterable[Job]) -> Rates:
    """The rates that predict measured jobs best: least squares of the logarithms."""
    given = tuple(measured)

    def misses(logs: Sequence[float]) -> list[float]:
        rates = _rates(logs)
        found = [_PULL * (log - expected) for log, expected in zip(logs, start, strict=True)]
        for job in given:
            predicted = predict(job, rates)
            found.append(math.log(predicted.billable / job.billable))
            found.append(_PARTS * math.log(predicted.training / job.training))
            found.append(_PARTS * math.log(predicted.download / job.download))
        return found

    start = _logs(_EXPECTED)
    return _rates(_least_squares(misses, start))


def leave_one_out() -> tuple[Prediction, ...]:
    """Each job of the rerun predicted by rates fitted without any job of its scenario."""
    rerun = [job for job in jobs() if job.measured_by == RERUN]
    return tuple(
        predict(job, rates)
        for scenario in SCENARIOS
        for rates in [fit(job for job in rerun if job.scenario != scenario)]
        for job in rerun
        if job.scenario == scenario
    )


def _logs(rates: Rates) -> list[float]:
    return [math.log(getattr(rates, each.name)) for each in fields(Rates)]


def _rates(logs: Sequence[float]) -> Rates:
    return Rates(**{each.name: math.exp(log) for each, log in zip(fields(Rates), logs, strict=True)})


def _least_squares(misses: Callable[[Sequence[float]], list[float]], start: list[float]) -> list[float]:
    """Levenberg and Marquardt's method, with slopes taken by small steps."""
    at, damping, step = list(start), 1e-3, 1e-5
    now = misses(at)
    for _ in range(200):
        slopes = []
        for place in range(len(at)):
            moved = [*at[:place], at[place] + step, *at[place + 1 :]]
            slopes.append([(new - old) / step for new, old in zip(misses(moved), now, strict=True)])
        matrix = [
            [_dot(row, column) + damping * (place == other) for other, column in enumerate(slopes)]
            for place, row in enumerate(slopes)
        ]
        change = _solve(matrix, [-_dot(row, now) for row in slopes])
        tried = [old + new for old, new in zip(at, change, strict=True)]
        then = misses(tried)
        if _dot(then, then) < _dot(now, now):
            at, now, damping = tried, then, damping / 3
        else:
            damping *= 5
        if max(map(abs, change)) < 1e-9 or damping > 1e9:
            break
    return at


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Linear equations of a positive definite matrix, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for place in range(size):
        for below in range(place + 1, size):
            factor = rows[below][place] / rows[place][place]
            rows[below] = [a - factor * b for a, b in zip(rows[below], rows[place], strict=True)]
    found = [0.0] * size
    for place in reversed(range(size)):
        known = _dot(rows[place][place + 1 : size], found[place + 1 :])
        found[place] = (rows[place][size] - known) / rows[place][place]
    return found

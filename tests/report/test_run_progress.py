"""How a run looks, live and line by line."""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from trainfeed.report import progress
from trainfeed.run.follow import Ending, Phase, Progress, Result, TrainingJob
from trainfeed.run.launch import Run

RUN = Run(name="training-20261201-161500-ab12", execution_arn="arn")
START = datetime(2026, 12, 1, 16, 15, tzinfo=UTC)
JOB = TrainingJob(
    name=RUN.name,
    status="Completed",
    billable_seconds=65,
    model="s3://bucket/outputs/model.tar.gz",
    instances="1 x ml.m5.xlarge",
    failure_reason="",
)


def phase(name: str, start: int, end: int | None, message: str = "") -> Phase:
    ended = None if end is None else START + timedelta(seconds=end)
    return Phase(name=name, started=START + timedelta(seconds=start), ended=ended, message=message)


def story(result: Result) -> list[Progress]:
    waiting = phase("Preparing", 0, None, "import of /data is EXECUTING: 3 of 9 files")
    waited = phase("Preparing", 0, 7)
    return [
        Progress(run=RUN, phases=(waiting,)),
        Progress(run=RUN, phases=(waited, phase("Training", 7, None))),
        Progress(run=RUN, phases=(waited, phase("Training", 7, 72)), result=result),
    ]


SUCCEEDED = Result(ending=Ending.SUCCEEDED, reason="", output={}, job=JOB)
FAILED = Result(ending=Ending.FAILED, reason="AlgorithmError: no such file", output={}, job=JOB)
NEVER_STARTED = Result(ending=Ending.FAILED, reason="the import of /data failed", output={}, job=None)
STOPPED = Result(ending=Ending.STOPPED, reason="Stopped by hand", output={}, job=JOB)


def written(result: Result, *, terminal: bool = False) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None)
    end = progress.show(story(result), console)
    progress.summary(end, console, log=["Traceback", "  in train.py"])
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_lines_tell_what_is_waited_for_and_how_long_each_phase_took() -> None:
    assert written(SUCCEEDED).splitlines() == [
        "Preparing ... import of /data is EXECUTING: 3 of 9 files",
        "Preparing         7 s",
        "Training ...",
        "Training          1 min 05 s",
        "Succeeded in 1 min 12 s.",
        "Billable  1 min 05 s on 1 x ml.m5.xlarge",
        "Model     s3://bucket/outputs/model.tar.gz",
        "Log       trainfeed logs training-20261201-161500-ab12",
    ]


def test_a_terminal_ends_with_the_table_of_phases() -> None:
    text = written(SUCCEEDED, terminal=True)
    rows = [line[line.index("✓") :].split() for line in text.splitlines() if "✓" in line]
    assert rows[-2:] == [["✓", "Preparing", "7", "s"], ["✓", "Training", "1", "min", "05", "s"]]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_warning_is_shown_once_for_good(*, terminal: bool) -> None:
    before, *after = story(SUCCEEDED)
    warned = [before, *(replace(one, warnings=("/data is empty",)) for one in after)]
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None)
    progress.show(warned, console)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue().rpartition("Preparing")[2] if terminal else console.file.getvalue()
    assert shown.count("Warning: /data is empty") == 1


@pytest.mark.parametrize(
    ("result", "present", "absent"),
    [
        (FAILED, ["Failed after 1 min 12 s: AlgorithmError: no such file", "  in train.py"], ["Model"]),
        (NEVER_STARTED, ["Failed after 1 min 12 s: the import of /data failed"], ["Model", "Billable"]),
        (STOPPED, ["Stopped after 1 min 12 s: Stopped by hand"], ["Model"]),
        (SUCCEEDED, ["Succeeded in"], ["train.py"]),
    ],
)
def test_the_summary_says_why(result: Result, present: list[str], absent: list[str]) -> None:
    text = written(result)
    assert all(part in text for part in present)
    assert not any(part in text for part in absent)


def test_a_run_that_has_not_ended_has_no_summary() -> None:
    with pytest.raises(ValueError, match="has not ended"):
        progress.summary(story(SUCCEEDED)[0], Console(file=io.StringIO()))

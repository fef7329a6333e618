"""Following a run from its first step to its end, by asking AWS now and then."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from botocore.exceptions import ClientError

from trainfeed.run import imports, logs
from trainfeed.run.aws import Client, code
from trainfeed.run.history import answers, json_object
from trainfeed.run.launch import Run
from trainfeed.run.reasons import shorten

#: The phase before the training job exists: file system, links and imports must be ready first.
PREPARING = "Preparing"
#: What a job is billed for; the wait for an instance is free.
#: Source: BillableTimeInSeconds of DescribeTrainingJob.
BILLED = frozenset({"Downloading", "Training", "Uploading"})

_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.5, 15.0, 1 / 30
_FINAL_STATUS = frozenset({"Completed", "Failed", "Stopped"})


class Ending(StrEnum):
    """How a run ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A stretch of a run.

    Attributes:
        name: `Preparing`, or a secondary status of the training job (`Downloading`).
        ended: None while it lasts.
        message: what AWS says about it.
    """

    name: str
    started: datetime
    ended: datetime | None = None
    message: str = ""

    def seconds(self, now: datetime) -> float:
        """How long it has lasted."""
        return ((self.ended or now) - self.started).total_seconds()


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """What is said of a training job when it has ended.

    Attributes:
        billable_seconds: on each instance; None if it never reached one.
        model: the S3 address of the model, None if there is none.
        instances: such as `2 x ml.m5.xlarge`.
        log_group: where its log is.
    """

    name: str
    status: str
    billable_seconds: int | None
    model: str | None
    instances: str
    failure_reason: str
    log_group: str = logs.GROUP


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a run ended, and what it left.

    Attributes:
        reason: why it did not succeed; empty if it did.
        output: what the state machine returned.
        job: the training job; None if the run ended before there was one.
    """

    ending: Ending
    reason: str
    output: Mapping[str, Any]
    job: TrainingJob | None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A run as it stands; the last one has a result.

    Attributes:
        warnings: what is odd about its data, known once the imports are over.
    """

    run: Run
    phases: tuple[Phase, ...]
    result: Result | None = None
    warnings: tuple[str, ...] = ()


def follow(client: Client, run: Run, *, pause: Callable[[float], None] = time.sleep) -> Iterator[Progress]:
    """Yield how a run stands, again and again, until it has ended and its training job too.

    The pauses grow from half a second to fifteen as the run gets longer.
    """
    waited = 0.0
    warnings: tuple[str, ...] | None = None
    while True:
        progress = observe(client, run)
        if warnings is None and (len(progress.phases) > 1 or progress.result):
            warnings = imports.warnings(client, run)
        yield replace(progress, warnings=warnings or ())
        if progress.result is not None:
            return
        delay = min(_LONGEST_PAUSE, _FIRST_PAUSE + waited * _GROWTH)
        pause(delay)
        waited += delay


def observe(client: Client, run: Run) -> Progress:
    """How a run stands now."""
    states = client("stepfunctions")
    execution = states.describe_execution(executionArn=run.execution_arn)
    job = _describe_job(client, run.name)
    running = execution["status"] == "RUNNING"
    waiting = Phase(
        name=PREPARING,
        started=execution["startDate"],
        ended=job["CreationTime"] if job else execution.get("stopDate"),
        message=_waits_for(client, run) if running and job is None else "",
    )
    phases = (waiting, *job_phases(job)) if job else (waiting,)
    if running or (job and job["TrainingJobStatus"] not in _FINAL_STATUS):
        return Progress(run=run, phases=phases)
    return Progress(run=run, phases=phases, result=_result(execution, job))


def job_phases(job: Mapping[str, Any]) -> tuple[Phase, ...]:
    """The phases of a training job as DescribeTrainingJob tells them."""
    return tuple(
        Phase(
            name=step["Status"],
            started=step["StartTime"],
            ended=step.get("EndTime"),
            message=step.get("StatusMessage", ""),
        )
        for step in job.get("SecondaryStatusTransitions", ())
        if step["Status"] not in _FINAL_STATUS
    )


def describe(job: Mapping[str, Any]) -> TrainingJob:
    """The figures of a training job that has ended, from DescribeTrainingJob."""
    resources = job["ResourceConfig"]
    return TrainingJob(
        name=job["TrainingJobName"],
        status=job["TrainingJobStatus"],
        billable_seconds=job.get("BillableTimeInSeconds"),
        model=job.get("ModelArtifacts", {}).get("S3ModelArtifacts"),
        instances=f"{resources.get('InstanceCount', 1)} x {resources.get('InstanceType', 'instance')}",
        failure_reason=job.get("FailureReason", ""),
    )


def _describe_job(client: Client, name: str) -> dict[str, Any] | None:
    try:
        return client("sagemaker").describe_training_job(TrainingJobName=name)
    except ClientError as error:
        # SageMaker says so of a job that does not exist, or does not exist yet.
        if code(error) in ("ValidationException", "ResourceNotFound"):
            return None
        raise


def _waits_for(client: Client, run: Run) -> str:
    """What the newest answer in the history says about the file system, its S3 link or its import."""
    for answer in answers(client, run):
        if systems := answer.get("FileSystems"):
            return f"file system {systems[0].get('FileSystemId', '')} is {systems[0].get('Lifecycle')}"
        if links := answer.get("Associations"):
            pending = [link for link in links if link.get("Lifecycle") != "AVAILABLE"]
            said = ", ".join(
                f"{link.get('FileSystemPath', '')} is {link.get('Lifecycle')}" for link in pending
            )
            return f"S3 link {said}" if pending else "the S3 links are there"
        tasks = answer.get("DataRepositoryTasks", ())
        if imported := [task for task in tasks if task.get("Type") == imports.IMPORT]:
            return "; ".join(map(_import_count, imported))
    return ""


def _import_count(task: Mapping[str, Any]) -> str:
    status = task.get("Status", {})
    done, total = status.get("SucceededCount") or 0, status.get("TotalCount") or 0
    # FSx counts while it lists the bucket: 0 is an answer only of an import that is over.
    over = task.get("Lifecycle") == "SUCCEEDED"
    state = "has succeeded" if over else f"is {task.get('Lifecycle')}"
    counts = f": {done:,} of {total:,} files" if total or over else ""
    return f"import of {', '.join(task.get('Paths', ())) or 'the S3 link'} {state}{counts}"


def _result(execution: Mapping[str, Any], job: Mapping[str, Any] | None) -> Result:
    done = describe(job) if job else None
    match execution["status"]:
        case "SUCCEEDED":
            ending, reason = Ending.SUCCEEDED, ""
        case "ABORTED":
            ending, reason = Ending.STOPPED, execution.get("cause") or "It was stopped."
        case "TIMED_OUT":
            ending, reason = Ending.FAILED, "The state machine ran out of time."
        case _:
            ending, reason = Ending.FAILED, (done.failure_reason if done else "") or _cause(execution)
    return Result(
        ending=ending, reason=shorten(reason), output=json_object(execution.get("output", "")), job=done
    )


def _cause(execution: Mapping[str, Any]) -> str:
    """The state machine's own words, or those of the service it quotes."""
    cause = execution.get("cause", "")
    quoted = json_object(cause)
    return quoted.get("FailureReason") or cause or execution.get("error") or "AWS gives no reason."

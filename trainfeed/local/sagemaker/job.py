"""What SageMaker knows of a training job: its request, its statuses and its times."""

import copy
import threading
from datetime import UTC, datetime
from functools import cache
from math import ceil
from queue import SimpleQueue
from typing import Any

from trainfeed.local.shapes import operation

_STATUS = {
    "Stopping": "Stopping",
    "Completed": "Completed",
    "Failed": "Failed",
    "Stopped": "Stopped",
    "MaxRuntimeExceeded": "Stopped",
}

_NOT_WHILE_STOPPING = ("Downloading", "Training", "Stopping")

# The sentences that SageMaker shows with each status.
_MESSAGES = {
    "Starting": "Preparing the instances for training",
    "Downloading": "Downloading input data",
    "Training": "Training image download completed. Training in progress.",
    "Uploading": "Uploading generated training model",
    "Stopping": "Stopping the training job",
    "Completed": "Training job completed",
    "Failed": "Training job failed",
    "Stopped": "Training job stopped",
    "MaxRuntimeExceeded": "Training job runtime exceeded MaxRuntimeInSeconds provided",
}

#: What a running job is told: to stop, or that the local AWS ends.
STOP, ABANDON = object(), object()


@cache
def _repeated() -> frozenset[str]:
    """What DescribeTrainingJob repeats of the request."""
    asked = operation("sagemaker", "CreateTrainingJob").input_shape
    answered = operation("sagemaker", "DescribeTrainingJob").output_shape
    return frozenset(getattr(asked, "members", ())) & frozenset(getattr(answered, "members", ()))


class TrainingJob:
    """A training job as the API shows it. Safe to read and change from several threads.

    Attributes:
        request: the CreateTrainingJob request, with the defaults that SageMaker fills in, without Tags.
        arn: the job's ARN.
        inbox: what the thread that runs the job waits for: STOP, ABANDON, or the name of an instance
            that ended with its exit code.
        abandoned: whether the local AWS ends and the job with it.
    """

    def __init__(self, *, request: dict[str, Any], arn: str) -> None:
        self.request = request
        self.arn = arn
        self.inbox: SimpleQueue[Any] = SimpleQueue()
        self.abandoned = False
        self._lock = threading.Lock()
        self._created = self._modified = datetime.now(UTC)
        self._transitions: list[dict[str, Any]] = []
        self._status = "InProgress"
        self._failure_reason: str | None = None
        self._started: datetime | None = None
        self._ended: datetime | None = None
        self._model: str | None = None

    @property
    def name(self) -> str:
        """TrainingJobName."""
        return self.request["TrainingJobName"]

    @property
    def status(self) -> str:
        """TrainingJobStatus."""
        return self._status

    @property
    def over(self) -> bool:
        """Whether the job has ended, well or not."""
        return self._status in ("Completed", "Failed", "Stopped")

    def abandon(self) -> None:
        """Tell the job that the local AWS ends."""
        self.abandoned = True
        self.inbox.put(ABANDON)

    def enter(self, secondary: str, *, failure_reason: str | None = None) -> bool:
        """Move to a secondary status; the status follows from it.

        Returns:
            False, with nothing changed, for a job that has ended, and for one that is being stopped when
            it would go on to Training or be stopped again.
        """
        with self._lock:
            held = self._status == "Stopping" and secondary in _NOT_WHILE_STOPPING
            if self.over or held:
                return False
            if self._status == "Stopping" and secondary == "Completed":
                secondary = "Stopped"
            now = datetime.now(UTC)
            if self._transitions:
                self._transitions[-1]["EndTime"] = now
            transition = {"Status": secondary, "StartTime": now, "StatusMessage": _MESSAGES[secondary]}
            self._status = _STATUS.get(secondary, self._status)
            if secondary == "Downloading":
                self._started = now
            if self.over:
                transition["EndTime"] = self._ended = now
            if failure_reason is not None:
                transition["StatusMessage"] = self._failure_reason = failure_reason
            self._transitions.append(transition)
            self._modified = now
            return True

    def keep_model(self, address: str) -> None:
        """Note where the model is, or would be: ModelArtifacts names it even when nothing was written."""
        self._model = address

    def describe(self) -> dict[str, Any]:
        """The answer of DescribeTrainingJob."""
        with self._lock:
            known = {name: value for name, value in self.request.items() if name in _repeated()}
            known |= {
                "TrainingJobArn": self.arn,
                "TrainingJobStatus": self._status,
                "SecondaryStatus": self._transitions[-1]["Status"],
                "SecondaryStatusTransitions": self._transitions,
                "CreationTime": self._created,
                "LastModifiedTime": self._modified,
                "TrainingStartTime": self._started,
                "TrainingEndTime": self._ended,
                "FailureReason": self._failure_reason,
            }
            if self._model is not None:
                known["ModelArtifacts"] = {"S3ModelArtifacts": self._model}
            if self._started is not None and self._ended is not None:
                # Download and upload are billed, the start is not: TrainingStartTime is where billing begins.
                seconds = max(1, ceil((self._ended - self._started).total_seconds()))
                known |= {"TrainingTimeInSeconds": seconds, "BillableTimeInSeconds": seconds}
            return copy.deepcopy({name: value for name, value in known.items() if value is not None})

    def summary(self) -> dict[str, Any]:
        """An entry of ListTrainingJobs."""
        known = self.describe()
        return {
            name: known[name]
            for name in (
                "TrainingJobName",
                "TrainingJobArn",
                "CreationTime",
                "TrainingEndTime",
                "LastModifiedTime",
                "TrainingJobStatus",
                "SecondaryStatus",
            )
            if name in known
        }

    def event(self, tags: dict[str, str]) -> dict[str, Any]:
        """The detail of the EventBridge event: the description, with times in milliseconds, and the tags."""
        return {**_in_milliseconds(self.describe()), "Tags": dict(tags)}


def _in_milliseconds(value: Any) -> Any:
    match value:
        case dict():
            return {name: _in_milliseconds(item) for name, item in value.items()}
        case list():
            return [_in_milliseconds(item) for item in value]
        case datetime():
            return int(value.timestamp() * 1000)
        case _:
            return value

"""The SageMaker API of training jobs."""

import base64
import contextvars
import copy
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.durations import Durations
from trainfeed.local.sagemaker.admission import FileSystems, admit
from trainfeed.local.sagemaker.container import can_seal
from trainfeed.local.sagemaker.job import STOP, TrainingJob
from trainfeed.local.sagemaker.lifecycle import Run, Surroundings
from trainfeed.local.service import ApiError, JsonService

_EVENT = "SageMaker Training Job State Change"
_MAX_RUNTIME = 86_400
_PAGE = 10
_MOST_TAGS = 50

# How the times of ListTrainingJobs choose: the parameter, the field of a summary, whether it must be later.
_TIMES = (
    ("CreationTimeAfter", "CreationTime", True),
    ("CreationTimeBefore", "CreationTime", False),
    ("LastModifiedTimeAfter", "LastModifiedTime", True),
    ("LastModifiedTimeBefore", "LastModifiedTime", False),
)
_SORTED_BY = {"Name": "TrainingJobName", "CreationTime": "CreationTime", "Status": "TrainingJobStatus"}


class TrainingJobs:
    """Training jobs that run on this machine.

    Attributes:
        service: the operations, to be registered and called.
    """

    def __init__(
        self,
        durations: Durations,
        state: Path,
        client: Callable[[str], Any],
        fsx: FileSystems,
        *,
        sealed: bool | None = None,
    ) -> None:
        """Have no jobs.

        Args:
            durations: how long the phases last that are not real.
            state: the folder for what jobs have on disk.
            client: gives a client of the local AWS for a service.
            fsx: the local FSx for Lustre.
            sealed: whether jobs get mounts of their own; found out by trying where it is not said.
        """
        self._durations = durations
        self._state = state
        self._client = client
        self._fsx = fsx
        self._sealed = sealed
        self._lock = threading.Lock()
        self._jobs: dict[str, TrainingJob] = {}
        self._tags: dict[str, dict[str, str]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self.service = JsonService(
            name="sagemaker",
            target_prefix="SageMaker",
            operations={
                "CreateTrainingJob": self._create,
                "DescribeTrainingJob": lambda request: self._find(request["TrainingJobName"]).describe(),
                "StopTrainingJob": self._stop,
                "ListTrainingJobs": self._list,
                "AddTags": self._add_tags,
                "ListTags": lambda request: {"Tags": _as_list(self._tags_of(request["ResourceArn"]))},
                "DeleteTags": self._delete_tags,
            },
        )

    def stop_all(self) -> None:
        """End every process of every job at once, and wait for it; jobs get no further."""
        with self._lock:
            threads, self._threads = dict(self._threads), {}
            jobs = [self._jobs[arn] for arn in threads]
        for job in jobs:
            job.abandon()
        for thread in threads.values():
            thread.join()

    def reset(self) -> None:
        """End every job and forget it."""
        self.stop_all()
        with self._lock:
            self._jobs.clear()
            self._tags.clear()

    # Operations

    def _create(self, request: dict[str, Any]) -> dict[str, Any]:
        request = copy.deepcopy(request)
        tags = {tag["Key"]: tag["Value"] for tag in request.pop("Tags", [])}
        name = request["TrainingJobName"]
        arn = _arn(name)
        self._refuse_repeated(arn)
        admit(request, client=self._client, file_systems=self._fsx)
        _fill_in(request)
        job = TrainingJob(request=request, arn=arn)
        job.enter("Starting")
        run = Run(
            job,
            Surroundings(
                durations=self._durations,
                state=self._state / ministack.account_id() / ministack.region() / name,
                client=self._client,
                file_systems=self._fsx,
                sealed=can_seal() if self._sealed is None else self._sealed,
                publish=self._publish,
            ),
        )
        with self._lock:
            self._refuse_repeated(arn)
            self._jobs[arn], self._tags[arn] = job, tags
            # The thread acts for the account and region of this request.
            context = contextvars.copy_context()
            thread = threading.Thread(
                target=context.run, args=(self._go, run, arn), name=f"training-job-{name}", daemon=True
            )
            self._threads[arn] = thread
        self._publish(job)
        thread.start()
        return {"TrainingJobArn": arn}

    def _go(self, run: Run, arn: str) -> None:
        try:
            run()
        finally:
            with self._lock:
                self._threads.pop(arn, None)

    def _stop(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self._find(request["TrainingJobName"])
        if job.enter("Stopping"):
            self._publish(job)
            job.inbox.put(STOP)
        elif job.over:
            raise ApiError(
                "ValidationException",
                f"The request was rejected because the training job is in status {job.status}.",
            )
        return {}

    def _list(self, request: dict[str, Any]) -> dict[str, Any]:
        found = [job.summary() for arn, job in sorted(self._jobs.items()) if arn.startswith(_arn(""))]
        found = [summary for summary in found if _chosen(summary, request)]
        field = _SORTED_BY[request.get("SortBy", "CreationTime")]
        found.sort(
            key=lambda summary: (summary[field], summary["TrainingJobName"]),
            reverse=request.get("SortOrder") == "Descending",
        )
        start, size = _start(request.get("NextToken")), request.get("MaxResults", _PAGE)
        page: dict[str, Any] = {"TrainingJobSummaries": found[start : start + size]}
        if start + size < len(found):
            page["NextToken"] = base64.urlsafe_b64encode(str(start + size).encode()).decode()
        return page

    def _add_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        tags = self._tags_of(request["ResourceArn"])
        merged = tags | {tag["Key"]: tag["Value"] for tag in request["Tags"]}
        if len(merged) > _MOST_TAGS:
            raise ApiError(
                "ValidationException", f"A resource has at most {_MOST_TAGS} tags; this makes {len(merged)}."
            )
        tags |= merged
        return {"Tags": _as_list(tags)}

    def _delete_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        tags = self._tags_of(request["ResourceArn"])
        for key in request["TagKeys"]:
            tags.pop(key, None)
        return {}

    # Parts

    def _find(self, name: str) -> TrainingJob:
        try:
            return self._jobs[_arn(name)]
        except KeyError:
            raise ApiError("ValidationException", "Requested resource not found.") from None

    def _tags_of(self, arn: str) -> dict[str, str]:
        try:
            return self._tags[arn]
        except KeyError:
            raise ApiError("ValidationException", "Requested resource not found.") from None

    def _refuse_repeated(self, arn: str) -> None:
        if arn in self._jobs:
            raise ApiError(
                "ResourceInUse",
                "Training job names must be unique within an AWS account and region, and a training job "
                f"with this name already exists ({arn})",
            )

    def _publish(self, job: TrainingJob) -> None:
        tags = self._tags.get(job.arn, {})
        ministack.put_event("aws.sagemaker", _EVENT, job.event(tags), [job.arn])


def _arn(name: str) -> str:
    return f"arn:aws:sagemaker:{ministack.region()}:{ministack.account_id()}:training-job/{name}"


def _fill_in(request: dict[str, Any]) -> None:
    """Give what the request leaves out the values that SageMaker gives it."""
    request.setdefault("StoppingCondition", {}).setdefault("MaxRuntimeInSeconds", _MAX_RUNTIME)
    request["ResourceConfig"].setdefault("InstanceCount", 1)
    for switch in (
        "EnableNetworkIsolation",
        "EnableInterContainerTrafficEncryption",
        "EnableManagedSpotTraining",
    ):
        request.setdefault(switch, False)


def _chosen(summary: dict[str, Any], request: dict[str, Any]) -> bool:
    if request.get("StatusEquals") not in (None, summary["TrainingJobStatus"]):
        return False
    if request.get("NameContains", "").lower() not in summary["TrainingJobName"].lower():
        return False
    if "WarmPoolStatusEquals" in request or "TrainingPlanArnEquals" in request:
        return False  # no job here has either
    return all(
        parameter not in request or (summary[field] > _moment(request[parameter])) == later
        for parameter, field, later in _TIMES
    )


def _moment(value: Any) -> datetime:
    """A time of a request: a datetime in this process, seconds since 1970 over HTTP."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return datetime.fromtimestamp(float(value), UTC)


def _start(token: str | None) -> int:
    if token is None:
        return 0
    try:
        text = base64.urlsafe_b64decode(token).decode()
    except ValueError:
        text = ""
    if not re.fullmatch(r"[0-9]+", text):
        raise ApiError("ValidationException", "The NextToken is not one that ListTrainingJobs gave.")
    return int(text)


def _as_list(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]

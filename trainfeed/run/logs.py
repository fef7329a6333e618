"""The log of a training job."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from trainfeed.run.aws import Client, code

#: Where SageMaker keeps the logs of training jobs.
GROUP = "/aws/sagemaker/TrainingJobs"


def tail(client: Client, *, log_group: str, job: str, lines: int = 20) -> tuple[str, ...]:
    """The last lines of each instance's log; empty if the job never wrote any."""
    logs = client("logs")
    found: list[str] = []
    for stream in _streams(logs, log_group, job):
        events = logs.get_log_events(
            logGroupName=log_group, logStreamName=stream, limit=lines, startFromHead=False
        )["events"]
        found += [event["message"].rstrip() for event in events]
    return tuple(found)


def whole(client: Client, job: str) -> Iterator[str]:
    """All lines of a job's log, one instance after the other, each under its name if there are several."""
    logs = client("logs")
    streams = _streams(logs, GROUP, job)
    for stream in streams:
        if len(streams) > 1:
            yield f"== {stream.removeprefix(f'{job}/')}"
        yield from _lines(logs, stream)


def _lines(logs: Any, stream: str) -> Iterator[str]:
    place = {"logGroupName": GROUP, "logStreamName": stream, "startFromHead": True}
    token: str | None = None
    while True:
        page = logs.get_log_events(**place, **({"nextToken": token} if token else {}))
        yield from (event["message"].rstrip() for event in page["events"])
        # At the end of a log its token comes back unchanged.
        if page["nextForwardToken"] == token:
            return
        token = page["nextForwardToken"]


def _streams(logs: Any, group: str, job: str) -> list[str]:
    pages = logs.get_paginator("describe_log_streams").paginate(
        logGroupName=group, logStreamNamePrefix=f"{job}/"
    )
    try:
        return [stream["logStreamName"] for page in pages for stream in page["logStreams"]]
    except ClientError as error:
        if code(error) == "ResourceNotFoundException":
            return []
        raise

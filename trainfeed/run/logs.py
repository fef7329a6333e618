"""The end of a training job's log."""

from botocore.exceptions import ClientError

from trainfeed.run.aws import Client, code


def tail(client: Client, *, log_group: str, job: str, lines: int = 20) -> tuple[str, ...]:
    """The last lines of each instance's log; empty if the job never wrote any."""
    logs = client("logs")
    try:
        streams = logs.describe_log_streams(logGroupName=log_group, logStreamNamePrefix=f"{job}/")[
            "logStreams"
        ]
    except ClientError as error:
        if code(error) == "ResourceNotFoundException":
            return ()
        raise
    found: list[str] = []
    for stream in streams:
        events = logs.get_log_events(
            logGroupName=log_group, logStreamName=stream["logStreamName"], limit=lines, startFromHead=False
        )["events"]
        found += [event["message"].rstrip() for event in events]
    return tuple(found)

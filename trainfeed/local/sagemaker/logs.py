"""What a container prints, kept in a file and in CloudWatch Logs of the local AWS."""

import time
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

GROUP = "/aws/sagemaker/TrainingJobs"

#: The longest message of CloudWatch Logs, in bytes, once the 26 that each event counts for are taken off.
#: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
_LONGEST = 1024 * 1024 - 26


class LogStream:
    """The output of one instance.

    Args:
        path: the file that is kept beside the job.
        name: the stream, `<job>/algo-1-<seconds since 1970>`.
        client: CloudWatch Logs, or None for a job whose role may not write there; it runs all the same,
            as on SageMaker.
    """

    def __init__(self, *, path: Path, name: str, client: Any | None) -> None:
        self._path = path
        self._name = name
        self._client = client
        self._rest = b""
        self._open()

    def write(self, output: bytes) -> None:
        """Keep some output; a line goes to CloudWatch once it is whole."""
        # Opened for each piece: whatever becomes of the job, no file stays open.
        with self._path.open("ab") as file:
            file.write(output)
        *lines, self._rest = (self._rest + output).split(b"\n")
        self._send(lines)

    def close(self) -> None:
        """Send what is left, a last line without its end among it."""
        self._send([self._rest])
        self._rest = b""

    def _open(self) -> None:
        if self._client is None:
            return
        for create in (
            lambda logs: logs.create_log_group(logGroupName=GROUP),
            lambda logs: logs.create_log_stream(logGroupName=GROUP, logStreamName=self._name),
        ):
            try:
                create(self._client)
            except ClientError as error:
                if error.response["Error"]["Code"] != "ResourceAlreadyExistsException":
                    raise

    def _send(self, lines: list[bytes]) -> None:
        # CloudWatch takes no empty message.
        texts = [line.rstrip(b"\r")[:_LONGEST].decode(errors="replace") for line in lines]
        now = int(time.time() * 1000)
        events = [{"timestamp": now, "message": text} for text in texts if text]
        if self._client is None or not events:
            return
        try:
            self._client.put_log_events(logGroupName=GROUP, logStreamName=self._name, logEvents=events)
        except (BotoCoreError, ClientError):
            self._client = None  # the log was deleted, or the local AWS is ending; the job goes on

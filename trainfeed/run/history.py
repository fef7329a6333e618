"""What AWS answered to the steps of a run, as its history keeps it."""

import json
from collections.abc import Iterator
from typing import Any

from trainfeed.run.aws import Client
from trainfeed.run.launch import Run

#: More than a run's steps leave after the last look at its imports.
_EVENTS = 200


def answers(client: Client, run: Run) -> Iterator[dict[str, Any]]:
    """The answers to the newest steps of a run, the newest first."""
    history = client("stepfunctions").get_execution_history(
        executionArn=run.execution_arn, reverseOrder=True, maxResults=_EVENTS, includeExecutionData=True
    )
    for event in history["events"]:
        if answer := json_object(event.get("taskSucceededEventDetails", {}).get("output", "")):
            yield answer


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in a text that may be something else, or cut short."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}

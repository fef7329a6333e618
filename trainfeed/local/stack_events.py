"""The events of stacks as CloudFormation records them, and as it sends them to EventBridge."""

import re
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.ministack import StackEvent

_STACK = "AWS::CloudFormation::Stack"

#: The states of a stack in which an operation begins; a rollback is one of its own.
_BEGINNINGS = (
    "REVIEW_IN_PROGRESS",
    "CREATE_IN_PROGRESS",
    "UPDATE_IN_PROGRESS",
    "DELETE_IN_PROGRESS",
    "ROLLBACK_IN_PROGRESS",
    "UPDATE_ROLLBACK_IN_PROGRESS",
)
_MILLISECOND = timedelta(milliseconds=1)

_Resource = tuple[str, str]


class StackEvents:
    """What CloudFormation tells of its stacks.

    MiniStack's events lack the operation they are part of, by which the CDK CLI tells the failures of this
    deployment from those of an earlier one; many have the same time; and an update has events of resources
    that it leaves alone.
    """

    def __init__(self) -> None:
        # Resources whose update has begun: whether anything changes is known only once MiniStack goes on.
        self._begun: dict[_Resource, StackEvent] = {}
        self._untouched: set[_Resource] = set()

    def install(self) -> None:
        """Correct MiniStack."""
        ministack.watch_stack_events(self._see)
        ministack.wrap("update resource", self._noticing_what_is_left_alone)
        ministack.wrap_stack_action("DescribeStackEvents", _with_operations)

    def _see(self, event: StackEvent) -> None:
        resource = (event.stack_id, event.logical_id)
        recorded = ministack.store("stack events")[event.stack_id]
        if resource in self._untouched:
            self._untouched.remove(resource)
            recorded.pop()
            return
        _complete(recorded, begins=_is_of_stack(event) and event.status in _BEGINNINGS)
        self._announce_begun(resource)
        if event.status == "UPDATE_IN_PROGRESS" and not _is_of_stack(event):
            self._begun[resource] = event
        else:
            _announce(event)

    def _noticing_what_is_left_alone(self, update: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            _, _, old, new, stack_name, logical_id, *_ = args
            stack_id = ministack.store("stacks")[stack_name]["StackId"]
            resource = (stack_id, logical_id)
            if old != new:
                self._announce_begun(resource)
            elif self._begun.pop(resource, None):
                ministack.store("stack events")[stack_id].pop()
                self._untouched.add(resource)
            return update(*args)

        return run

    def _announce_begun(self, resource: _Resource) -> None:
        event = self._begun.pop(resource, None)
        if event is not None:
            _announce(event)


def _is_of_stack(event: StackEvent) -> bool:
    return event.resource_type == _STACK and event.logical_id == event.stack_name


def _complete(recorded: list[dict[str, Any]], *, begins: bool) -> None:
    """Give the latest event its operation, and a time after that of the one before."""
    *earlier, event = recorded
    event["OperationId"] = str(uuid.uuid4()) if begins or not earlier else earlier[-1]["OperationId"]
    if earlier:
        soonest = datetime.fromisoformat(earlier[-1]["Timestamp"]) + _MILLISECOND
        time = max(soonest, datetime.fromisoformat(event["Timestamp"]))
        event["Timestamp"] = time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _with_operations(describe: Callable[..., Any]) -> Callable[..., Any]:
    def run(form: dict[str, list[str]]) -> Any:
        status, headers, body = describe(form)
        operations = {
            event["EventId"]: event["OperationId"]
            for events in ministack.store("stack events").values()
            for event in events
        }

        def add(found: re.Match[str]) -> str:
            return f"{found[0]}<OperationId>{operations[found[1]]}</OperationId>"

        return status, headers, re.sub(r"<EventId>(.*?)</EventId>", add, body.decode()).encode()

    return run


def _announce(event: StackEvent) -> None:
    """Send what CloudFormation sends to EventBridge.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/eventbridge-event-detail-reference.html
    """
    detail: dict[str, Any] = {
        "stack-id": event.stack_id,
        "status-details": {"status": event.status, "status-reason": event.reason},
    }
    if _is_of_stack(event):
        kind = "CloudFormation Stack Status Change"
    else:
        kind = "CloudFormation Resource Status Change"
        detail |= {
            "logical-resource-id": event.logical_id,
            "physical-resource-id": event.physical_id,
            "resource-type": event.resource_type,
        }
    ministack.put_event("aws.cloudformation", kind, detail, [event.stack_id])

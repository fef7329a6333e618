"""CloudFormation where MiniStack differs from it: outputs as changes, and events."""

import re
import uuid
from collections.abc import Callable
from typing import Any

from trainfeed.local import ministack

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


def install() -> None:
    """Correct MiniStack."""
    ministack.run_blocking_types_on_threads()
    ministack.wrap_stack_action("CreateChangeSet", _seeing_outputs)
    ministack.watch_stack_events(_number)
    ministack.watch_stack_events(_announce)
    ministack.wrap_stack_action("DescribeStackEvents", _with_operations)


def _seeing_outputs(create: Callable[..., Any]) -> Callable[..., Any]:
    """A change set that changes only outputs has no resource changes, and can be executed all the same."""

    def create_change_set(form: dict[str, list[str]]) -> Any:
        known = set(ministack.store("change sets").keys())
        answer = create(form)
        for change_set_id, change_set in ministack.store("change sets").items():
            if change_set_id not in known and _changes_outputs(change_set):
                change_set.update(Status="CREATE_COMPLETE", ExecutionStatus="AVAILABLE", StatusReason="")
        return answer

    return create_change_set


def _changes_outputs(change_set: dict[str, Any]) -> bool:
    stack = ministack.store("stacks").get(change_set["StackName"])
    if stack is None or "didn't contain changes" not in change_set["StatusReason"]:
        return False
    return change_set["_template"].get("Outputs", {}) != stack["_template"].get("Outputs", {})


def _number(event: ministack.StackEvent) -> None:
    """Keep of which operation an event is: the CDK CLI reports the failures of the latest one alone."""
    *earlier, this = ministack.store("stack events")[event.stack_id]
    begins = event.logical_id == event.stack_name and event.status in _BEGINNINGS
    this["OperationId"] = str(uuid.uuid4()) if begins or not earlier else earlier[-1]["OperationId"]


def _with_operations(describe: Callable[..., Any]) -> Callable[..., Any]:
    def describe_stack_events(form: dict[str, list[str]]) -> Any:
        status, headers, body = describe(form)
        operations = {
            event["EventId"]: event["OperationId"]
            for events in ministack.store("stack events").values()
            for event in events
        }

        def add(found: re.Match[str]) -> str:
            return f"{found[0]}<OperationId>{operations[found[1]]}</OperationId>"

        return status, headers, re.sub(r"<EventId>(.*?)</EventId>", add, body.decode()).encode()

    return describe_stack_events


def _announce(event: ministack.StackEvent) -> None:
    """Send what CloudFormation sends to EventBridge at each change of a stack or of a resource.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/eventbridge-event-detail-reference.html
    """
    detail: dict[str, Any] = {
        "stack-id": event.stack_id,
        "status-details": {"status": event.status, "status-reason": event.reason},
    }
    if event.resource_type == _STACK and event.logical_id == event.stack_name:
        kind = "CloudFormation Stack Status Change"
    else:
        kind = "CloudFormation Resource Status Change"
        detail |= {
            "logical-resource-id": event.logical_id,
            "physical-resource-id": event.physical_id,
            "resource-type": event.resource_type,
        }
    ministack.put_event("aws.cloudformation", kind, detail, [event.stack_id])

"""CloudFormation where MiniStack differs from it."""

from collections.abc import Callable
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.stack_events import StackEvents


def install() -> None:
    """Correct MiniStack."""
    ministack.run_blocking_types_on_threads()
    ministack.wrap_stack_action("CreateChangeSet", _seeing_outputs)
    StackEvents().install()


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

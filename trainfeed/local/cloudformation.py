"""CloudFormation where MiniStack differs from it."""

from collections.abc import Callable
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.stack_events import StackEvents


def install() -> None:
    """Correct MiniStack."""
    ministack.run_blocking_types_on_threads()
    ministack.wrap_stack_action("CreateChangeSet", _seeing_outputs)
    for module in ministack.CONDITIONS_IN:
        ministack.wrap(f"evaluate conditions in {module}", _joining)
    StackEvents().install()


def _joining(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Conditions may join texts, as the CDK's bootstrap does to see whether a list is empty."""

    def run(template: dict[str, Any], params: dict[str, Any]) -> Any:
        conditions = _joined(template.get("Conditions", {}), params)
        return evaluate({**template, "Conditions": conditions}, params)

    return run


def _joined(value: Any, params: dict[str, Any]) -> Any:
    match value:
        case {"Fn::Join": [str(delimiter), parts]}:
            return delimiter.join(_texts(_joined(parts, params), params))
        case dict():
            return {key: _joined(item, params) for key, item in value.items()}
        case list():
            return [_joined(item, params) for item in value]
    return value


def _texts(parts: Any, params: dict[str, Any]) -> list[str]:
    """The texts to join: a list, or a parameter that is one."""
    if isinstance(parts, dict) and parts.get("Ref") in params:
        return [part.strip() for part in params[parts["Ref"]]["Value"].split(",")]
    return [_text(part, params) for part in parts]


def _text(part: Any, params: dict[str, Any]) -> str:
    if not isinstance(part, dict):
        return str(part)
    # A pseudo parameter (`AWS::Region`) stands for itself, as where MiniStack compares.
    return params[part["Ref"]]["Value"] if part["Ref"] in params else part["Ref"]


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

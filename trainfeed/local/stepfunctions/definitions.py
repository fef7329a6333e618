"""What Step Functions refuses when a state machine is made or changed.

MiniStack accepts any fields, any resource and any role, so that a misspelling is only found by a run.

Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_CreateStateMachine.html
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.service import ApiError
from trainfeed.rules.integrations import Moment, integration, integrations

#: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
LONGEST_DEFINITION = 1024 * 1024

_SERVICE = "states.amazonaws.com"
_COMMON = {"Type", "Comment", "QueryLanguage"}
_OUTPUT = {"JSONata": {"Output", "Assign"}, "JSONPath": {"InputPath", "OutputPath", "Assign"}}
_RESULT = {"JSONata": set(), "JSONPath": {"Parameters", "ResultSelector", "ResultPath"}}
_ERRORS = {"Retry", "Catch"}
_ONWARD = {"Next", "End"}

#: The fields of each type of state. https://states-language.net/spec.html#state-types
_FIELDS: Mapping[str, Mapping[str, set[str]]] = {
    language: {
        "Task": _OUTPUT[language]
        | _RESULT[language]
        | _ERRORS
        | _ONWARD
        | {"Resource", "TimeoutSeconds", "HeartbeatSeconds", "Credentials"}
        | ({"Arguments"} if language == "JSONata" else {"TimeoutSecondsPath", "HeartbeatSecondsPath"}),
        "Pass": _OUTPUT[language]
        | _ONWARD
        | ({"Result", "ResultPath", "Parameters"} if language == "JSONPath" else set()),
        "Choice": _OUTPUT[language] | {"Choices", "Default"},
        "Wait": _OUTPUT[language]
        | _ONWARD
        | {"Seconds", "Timestamp"}
        | ({"SecondsPath", "TimestampPath"} if language == "JSONPath" else set()),
        "Succeed": _OUTPUT[language] - {"Assign"},
        "Fail": {"Error", "Cause"} | ({"ErrorPath", "CausePath"} if language == "JSONPath" else set()),
        "Parallel": _OUTPUT[language] | _RESULT[language] | _ERRORS | _ONWARD | {"Branches", "Arguments"},
        "Map": _OUTPUT[language]
        | _RESULT[language]
        | _ERRORS
        | _ONWARD
        | {"Items", "ItemsPath", "ItemSelector", "ItemProcessor", "Iterator", "ItemReader", "ItemBatcher"}
        | {"ResultWriter", "MaxConcurrency", "MaxConcurrencyPath", "Label"}
        | {"ToleratedFailureCount", "ToleratedFailurePercentage"}
        | {"ToleratedFailureCountPath", "ToleratedFailurePercentagePath"},
    }
    for language in ("JSONata", "JSONPath")
}


def check(definition: Any, role_arn: str) -> None:
    """Let a state machine pass that AWS would make.

    Args:
        definition: the text of the definition.
        role_arn: the role its tasks run as.

    Raises:
        ApiError: what CreateStateMachine and UpdateStateMachine answer.
    """
    machine = _parsed(definition)
    problems = list(_problems(machine, machine.get("QueryLanguage", "JSONPath"), ""))
    if problems:
        raise _invalid(f"SCHEMA_VALIDATION_FAILED: {', '.join(problems)}")
    if not ministack.role_trusts(role_arn, _SERVICE):
        raise ApiError(
            "AccessDeniedException",
            f"Neither the global service principal {_SERVICE}, nor the regional one is authorized to assume "
            f"the provided role ({role_arn}).",
        )
    _check_managed_rules(machine, role_arn)


def _parsed(definition: Any) -> dict[str, Any]:
    if not isinstance(definition, str):
        raise _invalid("INVALID_JSON_DESCRIPTION: the definition is missing.")
    if len(definition.encode()) > LONGEST_DEFINITION:
        raise ApiError(
            "ValidationException",
            "1 validation error detected: Value at 'definition' failed to satisfy constraint: "
            f"Member must have length less than or equal to {LONGEST_DEFINITION}",
        )
    try:
        machine = json.loads(definition)
    except ValueError as error:
        raise _invalid(f"INVALID_JSON_DESCRIPTION: {error}") from error
    if not isinstance(machine, dict):
        raise _invalid("INVALID_JSON_DESCRIPTION: the definition is not an object.")
    return machine


def _invalid(reason: str) -> ApiError:
    return ApiError("InvalidDefinition", f"Invalid State Machine Definition: '{reason}'")


def _problems(machine: Mapping[str, Any], language: str, path: str) -> Iterator[str]:
    """What is wrong with a state machine, or with one inside a Parallel or Map state."""
    states = machine.get("States")
    if not isinstance(states, dict) or not states:
        yield f"The field 'States' is required at {path or '/'}"
        return
    if machine.get("StartAt") not in states:
        start = machine.get("StartAt")
        yield f"MISSING_TRANSITION_TARGET: Missing 'StartAt' target: {start} at {path}/StartAt"
    for name, state in states.items():
        here = f"{path}/States/{name}"
        yield from _state_problems(state, state.get("QueryLanguage", language), here)
        for field, target in _targets(state):
            if target not in states:
                yield f"MISSING_TRANSITION_TARGET: Missing '{field}' target: {target} at {here}"


def _state_problems(state: Mapping[str, Any], language: str, path: str) -> Iterator[str]:
    fields = _FIELDS[language].get(state.get("Type", ""))
    if fields is None:
        yield f"Value is not a type of state: {state.get('Type')} at {path}/Type"
        return
    for field in state:
        if field not in _COMMON | fields:
            yield f"Field is not supported: a {state['Type']} state in {language} has none at {path}/{field}"
    if state["Type"] == "Task":
        yield from _task_problems(state, path)
    for number, branch in enumerate(state.get("Branches", [])):
        yield from _problems(branch, language, f"{path}/Branches[{number}]")
    for field in ("ItemProcessor", "Iterator"):
        if field in state:
            yield from _problems(state[field], language, f"{path}/{field}")


def _task_problems(state: Mapping[str, Any], path: str) -> Iterator[str]:
    resource = state.get("Resource", "")
    try:
        known = integration(resource)
    except KeyError:
        yield (
            f"The resource provided {resource} is not recognized. The value is not a valid resource ARN, or "
            f"the resource is not available in this region (the local AWS has {', '.join(integrations())}). "
            f"at {path}/Resource"
        )
        return
    for field in ("Arguments", "Parameters"):
        for name in known.unknown_arguments(_without_paths(state.get(field))):
            yield f'The field "{name}" is not supported by Step Functions at {path}/{field}'


def _without_paths(arguments: Any) -> Any:
    """Arguments whose names have lost the `.$` by which JSONPath marks a path."""
    if isinstance(arguments, list):
        return [_without_paths(item) for item in arguments]
    if isinstance(arguments, dict):
        return {name.removesuffix(".$"): _without_paths(value) for name, value in arguments.items()}
    return arguments


def _targets(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("Next", "Default"):
        if field in state:
            yield field, state[field]
    for onward in (*state.get("Choices", []), *state.get("Catch", [])):
        yield "Next", onward.get("Next")


def _check_managed_rules(machine: Mapping[str, Any], role_arn: str) -> None:
    """An EventBridge rule tells a `.sync` task that its job ended; the role must allow it to be made."""
    place = {"partition": "aws", "region": ministack.region(), "account": ministack.account_id()}
    for task in _tasks(machine):
        for right in integration(task["Resource"]).rights_at(Moment.CREATE):
            if ministack.role_allows(role_arn, right.action, right.resource.format(**place)) is not None:
                raise ApiError(
                    "AccessDeniedException", f"'{role_arn}' is not authorized to create managed-rule."
                )


def _tasks(machine: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for state in machine["States"].values():
        if state["Type"] == "Task":
            yield state
        inner = [*state.get("Branches", []), state.get("ItemProcessor"), state.get("Iterator")]
        for part in inner:
            if part is not None:
                yield from _tasks(part)

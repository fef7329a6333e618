"""Step Functions, where MiniStack is laxer than AWS.

MiniStack runs state machines; it does not ask what their role may do, accepts any argument of a call and
any amount of data, ignores the time limit of a state machine, and leaves the job of a stopped execution
running. Here each of these is as on AWS.
"""

from collections.abc import Callable, Mapping
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.durations import Durations
from trainfeed.local.service import ApiError, JsonService
from trainfeed.local.stepfunctions import definitions
from trainfeed.local.stepfunctions.calls import Calls
from trainfeed.local.stepfunctions.executions import Executions

_TYPE = "AWS::StepFunctions::StateMachine"


def install(
    services: Mapping[str, JsonService], *, client: Callable[[str], Any], durations: Durations
) -> None:
    """Correct MiniStack until it is released.

    Args:
        services: those of ours that state machines call, by botocore's names.
        client: gives a client of the local AWS for any other service, for the caller's account.
        durations: how long a second lasts that a state machine waits.
    """
    Executions(Calls(services, client), durations).install()
    ministack.wrap("create state machine", _create)
    ministack.wrap("update state machine", _update)
    ministack.wrap_type(_TYPE, create=_create_resource)


def _create(before: Callable[..., Any]) -> Callable[..., Any]:
    def create(data: dict[str, Any]) -> Any:
        try:
            definitions.check(data.get("definition"), data.get("roleArn", ""))
        except ApiError as error:
            return ministack.refused(error)
        return before(data)

    return create


def _update(before: Callable[..., Any]) -> Callable[..., Any]:
    def update(data: dict[str, Any]) -> Any:
        machine = ministack.store("state machines").get(data.get("stateMachineArn"))
        if machine is not None:
            try:
                definitions.check(
                    data.get("definition", machine["definition"]), data.get("roleArn", machine["roleArn"])
                )
            except ApiError as error:
                return ministack.refused(error)
        return before(data)

    return update


def _create_resource(before: Callable[..., Any]) -> Callable[..., Any]:
    def create(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
        machines = ministack.store("state machines")
        name = properties.get("StateMachineName")
        taken = f"arn:aws:states:{ministack.region()}:{ministack.account_id()}:stateMachine:{name}"
        if taken in machines:
            raise ApiError("StateMachineAlreadyExists", f"State Machine Already Exists: '{taken}'")
        arn, attributes = before(logical_id, properties, stack)
        try:
            definitions.check(machines[arn]["definition"], machines[arn]["roleArn"])
        except ApiError:
            del machines[arn]
            raise
        return arn, attributes

    return create

"""The AWS calls of a task: with Step Functions' spelling, and with the rights of the state machine's role.

Sources:
    https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
    https://docs.aws.amazon.com/step-functions/latest/dg/connect-sagemaker.html
"""

import json
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from botocore import xform_name
from botocore.exceptions import ClientError

from trainfeed.local import ministack, shapes
from trainfeed.local.service import ApiError, JsonService
from trainfeed.local.stepfunctions.run import Run, TaskFailedError
from trainfeed.rules.integrations import Integration, Moment, sdk_name

_POLL = 0.1
_DONE = ("Completed", "Failed", "Stopped")


class Calls:
    """Makes the calls of the kit's integrations."""

    def __init__(self, services: Mapping[str, JsonService], client: Callable[[str], Any]) -> None:
        """Prepare to call.

        Args:
            services: those of ours, by botocore's names.
            client: gives a client of the local AWS for any other service.
        """
        self._services = services
        self._client = client

    def make(self, call: Integration, arguments: Any, run: Run) -> Any:
        """Make a call for a task, and give the task's result.

        Raises:
            TaskFailedError: what Step Functions reports.
        """
        _check_arguments(call, arguments)
        _require(call, Moment.CALL, arguments, run)
        if call.is_sdk:
            return self._sdk_call(call, arguments)
        return self._training_job(call, arguments, run)

    def _sdk_call(self, call: Integration, arguments: dict[str, Any]) -> Any:
        model = shapes.operation(call.service, call.operation)
        response = self._answer(call, call.operation, _to_api(model.input_shape, arguments))
        return _to_sdk(model.output_shape, response)

    def _training_job(self, call: Integration, request: dict[str, Any], run: Run) -> Any:
        """Start a job, and wait for its end; a run that is stopped stops it."""
        name = request.get("TrainingJobName")
        # By these tags Step Functions knows the events of its own jobs.
        marks = {
            "AWS_STEP_FUNCTIONS_EXECUTION_ARN": run.arn,
            "MANAGED_BY_AWS": "STARTED_BY_STEP_FUNCTIONS",
        }
        tags = [*request.get("Tags", []), *({"Key": key, "Value": value} for key, value in marks.items())]
        self._answer(call, call.operation, {**request, "Tags": tags})
        while True:
            _require(call, Moment.FOLLOW, request, run)
            job = self._answer(call, "DescribeTrainingJob", {"TrainingJobName": name})
            if job["TrainingJobStatus"] in _DONE:
                break
            if run.ended.wait(_POLL):
                if run.stops_its_jobs:
                    self._stop_training_job(call, request, run)
                raise TaskFailedError(*run.ENDED)
        description = _plain(job)
        if job["TrainingJobStatus"] != "Completed":
            raise TaskFailedError("States.TaskFailed", json.dumps(description))
        return description

    def _stop_training_job(self, call: Integration, request: dict[str, Any], run: Run) -> None:
        """Step Functions stops a job as well as it can, and reports nothing when it cannot."""
        try:
            _require(call, Moment.STOP, request, run)
            self._answer(call, "StopTrainingJob", {"TrainingJobName": request["TrainingJobName"]})
        except TaskFailedError:
            return

    def _answer(self, call: Integration, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        try:
            if call.service in self._services:
                return self._services[call.service].call(operation, parameters)
            return getattr(self._client(call.service), xform_name(operation))(**parameters)
        except ApiError as error:
            raise _failure(call, error.code, str(error)) from error
        except ClientError as error:
            raise _failure(
                call, error.response["Error"]["Code"], error.response["Error"]["Message"]
            ) from error


def _check_arguments(call: Integration, arguments: Any) -> None:
    unknown = call.unknown_arguments(arguments)
    if unknown or not isinstance(arguments, dict):
        complaints = [f'The field "{name}" is not supported by Step Functions' for name in unknown]
        raise TaskFailedError(
            "States.Runtime",
            f"The Parameters '{json.dumps(arguments)}' could not be used to start the Task: "
            f"[{', '.join(complaints) or 'they are no object'}]",
        )


def _require(call: Integration, moment: Moment, arguments: dict[str, Any], run: Run) -> None:
    """Let the call pass if the state machine's role has the rights for it."""
    place = {"partition": "aws", "region": ministack.region(), "account": ministack.account_id()}
    for right in call.rights_at(moment):
        # An argument that is missing stands for no resource; the service itself complains of it.
        resource = right.resource.format_map(_Blank({**place, **arguments}))
        context = {"iam:PassedToService": right.passed_to} if right.passed_to else {}
        denial = ministack.role_allows(run.role_arn, right.action, resource, context)
        if denial is not None:
            raise _failure(call, "AccessDeniedException", denial)


class _Blank(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return ""


def _failure(call: Integration, code: str, message: str) -> TaskFailedError:
    """An API's error as Step Functions reports it: of SDK calls in the manner of the newer Java SDK."""
    request_id = uuid.uuid4()
    prefix = call.other_errors.partition(".")[0]
    if call.is_sdk:
        cause = f"{message} (Service: {prefix}, Status Code: 400, Request ID: {request_id})"
    else:
        cause = (
            f"{message} (Service: Amazon{prefix}; Status Code: 400; Error Code: {code}; "
            f"Request ID: {request_id}; Proxy: null)"
        )
    return TaskFailedError(call.error(code), cause)


def _to_api(shape: Any, value: Any) -> Any:
    """Arguments with the API's own names for members."""
    kind = getattr(shape, "type_name", None)
    if kind == "structure" and isinstance(value, dict):
        api_names = {sdk_name(name): name for name in shape.members}
        return {
            api_names[name]: _to_api(shape.members[api_names[name]], item) for name, item in value.items()
        }
    if kind == "list" and isinstance(value, list):
        return [_to_api(shape.member, item) for item in value]
    return value


def _to_sdk(shape: Any, value: Any) -> Any:
    """A result with the SDK's names for members, and with times as text."""
    kind = getattr(shape, "type_name", None)
    if kind == "structure" and isinstance(value, dict):
        return {
            sdk_name(name): _to_sdk(member, value[name])
            for name, member in shape.members.items()
            if value.get(name) is not None
        }
    if kind == "list" and isinstance(value, list | tuple):
        return [_to_sdk(shape.member, item) for item in value]
    if kind == "map" and isinstance(value, dict):
        return {key: _to_sdk(shape.value, item) for key, item in value.items()}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def _plain(value: Any) -> Any:
    """The result of an optimised integration: the API's names, and times in milliseconds since 1970."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return int(value.timestamp() * 1000)
    return value

"""An AWS service of ours, in the JSON 1.1 protocol: named operations over plain dicts."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from trainfeed.local import shapes

Operation = Callable[[dict[str, Any]], dict[str, Any]]


class ApiError(Exception):
    """An error that AWS would answer.

    Attributes:
        code: the error code, as botocore reads it (`ValidationException`, `FileSystemNotFound`).
        status: the HTTP status.
    """

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


@dataclass(frozen=True, kw_only=True)
class JsonService:
    """A service that MiniStack lacks.

    Attributes:
        name: botocore's name of the service, which is also its signing name (`fsx`).
        target_prefix: what X-Amz-Target begins with, before the dot (`AWSSimbaAPIService_v20180301`).
        operations: each operation by its name; it takes a valid request and returns the response, with
            `datetime` for timestamps. It runs on a thread of its own and may call the local AWS.
    """

    name: str
    target_prefix: str
    operations: Mapping[str, Operation]

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Call an operation in this process, with the checks that the API makes of any request.

        Raises:
            ApiError: what AWS would answer.
            RuntimeError: the operation answered something that its API model does not have.
        """
        function = self.operations.get(operation)
        if function is None:
            known = ", ".join(sorted(self.operations))
            raise ApiError(
                "UnknownOperationException",
                f"The local AWS has no {self.name}:{operation}. It has {known}.",
            )
        model = shapes.operation(self.name, operation)
        request = {name: value for name, value in parameters.items() if value is not None}
        if model.input_shape is not None:
            _check(model.input_shape, request)
        response = function(request) or {}
        if model.output_shape is not None:
            invented = shapes.unknown_members(model.output_shape, response)
            if invented:
                raise RuntimeError(f"{self.name}:{operation} answered unknown members: {', '.join(invented)}")
        return response

    def answer(self, operation: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Answer an HTTP request: the status, and the body still to be written as JSON."""
        try:
            request = json.loads(body or b"{}")
            if not isinstance(request, dict):
                raise ValueError("not an object")
        except ValueError as error:
            return 400, {"__type": "SerializationException", "Message": f"The body is not JSON: {error}."}
        try:
            return 200, self.call(operation, request)
        except ApiError as error:
            return error.status, {"__type": error.code, "Message": str(error), "message": str(error)}


def encode(body: dict[str, Any]) -> bytes:
    """A response as the JSON 1.1 protocol writes it: timestamps are seconds since 1970."""
    return json.dumps(_present(body), default=_scalar).encode()


def _check(shape: Any, request: dict[str, Any]) -> None:
    try:
        broken = shapes.violations(shape, request)
    except shapes.MalformedRequestError as error:
        raise ApiError("SerializationException", str(error)) from error
    if broken:
        raise ApiError("ValidationException", shapes.complaint(broken))


def _present(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _present(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_present(item) for item in value]
    return value


def _scalar(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")

"""Reaching AWS: clients made one way, and its errors in words a person can act on."""

import os
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    SSOError,
    TokenRetrievalError,
)

#: Makes the client of a service: `client("s3")`. Tests pass the one of a local AWS.
Client = Callable[[str], Any]

_SIGN_IN = (
    "Sign in first (`aws sso login`, `aws configure`, or set AWS_PROFILE), "
    'or use the local AWS: eval "$(trainfeed local env)".'
)
_BAD_CREDENTIALS = {
    "AuthFailure",
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}


class UserError(Exception):
    """Something the user can put right; the text says what and how."""


def connect(region: str | None = None) -> Client:
    """Clients for the credentials of the environment.

    Args:
        region: where their services are; None: in the environment's Region.

    Raises:
        UserError: no Region is set.
    """
    # The CDK and the AWS CLI read AWS_REGION, boto3 only AWS_DEFAULT_REGION: all must mean the same place.
    session = boto3.Session(region_name=region or os.environ.get("AWS_REGION"))
    if session.region_name is None:
        raise UserError(explain(NoRegionError()))
    # What runs on this machine answers at once or not at all.
    attempts, timeout = (4, 10) if _local_endpoint() is None else (2, 2)
    config = Config(retries={"mode": "standard", "max_attempts": attempts}, connect_timeout=timeout)
    return lambda service: session.client(service, config=config)  # pyright: ignore[reportCallIssue, reportArgumentType]


def _local_endpoint() -> str | None:
    """The address on this machine that stands in for AWS, if one is set."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    return endpoint if urlsplit(endpoint).hostname in ("127.0.0.1", "localhost") else None


def code(error: ClientError) -> str:
    """The error code of an AWS answer (`ParameterNotFound`)."""
    return error.response.get("Error", {}).get("Code", "")


def denied(error: ClientError) -> bool:
    """Whether AWS refused for want of a right."""
    return code(error) in {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "403"}


def explain(error: BotoCoreError | ClientError) -> str:
    """One line that says what went wrong between here and AWS, and what to do."""
    match error:
        case NoCredentialsError() | PartialCredentialsError():
            return f"No AWS credentials were found. {_SIGN_IN}"
        case SSOError() | TokenRetrievalError():
            return f"{error} {_SIGN_IN}"
        case NoRegionError():
            return (
                "No AWS Region is set. Set AWS_REGION (for example us-east-1), or the Region of your profile."
            )
        case ConnectionError() | HTTPClientError():
            return _explain_silence(error)
        case ClientError():
            return _explain_answer(error)
        case _:
            return str(error)


def _explain_silence(error: BotoCoreError) -> str:
    if (endpoint := _local_endpoint()) is None:
        return f"AWS does not answer: {error}"
    return (
        f"No local AWS answers at {endpoint}, which this shell is set to: it was stopped, or started anew. "
        'Start one (trainfeed local start), then: eval "$(trainfeed local env)"'
    )


def _explain_answer(error: ClientError) -> str:
    message = error.response.get("Error", {}).get("Message", "")
    if code(error) in _BAD_CREDENTIALS:
        return f"AWS does not accept these credentials ({code(error)}: {message}). {_SIGN_IN}"
    if denied(error):
        return f"Your AWS identity may not call {error.operation_name}: {message}"
    return f"{error.operation_name} failed with {code(error)}: {message}"

"""Starting a run of a job template, finding it again, and stopping it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex

from botocore.exceptions import ClientError

from trainfeed.run import templates
from trainfeed.run.aws import Client, UserError, code
from trainfeed.run.templates import JobTemplate
from trainfeed.sources import S3Uri

_RUN_NAME = re.compile(r"(?P<template>[a-zA-Z0-9-]+)-\d{8}-\d{6}-[0-9a-f]{4}")
#: A training job has at most 63 characters in its name, and a run has its job's name.
_LONGEST_NAME = 63


@dataclass(frozen=True, kw_only=True)
class Run:
    """One execution of a job template.

    Attributes:
        name: of the execution and of its training job alike.
        execution_arn: the Step Functions execution.
    """

    name: str
    execution_arn: str


def hyperparameters(pairs: Iterable[str]) -> dict[str, str]:
    """Read `key=value` pairs.

    Raises:
        UserError: a pair without `=` or without a key, or a key given twice.
    """
    values: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise UserError(f"{pair!r} is not a hyperparameter. Write it as --hyperparameter key=value.")
        if key in values:
            raise UserError(f"The hyperparameter {key!r} is given twice: {values[key]!r} and {value!r}.")
        values[key] = value
    return values


def start(
    client: Client,
    template: JobTemplate,
    *,
    code: S3Uri,
    script: str,
    hyperparameters: Mapping[str, str],
    dry_run: bool = False,
) -> Run:
    """Start a run.

    Args:
        client: makes AWS clients.
        template: what to run.
        code: where the packed code is.
        script: the file of it to start.
        hyperparameters: passed to the script as `--key value`.
        dry_run: complete the request and end there, without a training job.

    Raises:
        UserError: the template's name leaves no room for a run's.
    """
    name = f"{template.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(2)}"
    if (excess := len(name) - _LONGEST_NAME) > 0:
        raise UserError(
            f"A training job's name has at most {_LONGEST_NAME} characters, and {name} has {len(name)}. "
            f"Shorten the template's name by {excess}."
        )
    request = {
        "Code": str(code),
        "Script": script,
        "HyperParameters": dict(hyperparameters),
        "DryRun": dry_run,
    }
    answer = client("stepfunctions").start_execution(
        stateMachineArn=template.state_machine_arn, name=name, input=json.dumps(request)
    )
    return Run(name=name, execution_arn=answer["executionArn"])


def template_of(name: str) -> str:
    """The template that a run of this name was started from.

    Raises:
        UserError: no run can have this name.
    """
    match = _RUN_NAME.fullmatch(name)
    if match is None:
        raise UserError(f"{name!r} names no run. A run is named like training-20261201-161500-ab12.")
    return match["template"]


def find(client: Client, name: str) -> Run:
    """The run of this name.

    Raises:
        UserError: no run has this name.
    """
    template = template_of(name)
    machine = templates.find(client, template).state_machine_arn
    arn = f"{machine.replace(':stateMachine:', ':execution:')}:{name}"
    try:
        client("stepfunctions").describe_execution(executionArn=arn)
    except ClientError as error:
        if code(error) == "ExecutionDoesNotExist":
            raise UserError(f"The template {template} has no run named {name}.") from None
        raise
    return Run(name=name, execution_arn=arn)


def stop(client: Client, run: Run) -> str | None:
    """Stop a run, and with it its training job.

    Returns:
        How it had ended before (`SUCCEEDED`), in which case it stays as it is; None if it was stopped.
    """
    states = client("stepfunctions")
    status = states.describe_execution(executionArn=run.execution_arn)["status"]
    if status != "RUNNING":
        return status
    states.stop_execution(executionArn=run.execution_arn, error="Stopped", cause="Stopped by hand")
    return None

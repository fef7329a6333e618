"""What the state machine's role may do: what its calls need, and no more."""

from collections.abc import Sequence
from typing import Any

from trainfeed import names
from trainfeed.rules.integrations import (
    CREATE_TRAINING_JOB,
    DESCRIBE_ASSOCIATIONS,
    DESCRIBE_FILE_SYSTEMS,
    DESCRIBE_TASKS,
    GET_PARAMETER,
    integration,
)


def rights(
    *,
    job: str,
    file_systems: Sequence[str],
    execution_role_arn: str,
    partition: str,
    region: str,
    account: str,
) -> list[dict[str, Any]]:
    """The IAM statements that the role of a job's state machine needs.

    All but the names may be CDK tokens. The statements must be in force before the state machine is made,
    since Step Functions asks for the rights on its EventBridge rule at that moment.

    Args:
        job: the name of the job template. A run, and so its training job, is named `<job>-...`.
        file_systems: the names under which the job's file systems publish their facts.
        execution_role_arn: the role of the training job, which the state machine passes to SageMaker.
        partition: of the AWS Region (`aws`).
        region: where the state machine lives.
        account: whose state machine it is.
    """
    place = {"partition": partition, "region": region, "account": account}
    calls = [(CREATE_TRAINING_JOB, {"TrainingJobName": f"{job}-*", "RoleArn": execution_role_arn})]
    calls += [(GET_PARAMETER, {"Name": names.facts_parameter(name)}) for name in file_systems]
    if file_systems:
        calls += [
            (resource, {}) for resource in (DESCRIBE_FILE_SYSTEMS, DESCRIBE_ASSOCIATIONS, DESCRIBE_TASKS)
        ]

    granted: dict[tuple[str, str | None], list[str]] = {}
    for resource, arguments in calls:
        for right in integration(resource).rights:
            on = right.resource.format(**place, **arguments)
            granted.setdefault((on, right.passed_to), []).append(right.action)
    return [_allow(actions, on, passed_to) for (on, passed_to), actions in granted.items()]


def _allow(actions: list[str], resource: str, passed_to: str | None) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": "Allow", "Action": actions, "Resource": resource}
    if passed_to is not None:
        statement["Condition"] = {"StringEquals": {"iam:PassedToService": passed_to}}
    return statement

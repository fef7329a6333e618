"""What the corrections of Step Functions take for granted of MiniStack's insides."""

import inspect
import json
from collections.abc import Iterator
from dataclasses import fields
from types import CodeType
from typing import Any

import pytest

from trainfeed.local import ministack

ACCOUNT = "123456789012"


@pytest.fixture(autouse=True)
def _loaded(aws: Any):
    """MiniStack is imported with the environment of the running local AWS."""


def names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names(constant)


def unwrapped(name: str) -> Any:
    """MiniStack's own function, under what is wrapped around it."""
    function: Any = ministack.function(name)
    while function.__module__.startswith("trainfeed."):
        function = inspect.getclosurevars(function).nonlocals["before"]
    return function


@pytest.mark.parametrize(
    ("caller", "called"),
    [
        ("start execution", "_run_execution"),
        ("run execution", "_add_event"),
        ("run execution", "_fail_execution"),
        ("run execution", "_execute_task"),
        ("run execution", "_execute_wait"),
        ("stop execution", "_add_event"),
    ],
)
def test_a_wrapped_function_is_found_by_its_name_when_it_is_called(caller: str, called: str):
    assert called in set(names(unwrapped(caller).__code__))


@pytest.mark.parametrize(
    ("caller", "called"),
    [
        ("_execute_task", "_add_event"),
        ("_execute_task", "_invoke_resource"),
        ("_execute_task", "_scaled_sleep"),
        ("_execute_wait", "_scaled_sleep"),
        ("_find_matching_retrier", "_error_matches"),
        ("_find_matching_catcher", "_error_matches"),
        ("_invoke_resource_with_timeout", "_invoke_resource"),
    ],
)
def test_the_engine_calls_what_is_wrapped_by_its_name(caller: str, called: str):
    from ministack.services import stepfunctions

    assert called in set(names(getattr(stepfunctions, caller).__code__))


def test_cloudformation_updates_a_state_machine_by_the_api_and_creates_it_past_the_api():
    from ministack.services.cloudformation import provisioners

    assert "_update_state_machine" in set(names(provisioners._sfn_state_machine_update.__code__))
    assert "_create_state_machine" not in set(names(provisioners._sfn_state_machine_create.__code__))


def test_the_records_of_machines_and_executions(aws: Any):
    trust = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "states.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        ],
    }
    role = aws.client("iam").create_role(RoleName="machine", AssumeRolePolicyDocument=json.dumps(trust))
    sfn = aws.client("stepfunctions")
    machine = sfn.create_state_machine(
        name="machine",
        definition=json.dumps({"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}),
        roleArn=role["Role"]["Arn"],
    )["stateMachineArn"]
    execution = sfn.start_execution(stateMachineArn=machine)["executionArn"]
    with ministack.scope(ACCOUNT, "us-east-1"):
        assert {"definition", "roleArn"} <= set(ministack.store("state machines")[machine])
        record = ministack.store("executions")[execution]
        assert {"status", "events", "output", "stopDate", "stateMachineArn"} <= set(record)
        assert {"Arn", "AssumeRolePolicyDocument"} <= set(ministack.store("roles")["machine"])


def test_an_error_of_a_task_has_a_name_and_a_cause():
    failure: Any = ministack.task_error("Some.Error", "some cause")
    assert (failure.error, failure.cause) == ("Some.Error", "some cause")


def test_what_rights_are_asked_with():
    from ministack.core.iam_evaluator import EvalContext

    asked = {"principal_arn", "principal_type", "principal_account", "action", "resource_arn", "region"}
    assert asked | {"secure_transport", "service_context"} <= {field.name for field in fields(EvalContext)}


def role(aws: Any, *statements: dict[str, Any], trusts: Any = None) -> str:
    trust = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = {"Version": "2012-10-17", "Statement": trusts or [trust]}
    iam = aws.client("iam")
    arn = iam.create_role(RoleName="role", AssumeRolePolicyDocument=json.dumps(document))["Role"]["Arn"]
    if statements:
        document = {"Version": "2012-10-17", "Statement": statements}
        iam.put_role_policy(RoleName="role", PolicyName="policy", PolicyDocument=json.dumps(document))
    return arn


ALLOW = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bucket/data/*"}
PASS = {
    "Effect": "Allow",
    "Action": "iam:PassRole",
    "Resource": "*",
    "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
}
OWN = {**ALLOW, "Resource": "*", "Condition": {"StringEquals": {"aws:ResourceAccount": ACCOUNT}}}
DENY = {"Effect": "Deny", "Action": "s3:*", "Resource": "arn:aws:s3:::bucket/data/secret"}
DATA = "arn:aws:s3:::bucket/data/a"
NOT_ALLOWED = "because no identity-based policy allows"
FOREIGN = "arn:aws:fsx:us-east-1:210987654321:file-system/fs-1"


@pytest.mark.parametrize(
    ("statements", "asked", "context", "denied"),
    [
        ([ALLOW], ("s3:GetObject", DATA), {}, None),
        ([ALLOW], ("s3:GetObject", "arn:aws:s3:::bucket/other"), {}, NOT_ALLOWED),
        ([ALLOW], ("s3:PutObject", DATA), {}, NOT_ALLOWED),
        ([ALLOW, DENY], ("s3:GetObject", "arn:aws:s3:::bucket/data/secret"), {}, "with an explicit deny"),
        ([], ("s3:GetObject", DATA), {}, NOT_ALLOWED),
        ([PASS], ("iam:PassRole", "*"), {"iam:PassedToService": "sagemaker.amazonaws.com"}, None),
        ([PASS], ("iam:PassRole", "*"), {"iam:PassedToService": "ec2.amazonaws.com"}, NOT_ALLOWED),
        ([PASS], ("iam:PassRole", "*"), {}, NOT_ALLOWED),
        ([OWN], ("s3:GetObject", DATA), {}, None),
        ([OWN], ("s3:GetObject", FOREIGN), {}, NOT_ALLOWED),
    ],
)
def test_what_a_role_may_do(
    aws: Any, statements: list[dict], asked: tuple[str, str], context: dict, denied: str | None
):
    action, resource = asked
    denial = ministack.role_allows(role(aws, *statements), action, resource, context)
    if denied is None:
        assert denial is None
    else:
        assert denial is not None
        assert denied in denial
        assert (
            f"assumed-role/role/local is not authorized to perform: {action} on resource: {resource}"
            in denial
        )


STATES = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
SAGEMAKER = {**STATES, "Principal": {"Service": ["ec2.amazonaws.com", "sagemaker.amazonaws.com"]}}
OF_ACCOUNT = {**STATES, "Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}}}
OF_ANOTHER = {**STATES, "Condition": {"StringEquals": {"aws:SourceAccount": "210987654321"}}}


@pytest.mark.parametrize(
    ("statements", "trusted"),
    [
        ([STATES], True),
        ([SAGEMAKER, STATES], True),
        ([OF_ACCOUNT], True),
        ([SAGEMAKER], False),
        ([OF_ANOTHER], False),
        ([STATES, {**STATES, "Effect": "Deny"}], False),
    ],
)
def test_whom_a_role_trusts(aws: Any, statements: list[dict], trusted: bool):
    assert ministack.role_trusts(role(aws, trusts=statements), "states.amazonaws.com") is trusted


def test_a_role_that_is_not_there_trusts_nobody(aws: Any):
    assert not ministack.role_trusts(f"arn:aws:iam::{ACCOUNT}:role/nobody", "states.amazonaws.com")

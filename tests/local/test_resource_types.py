"""Resource types of the stacks: made, changed, replaced, kept and deleted as CloudFormation does."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from trainfeed.local import ministack

TRUST = {
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ]
}
READ = {"Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}
WRITE = {"Statement": [{"Effect": "Allow", "Action": "s3:PutObject", "Resource": "*"}]}
ROLE = "arn:aws:iam::123456789012:role/machine"


def machine(comment: str) -> str:
    return json.dumps({"Comment": comment, "StartAt": "End", "States": {"End": {"Type": "Succeed"}}})


def parameter(aws: Any, name: str) -> str:
    return aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]


def retention(aws: Any, name: str) -> int:
    return aws.client("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"][0]["retentionInDays"]


def description(aws: Any, name: str) -> str:
    return aws.client("iam").get_role(RoleName=name)["Role"]["Description"]


def action(aws: Any, arn: str) -> str:
    iam = aws.client("iam")
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    document = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]
    return document["Statement"][0]["Action"]


def comment(aws: Any, arn: str) -> str:
    described = aws.client("stepfunctions").describe_state_machine(stateMachineArn=arn)
    return json.loads(described["definition"])["Comment"]


def source(aws: Any, name: str) -> list[str]:
    return json.loads(aws.client("events").describe_rule(Name=name)["EventPattern"])["source"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A type, its properties, a change in place and a change that replaces, and how to look at one."""

    type: str
    properties: dict[str, Any]
    changed: dict[str, Any]
    replaced: dict[str, Any]
    look: Callable[[Any, str], Any]
    first: Any
    second: Any


CASES = [
    Case(
        type="AWS::SSM::Parameter",
        properties={"Name": "/facts", "Type": "String", "Value": "one"},
        changed={"Name": "/facts", "Type": "String", "Value": "two"},
        replaced={"Name": "/other", "Type": "String", "Value": "two"},
        look=parameter,
        first="one",
        second="two",
    ),
    Case(
        type="AWS::Logs::LogGroup",
        properties={"LogGroupName": "/jobs", "RetentionInDays": 7},
        changed={"LogGroupName": "/jobs", "RetentionInDays": 14},
        replaced={"LogGroupName": "/other", "RetentionInDays": 14},
        look=retention,
        first=7,
        second=14,
    ),
    Case(
        type="AWS::IAM::Role",
        properties={"RoleName": "jobs", "AssumeRolePolicyDocument": TRUST, "Description": "one"},
        changed={"RoleName": "jobs", "AssumeRolePolicyDocument": TRUST, "Description": "two"},
        replaced={"RoleName": "other", "AssumeRolePolicyDocument": TRUST, "Description": "two"},
        look=description,
        first="one",
        second="two",
    ),
    Case(
        type="AWS::IAM::ManagedPolicy",
        properties={"ManagedPolicyName": "read", "PolicyDocument": READ},
        changed={"ManagedPolicyName": "read", "PolicyDocument": WRITE},
        replaced={"ManagedPolicyName": "other", "PolicyDocument": WRITE},
        look=action,
        first="s3:GetObject",
        second="s3:PutObject",
    ),
    Case(
        type="AWS::StepFunctions::StateMachine",
        properties={"StateMachineName": "job", "RoleArn": ROLE, "DefinitionString": machine("one")},
        changed={"StateMachineName": "job", "RoleArn": ROLE, "DefinitionString": machine("two")},
        replaced={"StateMachineName": "other", "RoleArn": ROLE, "DefinitionString": machine("two")},
        look=comment,
        first="one",
        second="two",
    ),
    Case(
        type="AWS::Events::Rule",
        properties={"Name": "jobs", "EventPattern": {"source": ["one"]}},
        changed={"Name": "jobs", "EventPattern": {"source": ["two"]}},
        replaced={"Name": "other", "EventPattern": {"source": ["two"]}},
        look=source,
        first=["one"],
        second=["two"],
    ),
]


@pytest.fixture(autouse=True)
def _machine_role(aws: Any):
    aws.client("iam").create_role(RoleName="machine", AssumeRolePolicyDocument=json.dumps(TRUST))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.type)
def test_made_changed_replaced_and_deleted(aws, stack, case):
    stack.create({"One": {"Type": case.type, "Properties": case.properties}})
    assert stack.status == "CREATE_COMPLETE", stack.reasons()
    first = stack.physical("One")
    assert case.look(aws, first) == case.first

    stack.update({"One": {"Type": case.type, "Properties": case.changed}})
    assert stack.status == "UPDATE_COMPLETE", stack.reasons()
    assert stack.physical("One") == first
    assert case.look(aws, first) == case.second

    stack.update({"One": {"Type": case.type, "Properties": case.replaced}})
    assert stack.status == "UPDATE_COMPLETE", stack.reasons()
    second = stack.physical("One")
    assert second != first
    assert case.look(aws, second) == case.second
    assert gone(aws, case, first)

    assert stack.delete().status == "DELETE_COMPLETE"
    assert gone(aws, case, second)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.type)
def test_kept_where_the_template_says_so(aws, stack, case):
    kept = {"Type": case.type, "Properties": case.properties, "DeletionPolicy": "Retain"}
    stack.create({"One": kept})
    first = stack.physical("One")
    assert stack.delete().status == "DELETE_COMPLETE"
    assert case.look(aws, first) == case.first


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.type)
def test_a_change_that_fails_later_is_taken_back(aws, stack, case):
    one = {"Type": case.type, "Properties": case.properties}
    fails = {
        "Type": "AWS::SSM::Parameter",
        "DependsOn": "One",
        "Properties": {"Type": "String", "Value": "x" * 5000},
    }
    stack.create({"One": one})
    first = stack.physical("One")
    for properties in (case.changed, case.replaced):
        stack.update({"One": {"Type": case.type, "Properties": properties}, "Two": fails})
        assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
        assert stack.physical("One") == first
        assert case.look(aws, first) == case.first


def gone(aws: Any, case: Case, physical_id: str) -> bool:
    try:
        case.look(aws, physical_id)
    except (aws.client("ssm").exceptions.ClientError, IndexError):
        return True
    return False


def test_an_inline_policy_follows_its_role(aws, stack):
    iam = aws.client("iam")
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST}}

    def policy(document: dict[str, Any]) -> dict[str, Any]:
        properties = {"PolicyName": "rights", "PolicyDocument": document, "Roles": [{"Ref": "Role"}]}
        return {"Type": "AWS::IAM::Policy", "Properties": properties}

    def actions(name: str) -> list[str]:
        found = iam.list_role_policies(RoleName=name)["PolicyNames"]
        documents = [iam.get_role_policy(RoleName=name, PolicyName=each)["PolicyDocument"] for each in found]
        return [document["Statement"][0]["Action"] for document in documents]

    stack.create({"Role": role, "Policy": policy(READ)})
    name = stack.physical("Role")
    assert actions(name) == ["s3:GetObject"]
    stack.update({"Role": role, "Policy": policy(WRITE)})
    assert actions(name) == ["s3:PutObject"]
    stack.update({"Role": role})
    assert actions(name) == []
    assert stack.delete().status == "DELETE_COMPLETE"


def test_a_rule_starts_a_state_machine_when_a_job_changes(aws, stack):
    heard = {
        "source": ["aws.sagemaker"],
        "detail-type": ["SageMaker Training Job State Change"],
        "detail": {"TrainingJobStatus": ["Completed"]},
    }
    stack.create(
        {
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {"RoleArn": ROLE, "DefinitionString": machine("one")},
            },
            "Rule": {
                "Type": "AWS::Events::Rule",
                "Properties": {
                    "EventPattern": heard,
                    "Targets": [{"Id": "machine", "Arn": {"Ref": "Machine"}, "RoleArn": ROLE}],
                },
            },
        }
    )
    with ministack.scope("123456789012", "us-east-1"):
        for status in ("InProgress", "Completed"):
            ministack.put_event(
                "aws.sagemaker",
                "SageMaker Training Job State Change",
                {"TrainingJobName": "job", "TrainingJobStatus": status},
                ["arn:aws:sagemaker:us-east-1:123456789012:training-job/job"],
            )
    client = aws.client("stepfunctions")
    executions = client.list_executions(stateMachineArn=stack.physical("Machine"))["executions"]
    assert len(executions) == 1
    described = client.describe_execution(executionArn=executions[0]["executionArn"])
    event = json.loads(described["input"])
    assert (event["detail"]["TrainingJobName"], event["account"]) == ("job", "123456789012")

"""Step Functions of the local AWS refuses what AWS refuses, and lets its valid neighbour pass."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from trainfeed.local.stepfunctions import executions
from trainfeed.local.stepfunctions.calls import Calls
from trainfeed.local.stepfunctions.run import Run
from trainfeed.rules.integrations import integration
from trainfeed.state_machine import rights

ACCOUNT, REGION = "123456789012", "us-east-1"
MACHINE_ROLE = f"arn:aws:iam::{ACCOUNT}:role/machine"
TRAINING_ROLE = f"arn:aws:iam::{ACCOUNT}:role/training"
RULE = "StepFunctionsGetEventsForSageMakerTrainingJobsRule"
RIGHTS = rights(
    job="job",
    file_systems=("fsx-lustre",),
    execution_role_arn=TRAINING_ROLE,
    partition="aws",
    region=REGION,
    account=ACCOUNT,
)
GET_FACTS = {
    "Type": "Task",
    "Resource": "arn:aws:states:::aws-sdk:ssm:getParameter",
    "Arguments": {"Name": "/trainfeed/sources/fsx-lustre"},
    "End": True,
}
DESCRIBE = {
    "Type": "Task",
    "Resource": "arn:aws:states:::aws-sdk:fsx:describeFileSystems",
    "Arguments": {},
    "End": True,
}
TRAIN = {
    "Type": "Task",
    "Resource": "arn:aws:states:::sagemaker:createTrainingJob.sync",
    "Arguments": {
        "TrainingJobName": "job-1",
        "RoleArn": TRAINING_ROLE,
        "AlgorithmSpecification": {
            "TrainingImage": f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/any:1",
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["python3", "-c", "import time; time.sleep(60)"],
        },
        "OutputDataConfig": {"S3OutputPath": "s3://some-bucket/outputs"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 100},
    },
    "End": True,
}
WAIT = {"Type": "Wait", "Seconds": 3600, "End": True}


def policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def trust(service: str) -> str:
    return policy({"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"})


def until(condition: Callable[[], Any], seconds: float = 20) -> Any:
    for _ in range(int(seconds / 0.02)):
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"still not after {seconds} seconds")


class Machines:
    """State machines, with a role that has the given rights."""

    def __init__(self, aws: Any) -> None:
        self.aws = aws
        self.sfn = aws.client("stepfunctions")
        self._iam = aws.client("iam")
        self._iam.create_role(RoleName="machine", AssumeRolePolicyDocument=trust("states.amazonaws.com"))
        self._iam.create_role(RoleName="training", AssumeRolePolicyDocument=trust("sagemaker.amazonaws.com"))
        self._iam.put_role_policy(
            RoleName="training",
            PolicyName="rights",
            PolicyDocument=policy({"Effect": "Allow", "Action": "*", "Resource": "*"}),
        )
        self.allow(*RIGHTS)

    def allow(self, *statements: dict[str, Any]) -> None:
        self._iam.put_role_policy(RoleName="machine", PolicyName="rights", PolicyDocument=policy(*statements))

    def create(self, *states: dict[str, Any], role: str = MACHINE_ROLE, **fields: Any) -> str:
        named = {f"State {number}": state for number, state in enumerate(states, 1)}
        definition = {"QueryLanguage": "JSONata", "StartAt": "State 1", "States": named, **fields}
        return self.sfn.create_state_machine(name="machine", definition=json.dumps(definition), roleArn=role)[
            "stateMachineArn"
        ]

    def start(self, machine: str, **given: Any) -> str:
        return self.sfn.start_execution(stateMachineArn=machine, name="job-1", **given)["executionArn"]

    def status(self, execution: str) -> str:
        return self.sfn.describe_execution(executionArn=execution)["status"]

    def ended(self, execution: str) -> dict[str, Any]:
        until(lambda: self.status(execution) != "RUNNING")
        return self.sfn.describe_execution(executionArn=execution)

    def run(self, *states: dict[str, Any], given: str = "{}", **fields: Any) -> dict[str, Any]:
        return self.ended(self.start(self.create(*states, **fields), input=given))

    def events(self, execution: str) -> list[str]:
        history = self.sfn.get_execution_history(executionArn=execution)
        return [event["type"] for event in history["events"]]

    def job(self) -> dict[str, Any]:
        return self.aws.client("sagemaker").describe_training_job(TrainingJobName="job-1")


@pytest.fixture
def machines(aws: Any) -> Machines:
    aws.client("s3").create_bucket(Bucket="some-bucket")
    return Machines(aws)


def refusal(call: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(ClientError) as refused:
        call()
    error = refused.value.response["Error"]
    return error["Code"], error["Message"]


# Definitions


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (
            {**DESCRIBE, "Resource": "arn:aws:states:::aws-sdk:fsx:describeFilesystems"},
            "aws-sdk:fsx:describeFilesystems is not recognized",
        ),
        ({**DESCRIBE, "Resource": "arn:aws:states:::sns:publish"}, "sns:publish is not recognized"),
        (
            {**DESCRIBE, "Arguments": {"fileSystemIds": ["fs-1"]}},
            'The field "fileSystemIds" is not supported by Step Functions at /States/State 1/Arguments',
        ),
        (
            {**TRAIN, "Arguments": {**TRAIN["Arguments"], "Enviroment": {}}},
            'The field "Enviroment" is not supported by Step Functions',
        ),
        ({**DESCRIBE, "Argument": {}}, "Field is not supported"),
        ({**DESCRIBE, "Parameters": {}}, "a Task state in JSONata has none at /States/State 1/Parameters"),
        ({**DESCRIBE, "Type": "Tsk"}, "Value is not a type of state: Tsk"),
        ({"Type": "Pass", "Next": "State 2"}, "Missing 'Next' target: State 2"),
        (
            {"Type": "Parallel", "Branches": [{"StartAt": "A", "States": {"B": WAIT}}], "End": True},
            "Missing 'StartAt' target: A at /States/State 1/Branches[0]/StartAt",
        ),
    ],
)
def test_a_wrong_definition_is_refused(machines: Machines, state: dict[str, Any], reason: str):
    code, message = refusal(lambda: machines.create(state))
    assert code == "InvalidDefinition"
    assert reason in message
    assert machines.sfn.list_state_machines()["stateMachines"] == []


@pytest.mark.parametrize(
    "state",
    [
        DESCRIBE,
        {**DESCRIBE, "Arguments": {"FileSystemIds": ["fs-1"], "MaxResults": 10}},
        {**DESCRIBE, "Arguments": "{% $states.input %}"},
        {**GET_FACTS, "Retry": [{"ErrorEquals": ["States.ALL"]}], "TimeoutSeconds": 10},
        {
            "Type": "Task",
            "QueryLanguage": "JSONPath",
            "Resource": DESCRIBE["Resource"],
            "Parameters": {"FileSystemIds.$": "$.ids"},
            "End": True,
        },
        {"Type": "Parallel", "Branches": [{"StartAt": "A", "States": {"A": DESCRIBE}}], "End": True},
        TRAIN,
        WAIT,
    ],
)
def test_a_right_definition_is_accepted(machines: Machines, state: dict[str, Any]):
    machine = machines.create(state)
    assert machines.sfn.describe_state_machine(stateMachineArn=machine)["status"] == "ACTIVE"


def test_a_state_machine_is_not_changed_into_a_wrong_one(machines: Machines):
    machine = machines.create(DESCRIBE)
    before = machines.sfn.describe_state_machine(stateMachineArn=machine)["definition"]
    code, _ = refusal(
        lambda: machines.sfn.update_state_machine(
            stateMachineArn=machine, definition=before.replace("Arguments", "Argumens")
        )
    )
    assert code == "InvalidDefinition"
    assert machines.sfn.describe_state_machine(stateMachineArn=machine)["definition"] == before
    machines.sfn.update_state_machine(stateMachineArn=machine, definition=before.replace("1", "2"))


@pytest.mark.parametrize("service", ["sagemaker.amazonaws.com", None])
def test_a_role_that_step_functions_cannot_assume_is_refused(machines: Machines, service: str | None):
    role = TRAINING_ROLE if service else f"arn:aws:iam::{ACCOUNT}:role/nobody"
    code, message = refusal(lambda: machines.create(DESCRIBE, role=role))
    assert code == "AccessDeniedException"
    assert "states.amazonaws.com" in message


def test_a_sync_task_needs_the_right_to_its_event_rule(machines: Machines):
    machines.allow(*(statement for statement in RIGHTS if RULE not in statement["Resource"]))
    assert refusal(lambda: machines.create(TRAIN)) == (
        "AccessDeniedException",
        f"'{MACHINE_ROLE}' is not authorized to create managed-rule.",
    )
    machines.create(DESCRIBE)


@pytest.mark.parametrize(
    ("resource", "statements", "status"),
    [
        (TRAIN["Resource"], RIGHTS, "CREATE_COMPLETE"),
        (TRAIN["Resource"], RIGHTS[:2], "ROLLBACK_COMPLETE"),
        ("arn:aws:states:::sagemaker:createTrainingJob.snyc", RIGHTS, "ROLLBACK_COMPLETE"),
    ],
)
def test_cloudformation_meets_the_same_refusals(
    machines: Machines, resource: str, statements: list[dict], status: str
):
    machines.allow(*statements)
    definition = {
        "QueryLanguage": "JSONata",
        "StartAt": "A",
        "States": {"A": {**TRAIN, "Resource": resource}},
    }
    template = {
        "Resources": {
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {"RoleArn": MACHINE_ROLE, "DefinitionString": json.dumps(definition)},
            }
        }
    }
    cloudformation = machines.aws.client("cloudformation")
    cloudformation.create_stack(StackName="stack", TemplateBody=json.dumps(template))

    def stack_status() -> str:
        return cloudformation.describe_stacks(StackName="stack")["Stacks"][0]["StackStatus"]

    until(lambda: not stack_status().endswith("IN_PROGRESS"))
    assert stack_status() == status
    made = machines.sfn.list_state_machines()["stateMachines"]
    assert len(made) == (1 if status == "CREATE_COMPLETE" else 0)


# Starting


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("n" * 81, "{}", "InvalidName"),
        ("a name", "{}", "InvalidName"),
        ("name", "{", "InvalidExecutionInput"),
        ("name", json.dumps("x" * 256 * 1024), "ValidationException"),
        ("n" * 80, json.dumps("x" * (256 * 1024 - 2)), None),
    ],
)
def test_names_and_inputs_of_executions(machines: Machines, name: str, given: str, code: str | None):
    machine = machines.create({"Type": "Succeed"})

    def start() -> Any:
        return machines.sfn.start_execution(stateMachineArn=machine, name=name, input=given)

    if code is None:
        assert machines.ended(start()["executionArn"])["status"] == "SUCCEEDED"
    else:
        assert refusal(start)[0] == code


# Rights


def test_a_call_without_the_right_to_it_is_denied(machines: Machines):
    machines.allow(*(statement for statement in RIGHTS if "fsx:" not in statement["Action"][0]))
    ended = machines.run(DESCRIBE)
    assert (ended["status"], ended["error"]) == ("FAILED", "FSx.FSxException")
    assert ended["cause"].startswith(f"User: arn:aws:sts::{ACCOUNT}:assumed-role/machine/")
    assert "is not authorized to perform: fsx:DescribeFileSystems on resource: *" in ended["cause"]
    assert "(Service: FSx, Status Code: 400, Request ID: " in ended["cause"]


def test_a_call_with_the_right_to_it_gives_the_result_in_the_casing_of_the_sdk(machines: Machines):
    ended = machines.run(DESCRIBE)
    assert ended["status"] == "SUCCEEDED", ended
    assert json.loads(ended["output"]) == {"FileSystems": []}


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("/trainfeed/sources/fsx-lustre", "Ssm.ParameterNotFoundException"),
        ("/trainfeed/sources/another", "Ssm.SsmException"),
    ],
)
def test_a_right_reaches_as_far_as_its_resource(machines: Machines, name: str, error: str):
    assert machines.run({**GET_FACTS, "Arguments": {"Name": name}})["error"] == error


@pytest.mark.parametrize(
    ("without", "denied"),
    [
        ("sagemaker:CreateTrainingJob", "sagemaker:CreateTrainingJob"),
        ("sagemaker:AddTags", "sagemaker:AddTags"),
        ("iam:PassRole", "iam:PassRole"),
        ("sagemaker:DescribeTrainingJob", "sagemaker:DescribeTrainingJob"),
    ],
)
def test_a_training_job_needs_each_right(machines: Machines, without: str, denied: str):
    machine = machines.create(TRAIN)
    statements = [
        {**statement, "Action": [action for action in statement["Action"] if action != without]}
        for statement in RIGHTS
    ]
    machines.allow(*(statement for statement in statements if statement["Action"]))
    ended = machines.ended(machines.start(machine))
    assert (ended["status"], ended["error"]) == ("FAILED", "SageMaker.AmazonSageMakerException")
    assert f"is not authorized to perform: {denied} on resource: " in ended["cause"]
    assert "Error Code: AccessDeniedException" in ended["cause"]


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        ({"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}, None),
        (
            {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
            "SageMaker.AmazonSageMakerException",
        ),
    ],
)
def test_a_role_is_passed_to_the_service_it_is_meant_for(
    machines: Machines, condition: dict[str, Any], error: str | None
):
    machines.allow(
        *(
            {**statement, "Condition": condition} if "Condition" in statement else statement
            for statement in RIGHTS
        )
    )
    quick = {"ContainerEntrypoint": ["python3", "-c", "pass"]}
    algorithm = {**TRAIN["Arguments"]["AlgorithmSpecification"], **quick}
    ended = machines.run({**TRAIN, "Arguments": {**TRAIN["Arguments"], "AlgorithmSpecification": algorithm}})
    assert ended.get("error") == error, ended


# Calls


def test_an_argument_that_is_unknown_only_when_it_runs_fails_the_task(machines: Machines):
    state = {**DESCRIBE, "Arguments": "{% $states.input %}", "Retry": [{"ErrorEquals": ["States.ALL"]}]}
    ended = machines.run(state, given='{"FileSystemID": "fs-1"}')
    assert ended["error"] == "States.Runtime"
    assert 'The field "FileSystemID" is not supported by Step Functions' in ended["cause"]
    assert machines.events(ended["executionArn"]).count("TaskScheduled") == 1


def test_an_error_of_the_api_has_the_spelling_of_step_functions(machines: Machines):
    state = {**DESCRIBE, "Arguments": {"FileSystemIds": ["fs-0123456789abcdef0"]}}
    assert machines.run(state)["error"] == "FSx.FileSystemNotFoundException"


def test_an_error_is_caught_by_that_spelling(machines: Machines):
    catch = [{"ErrorEquals": ["FSx.FileSystemNotFoundException"], "Next": "State 2"}]
    missing = {**DESCRIBE, "Arguments": {"FileSystemIds": ["fs-0123456789abcdef0"]}, "Catch": catch}
    assert machines.run(missing, {"Type": "Pass", "End": True})["status"] == "SUCCEEDED"


def test_a_failed_job_fails_its_task_with_its_description(machines: Machines):
    broken = {"ContainerEntrypoint": ["python3", "-c", "raise SystemExit(3)"]}
    algorithm = {**TRAIN["Arguments"]["AlgorithmSpecification"], **broken}
    ended = machines.run({**TRAIN, "Arguments": {**TRAIN["Arguments"], "AlgorithmSpecification": algorithm}})
    assert ended["error"] == "States.TaskFailed"
    description = json.loads(ended["cause"])
    assert description["TrainingJobStatus"] == "Failed"
    assert "AlgorithmError" in description["FailureReason"]
    assert isinstance(description["CreationTime"], int)


def test_a_job_carries_the_tags_of_step_functions(machines: Machines):
    execution = machines.start(machines.create(TRAIN))
    until(lambda: _jobs(machines) == ["job-1"])
    tags = machines.aws.client("sagemaker").list_tags(ResourceArn=machines.job()["TrainingJobArn"])["Tags"]
    assert {"Key": "AWS_STEP_FUNCTIONS_EXECUTION_ARN", "Value": execution} in tags
    assert {"Key": "MANAGED_BY_AWS", "Value": "STARTED_BY_STEP_FUNCTIONS"} in tags


def _jobs(machines: Machines) -> list[str]:
    listed = machines.aws.client("sagemaker").list_training_jobs()["TrainingJobSummaries"]
    return [job["TrainingJobName"] for job in listed]


# Limits and ends


def test_a_state_machine_that_takes_too_long_times_out_and_stops_its_job(machines: Machines):
    execution = machines.start(machines.create(TRAIN, TimeoutSeconds=1))
    ended = machines.ended(execution)
    assert (ended["status"], ended["error"]) == ("TIMED_OUT", "States.Timeout")
    assert machines.events(execution)[-1] == "ExecutionTimedOut"
    until(lambda: machines.job()["TrainingJobStatus"] == "Stopped")


def test_a_state_machine_in_time_succeeds(machines: Machines):
    ended = machines.run({**WAIT, "Seconds": 1}, TimeoutSeconds=60)
    assert ended["status"] == "SUCCEEDED"


def test_a_stopped_execution_stops_its_job_and_stays_stopped(machines: Machines):
    execution = machines.start(machines.create(TRAIN))
    until(lambda: _jobs(machines) == ["job-1"])
    machines.sfn.stop_execution(executionArn=execution, error="Enough", cause="of it")
    until(lambda: machines.job()["TrainingJobStatus"] == "Stopped")
    ended = machines.sfn.describe_execution(executionArn=execution)
    assert (ended["status"], ended["error"]) == ("ABORTED", "Enough")
    assert machines.events(execution)[-1] == "ExecutionAborted"


@pytest.mark.parametrize("may_stop", [True, False])
def test_step_functions_stops_a_job_with_the_rights_of_the_role(machines: Machines, may_stop: bool):
    machines.aws.durations.job_starting = 60
    actions = [action for action in RIGHTS[0]["Action"] if may_stop or action != "sagemaker:StopTrainingJob"]
    machines.allow({**RIGHTS[0], "Action": actions}, *RIGHTS[1:])
    calls = Calls({"sagemaker": machines.aws.sagemaker.service}, machines.aws.client)
    run = Run(arn="arn:aws:states:us-east-1:123456789012:execution:m:1", role_arn=MACHINE_ROLE, record={})
    run.end(and_its_jobs=True)
    with pytest.raises(Exception, match="The execution is over"):
        calls.make(integration(TRAIN["Resource"]), TRAIN["Arguments"], run)
    assert (machines.job()["TrainingJobStatus"] in ("Stopping", "Stopped")) is may_stop


def test_a_stopped_execution_wakes_from_its_wait(machines: Machines):
    machines.aws.durations.waited_second = 1
    execution = machines.start(machines.create(WAIT))
    until(lambda: "WaitStateEntered" in machines.events(execution))
    machines.sfn.stop_execution(executionArn=execution)
    assert machines.status(execution) == "ABORTED"
    assert machines.events(execution)[-1] == "ExecutionAborted"


def test_a_reset_ends_what_runs(machines: Machines):
    before = set(threading.enumerate())
    machines.aws.durations.waited_second = 1
    execution = machines.start(machines.create(WAIT, TimeoutSeconds=3600))
    until(lambda: "WaitStateEntered" in machines.events(execution))
    running = set(threading.enumerate()) - before
    machines.aws.reset()
    until(lambda: not any(thread.is_alive() for thread in running if "local" not in thread.name))


def test_the_end_of_an_execution_is_announced(machines: Machines):
    sqs, events = machines.aws.client("sqs"), machines.aws.client("events")
    queue = sqs.create_queue(QueueName="ends")["QueueUrl"]
    pattern = {"source": ["aws.states"], "detail": {"status": ["TIMED_OUT"]}}
    events.put_rule(Name="ends", EventPattern=json.dumps(pattern))
    events.put_targets(Rule="ends", Targets=[{"Id": "1", "Arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:ends"}])
    machines.aws.durations.waited_second = 1
    execution = machines.start(machines.create(WAIT, TimeoutSeconds=1))
    message = until(lambda: sqs.receive_message(QueueUrl=queue).get("Messages"))[0]
    assert json.loads(message["Body"])["detail"]["executionArn"] == execution


BIG = {"Type": "Pass", "Output": '{% $pad("", 262143, "x") %}', "End": True}
LARGEST = {"Type": "Pass", "Output": '{% $pad("", 262142, "x") %}', "End": True}


def test_more_than_256_kib_of_data_ends_an_execution(machines: Machines):
    ended = machines.run(BIG)
    assert (ended["status"], ended["error"]) == ("FAILED", "States.DataLimitExceeded")
    assert "'State 1' returned a result with a size exceeding" in ended["cause"]


def test_256_kib_of_data_pass(machines: Machines):
    ended = machines.run(LARGEST)
    assert ended["status"] == "SUCCEEDED", ended
    assert len(ended["output"]) == 256 * 1024


@pytest.mark.parametrize(
    ("wildcard", "status"), [("States.ALL", "FAILED"), ("States.DataLimitExceeded", "SUCCEEDED")]
)
def test_too_much_data_for_a_call_is_caught_by_name_alone(machines: Machines, wildcard: str, status: str):
    state = {
        **GET_FACTS,
        "Arguments": {"Name": '{% $pad("", 300000, "x") %}'},
        "Catch": [{"ErrorEquals": [wildcard], "Next": "State 2"}],
    }
    assert machines.run(state, {"Type": "Pass", "End": True})["status"] == status


def test_an_execution_has_no_endless_history(machines: Machines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(executions, "MOST_EVENTS", 100)
    ended = machines.run({"Type": "Pass", "Next": "State 1"})
    assert ended["error"] == "States.Runtime"
    assert "maximum number of history events" in ended["cause"]
    assert len(machines.events(ended["executionArn"])) == 100


def test_a_failed_execution_has_no_output(machines: Machines):
    ended = machines.run({"Type": "Fail", "Error": "Mine", "Cause": "on purpose"})
    assert (ended["error"], ended["cause"]) == ("Mine", "on purpose")
    assert ended.get("output") is None

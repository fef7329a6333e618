"""The state machine of a job: what it looks like, and what it does on the local AWS."""

import itertools
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import botocore.session
import jsonata
import pytest
from botocore.validate import validate_parameters
from cfnlint import api as cfn_lint
from cfnlint.config import ManualArgs
from statelint.linter import Linter

from trainfeed.execution_role import execution_role_grants
from trainfeed.job import StateMachineRun, TrainingJob, create_training_job_request
from trainfeed.names import facts_parameter
from trainfeed.sources import Channel, LustreSource, S3Source, S3Uri
from trainfeed.state_machine import LONGEST_WAIT, definition, rights

ACCOUNT, REGION = "123456789012", "us-east-1"
PLACE: dict[str, Any] = {"partition": "aws", "region": REGION, "account": ACCOUNT}
ROLE = f"arn:aws:iam::{ACCOUNT}:role/training"
DAY = 86_400
SCRIPT = """\
import json, os, pathlib
files = sorted(path.name for path in pathlib.Path(__file__).parents[1].joinpath("train").rglob("*.txt"))
model = pathlib.Path(__file__).parents[3] / "model"
model.mkdir(parents=True, exist_ok=True)
(model / "files.json").write_text(json.dumps(files))
"""


def training_job(*sources: Any) -> TrainingJob:
    return TrainingJob(
        name="training",
        image=f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/any:1",
        channels=tuple(
            Channel(name=name, source=source)
            for name, source in zip(("train", "more"), sources, strict=False)
        ),
        output=S3Uri.parse("s3://some-bucket/outputs"),
        code=S3Uri.parse("s3://some-bucket/code"),
        hyperparameters={"epochs": "1"},
    )


FROM_S3 = training_job(S3Source(uri=S3Uri.parse("s3://some-bucket/data")))
FROM_LUSTRE = training_job(LustreSource(facts="fsx-lustre", path="/data"))
FROM_TWO = training_job(
    LustreSource(facts="fsx-lustre", path="/data"), LustreSource(facts="fsx-of-others", path="/")
)


def machine(job: TrainingJob, **options: Any) -> dict[str, Any]:
    request = create_training_job_request(job, StateMachineRun(role_arn=ROLE))
    return definition(request, file_systems=job.file_systems, **options)


@pytest.mark.parametrize("job", [FROM_S3, FROM_LUSTRE, FROM_TWO], ids=["s3", "lustre", "two"])
def test_linters_accept_the_definition(job: TrainingJob):
    text = json.dumps(machine(job))
    # It does not know that with JSONata the Seconds of a Wait may be an expression.
    # https://docs.aws.amazon.com/step-functions/latest/dg/state-wait.html
    unknown_to_it = re.compile(r'Wait for .*\.Seconds is "\{% .* %\}" but should be an Integer')
    assert [found for found in Linter.validate(text) if not unknown_to_it.search(found)] == []

    template = {
        "Resources": {
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {"RoleArn": ROLE, "DefinitionString": text},
            }
        }
    }
    assert cfn_lint.lint(json.dumps(template), config=ManualArgs(regions=[REGION])) == []


def test_no_state_has_a_name_that_step_functions_refuses():
    longest = training_job(LustreSource(facts="fsx-lustre-of-a-long-name", path="/"))
    assert max(map(len, machine(longest)["States"])) <= 80


@pytest.mark.parametrize(
    ("job", "limits", "seconds"),
    [
        (FROM_S3, {"MaxRuntimeInSeconds": 600}, 600 + 3600),
        (FROM_S3, {}, 86_400 + 3600),
        (FROM_LUSTRE, {"MaxRuntimeInSeconds": 600}, 600 + LONGEST_WAIT + 3600),
        (FROM_S3, {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 900}, 900 + 3600),
        (FROM_S3, {"MaxRuntimeInSeconds": 600, "MaxPendingTimeInSeconds": 7200}, 600 + 7200 + 3600),
    ],
)
def test_the_machine_outlives_the_job(job: TrainingJob, limits: dict[str, int], seconds: int):
    request = {
        **create_training_job_request(job, StateMachineRun(role_arn=ROLE)),
        "StoppingCondition": limits,
    }
    assert definition(request, file_systems=job.file_systems)["TimeoutSeconds"] == seconds


def test_the_longest_machine_ends_within_the_year_of_an_execution():
    limits = {"MaxRuntimeInSeconds": 28 * DAY, "MaxPendingTimeInSeconds": 28 * DAY}
    request = {**create_training_job_request(FROM_LUSTRE, StateMachineRun(role_arn=ROLE))}
    longest = definition(request | {"StoppingCondition": limits}, file_systems=FROM_LUSTRE.file_systems)
    assert longest["TimeoutSeconds"] < 365 * DAY


@pytest.mark.parametrize("of", ["the imports of ", "the links of ", ""])
def test_the_longest_wait_has_events_to_spare(of: str):
    """Of 25,000 events, a look at the imports takes five for its call and two for each other state."""
    waits = _waits(machine(FROM_LUSTRE)["States"][f"Wait for {of}fsx-lustre"])
    looks, before = 0, 0
    for waited in itertools.takewhile(lambda waited: waited < LONGEST_WAIT, waits):
        assert waited - before <= max(120, before / 100)
        looks, before = looks + 1, waited
    assert looks * (5 + 4 * 2) < 25_000 / 2


def _waits(state: dict[str, Any]) -> Iterator[int]:
    """The seconds that were waited after each wait."""
    waited = 0
    while True:
        variables = {"waited": waited}
        waited = _evaluate(state["Assign"]["waited"], variables)
        assert waited == variables["waited"] + int(_evaluate(state["Seconds"], variables))
        yield waited


def _evaluate(field: str, variables: dict[str, Any]) -> Any:
    return jsonata.Jsonata(field.removeprefix("{%").removesuffix("%}")).evaluate(None, variables)


def test_retries_are_for_errors_that_pass():
    for state in machine(FROM_LUSTRE)["States"].values():
        for retrier in state.get("Retry", []):
            assert not {"States.ALL", "States.TaskFailed"} & set(retrier["ErrorEquals"])
            assert retrier["JitterStrategy"] == "FULL"
            assert retrier["MaxDelaySeconds"] > 0


def test_the_definition_names_the_resources_of_its_partition():
    resources = [
        state["Resource"]
        for state in machine(FROM_LUSTRE, partition="aws-cn")["States"].values()
        if state["Type"] == "Task"
    ]
    assert resources
    assert all(resource.startswith("arn:aws-cn:states:::") for resource in resources)


JOB_RIGHTS = [
    {
        "Effect": "Allow",
        "Action": [
            "sagemaker:CreateTrainingJob",
            "sagemaker:AddTags",
            "sagemaker:DescribeTrainingJob",
            "sagemaker:ListTags",
            "sagemaker:StopTrainingJob",
        ],
        "Resource": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/training-*",
    },
    {
        "Effect": "Allow",
        "Action": ["iam:PassRole"],
        "Resource": ROLE,
        "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
    },
    {
        "Effect": "Allow",
        "Action": ["events:PutTargets", "events:PutRule", "events:DescribeRule"],
        "Resource": f"arn:aws:events:{REGION}:{ACCOUNT}:rule/"
        "StepFunctionsGetEventsForSageMakerTrainingJobsRule",
    },
]
LUSTRE_RIGHTS = [
    {
        "Effect": "Allow",
        "Action": ["ssm:GetParameter"],
        "Resource": f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter/trainfeed/sources/fsx-lustre",
    },
    {
        "Effect": "Allow",
        "Action": [
            "fsx:DescribeFileSystems",
            "fsx:DescribeDataRepositoryAssociations",
            "fsx:DescribeDataRepositoryTasks",
        ],
        "Resource": "*",
    },
]


@pytest.mark.parametrize(
    ("file_systems", "expected"), [((), JOB_RIGHTS), (("fsx-lustre",), JOB_RIGHTS + LUSTRE_RIGHTS)]
)
def test_the_role_may_do_what_the_calls_need(file_systems: tuple[str, ...], expected: list[dict]):
    assert rights(job="training", file_systems=file_systems, execution_role_arn=ROLE, **PLACE) == expected


# On the local AWS


class Deployment:
    """What the stacks of a job would make, made by hand."""

    def __init__(self, aws: Any) -> None:
        self.aws = aws
        self.file_system_id = ""
        aws.durations.waited_second = 0.01
        self._put_data()
        self._make_role("machine", "states.amazonaws.com")
        self._make_role("training", "sagemaker.amazonaws.com")

    def _put_data(self) -> None:
        s3 = self.aws.client("s3")
        s3.create_bucket(Bucket="some-bucket")
        s3.put_object(Bucket="some-bucket", Key="code/1/trainfeed_entry.py", Body=SCRIPT)
        for number in range(3):
            s3.put_object(Bucket="some-bucket", Key=f"data/{number}.txt", Body=b"text")

    def _make_role(self, name: str, service: str) -> None:
        trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        self.aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=_policy([trust]))

    def deploy(self, job: TrainingJob, **options: Any) -> None:
        iam = self.aws.client("iam")
        statements = rights(job="training", file_systems=job.file_systems, execution_role_arn=ROLE, **PLACE)
        iam.put_role_policy(RoleName="machine", PolicyName="rights", PolicyDocument=_policy(statements))
        statements = [grant.statement() for grant in execution_role_grants(job, **PLACE)]
        iam.put_role_policy(RoleName="training", PolicyName="rights", PolicyDocument=_policy(statements))
        self.machine = self.aws.client("stepfunctions").create_state_machine(
            name="trainfeed-training",
            definition=json.dumps(machine(job, **options)),
            roleArn=f"arn:aws:iam::{ACCOUNT}:role/machine",
        )["stateMachineArn"]

    def make_network(self) -> tuple[str, str]:
        ec2 = self.aws.client("ec2")
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
        group = ec2.create_security_group(VpcId=vpc, GroupName="lustre", Description="lustre")["GroupId"]
        ports = [
            {
                "IpProtocol": "tcp",
                "FromPort": first,
                "ToPort": last,
                "UserIdGroupPairs": [{"GroupId": group}],
            }
            for first, last in ((988, 988), (1018, 1023))
        ]
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=ports)
        tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
        ec2.create_vpc_endpoint(
            VpcId=vpc,
            ServiceName=f"com.amazonaws.{REGION}.s3",
            VpcEndpointType="Gateway",
            RouteTableIds=[tables[0]["RouteTableId"]],
        )
        return subnet, group

    def make_file_system(self, *, link: bool = True, imported: bool = True) -> None:
        subnet, group = self.make_network()
        fsx = self.aws.client("fsx")
        made = fsx.create_file_system(
            FileSystemType="LUSTRE",
            FileSystemTypeVersion="2.15",
            StorageCapacity=1200,
            SubnetIds=[subnet],
            SecurityGroupIds=[group],
            LustreConfiguration={"DeploymentType": "SCRATCH_2"},
        )["FileSystem"]
        self.file_system_id = made["FileSystemId"]
        if link:
            self.wait_until_available()
            fsx.create_data_repository_association(
                FileSystemId=self.file_system_id,
                FileSystemPath="/data",
                DataRepositoryPath="s3://some-bucket/data",
                BatchImportMetaDataOnCreate=imported,
            )
        self.put_facts(
            {
                "FileSystemId": self.file_system_id,
                "MountName": made["LustreConfiguration"]["MountName"],
                "SubnetId": subnet,
                "SecurityGroupIds": [group],
                "ImportedPaths": ["/data"],
            }
        )

    def put_facts(self, facts: dict[str, Any]) -> None:
        self.aws.client("ssm").put_parameter(
            Name=facts_parameter("fsx-lustre"), Type="String", Value=json.dumps(facts)
        )

    def wait_until_available(self) -> None:
        fsx = self.aws.client("fsx")
        _until(lambda: fsx.describe_file_systems()["FileSystems"][0]["Lifecycle"] == "AVAILABLE")

    def start(self, **given: Any) -> str:
        return self.aws.client("stepfunctions").start_execution(
            stateMachineArn=self.machine,
            name="training-1",
            input=json.dumps({"Code": "s3://some-bucket/code/1", "Script": "train.py", **given}),
        )["executionArn"]

    def ended(self, execution: str) -> dict[str, Any]:
        sfn = self.aws.client("stepfunctions")
        return _until(
            lambda: (found := sfn.describe_execution(executionArn=execution))["status"] != "RUNNING" and found
        )

    def run(self, **given: Any) -> dict[str, Any]:
        return self.ended(self.start(**given))

    def states(self, execution: str) -> list[str]:
        """The states that an execution went through."""
        pages = self.aws.client("stepfunctions").get_paginator("get_execution_history")
        return [
            event["stateEnteredEventDetails"]["name"]
            for page in pages.paginate(executionArn=execution)
            for event in page["events"]
            if "stateEnteredEventDetails" in event
        ]


def _waited(states: list[str]) -> int:
    """The seconds of AWS that an execution waited."""
    waits = [state for state in states if state.startswith("Wait for ")]
    return next(itertools.islice(_waits(machine(FROM_LUSTRE)["States"][waits[0]]), len(waits) - 1, None))


def _policy(statements: list[dict]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def _until(condition: Callable[[], Any], seconds: float = 30) -> Any:
    for _ in range(int(seconds / 0.05)):
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"still not after {seconds} seconds")


@pytest.fixture
def deployment(aws: Any) -> Deployment:
    return Deployment(aws)


def test_a_job_from_s3_trains(deployment: Deployment):
    deployment.deploy(FROM_S3)
    ended = deployment.run(HyperParameters={"rate": "2", "seed": "7"})
    assert ended["status"] == "SUCCEEDED", ended
    job = json.loads(ended["output"])
    assert job["TrainingJobName"] == "training-1"
    assert job["TrainingJobStatus"] == "Completed"
    assert job["HyperParameters"] == {"epochs": "1", "rate": "2", "seed": "7"}
    assert deployment.states(ended["executionArn"]) == [
        "Read the input",
        "Is the input complete?",
        "Complete the request",
        "Is this a dry run?",
        "Train",
    ]


def test_a_job_from_lustre_waits_for_the_import_and_trains(deployment: Deployment):
    deployment.aws.durations.task = 1.0
    deployment.deploy(FROM_LUSTRE)
    deployment.make_file_system()
    ended = deployment.run()
    assert ended["status"] == "SUCCEEDED", ended
    assert json.loads(ended["output"])["TrainingJobStatus"] == "Completed"
    tasks = deployment.aws.client("fsx").describe_data_repository_tasks()["DataRepositoryTasks"]
    job = deployment.aws.client("sagemaker").describe_training_job(TrainingJobName="training-1")
    assert tasks[0]["EndTime"] <= job["CreationTime"]


def test_a_dry_run_shows_the_completed_request(deployment: Deployment):
    deployment.make_file_system()
    deployment.deploy(FROM_LUSTRE)
    ended = deployment.run(DryRun=True)
    assert ended["status"] == "SUCCEEDED", ended
    request = json.loads(ended["output"])
    model = botocore.session.get_session().get_service_model("sagemaker")
    validate_parameters(request, model.operation_model("CreateTrainingJob").input_shape)
    channel = request["InputDataConfig"][0]["DataSource"]["FileSystemDataSource"]
    assert channel["FileSystemId"] == deployment.file_system_id
    assert "{%" not in ended["output"]
    assert deployment.aws.client("sagemaker").list_training_jobs()["TrainingJobSummaries"] == []


def _file_system_failed(here: Deployment) -> None:
    here.make_file_system()
    here.aws.fsx.turn(here.file_system_id, "FAILED", "no capacity in the zone")


def _creation_failed(here: Deployment) -> None:
    here.aws.durations.file_system_create = 1.0
    here.aws.fsx.fail_next("file-system", message="the network says no")
    here.make_file_system(link=False)


def _file_system_gone(here: Deployment) -> None:
    here.put_facts({"FileSystemId": "fs-0123456789abcdef0", "ImportedPaths": []})


def _link_misconfigured(here: Deployment) -> None:
    here.aws.fsx.fail_next("association", message="the bucket denies FSx", lifecycle="MISCONFIGURED")
    here.make_file_system()


def _link_missing(here: Deployment) -> None:
    here.make_file_system(link=False)


def _import_failed(here: Deployment) -> None:
    here.aws.fsx.fail_next("task", message="the bucket went away")
    here.make_file_system()


def _files_failed(here: Deployment) -> None:
    here.aws.fsx.fail_next("task", message="", lifecycle="SUCCEEDED", failed_files=2)
    here.make_file_system()


def _nothing(here: Deployment) -> None:
    """The file system was never deployed."""


@pytest.mark.parametrize(
    ("prepare", "error", "cause"),
    [
        (_nothing, "FileSystemNotDeployed", "cdk deploy FsxLustreStack"),
        (_file_system_gone, "FileSystemGone", "fs-0123456789abcdef0 of fsx-lustre was deleted"),
        (_file_system_failed, "FileSystemFailed", "is FAILED: no capacity in the zone"),
        (_creation_failed, "FileSystemFailed", "is FAILED: the network says no"),
        (
            _link_misconfigured,
            "LinkFailed",
            "/data to s3://some-bucket/data is MISCONFIGURED: the bucket denies",
        ),
        (_link_missing, "LinkMissing", "has no link at /data"),
        (_import_failed, "ImportFailed", "is FAILED: the bucket went away"),
        (_files_failed, "ImportFailed", "left out 2 files"),
    ],
)
def test_a_run_that_cannot_get_its_data_says_why(
    deployment: Deployment, prepare: Callable[[Deployment], None], error: str, cause: str
):
    prepare(deployment)
    deployment.deploy(FROM_LUSTRE)
    ended = deployment.run()
    assert (ended["status"], ended["error"]) == ("FAILED", f"Trainfeed.{error}")
    assert cause in ended["cause"]
    assert deployment.aws.client("sagemaker").list_training_jobs()["TrainingJobSummaries"] == []


def test_a_run_does_not_wait_for_ever(deployment: Deployment):
    deployment.aws.durations.task = 60
    deployment.make_file_system()
    deployment.deploy(FROM_LUSTRE, import_deadline=100)
    ended = deployment.run()
    assert ended["error"] == "Trainfeed.ImportTimeout"
    assert "After 100 seconds" in ended["cause"]
    waits = deployment.states(ended["executionArn"]).count("Wait for the imports of fsx-lustre")
    assert waits == 5  # 5 + 10 + 20 + 40 + 80 seconds


def _announce(here: Deployment, monkeypatch: pytest.MonkeyPatch, objects: int, *, looks: int | None) -> None:
    """Let the import be of many objects, and end, if ever, when it was looked at so many times."""
    operations = here.aws.fsx.service.operations
    describe = operations["DescribeDataRepositoryTasks"]
    asked = itertools.count(1)

    def told(request: dict[str, Any]) -> dict[str, Any]:
        (task,) = describe(request)["DataRepositoryTasks"]
        ended = looks is not None and next(asked) >= looks
        status = {**task["Status"], "TotalCount": objects, "SucceededCount": objects if ended else 1}
        lifecycle = "SUCCEEDED" if ended else "EXECUTING"
        return {"DataRepositoryTasks": [{**task, "Lifecycle": lifecycle, "Status": status}]}

    monkeypatch.setitem(operations, "DescribeDataRepositoryTasks", told)


@pytest.mark.parametrize(
    ("objects", "deadline"),
    [(3, 4 * 3600), (4_000_001, 4 * 3600 + 1), (10_000_000, 10 * 3600)],
)
def test_an_import_of_many_objects_may_take_longer(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, objects: int, deadline: int
):
    deployment.aws.durations.waited_second = 1e-6
    deployment.make_file_system()
    _announce(deployment, monkeypatch, objects, looks=None)
    deployment.deploy(FROM_LUSTRE)
    ended = deployment.run()
    assert ended["error"] == "Trainfeed.ImportTimeout"
    assert f"After {deadline} seconds" in ended["cause"]
    assert deadline <= _waited(deployment.states(ended["executionArn"])) <= deadline * 1.02


def test_an_import_that_takes_more_than_four_hours_is_waited_for(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    deployment.aws.durations.waited_second = 1e-6
    deployment.make_file_system()
    _announce(deployment, monkeypatch, 10_000_000, looks=140)
    deployment.deploy(FROM_LUSTRE)
    ended = deployment.run(DryRun=True)
    assert ended["status"] == "SUCCEEDED", ended
    assert 4 * 3600 < _waited(deployment.states(ended["executionArn"])) < 10 * 3600


def test_a_later_import_mends_an_earlier_one(deployment: Deployment):
    _import_failed(deployment)
    fsx = deployment.aws.client("fsx")

    def lifecycles() -> list[str]:
        tasks = fsx.describe_data_repository_tasks()["DataRepositoryTasks"]
        return sorted(task["Lifecycle"] for task in tasks)

    _until(lambda: lifecycles() == ["FAILED"])
    fsx.create_data_repository_task(
        FileSystemId=deployment.file_system_id,
        Type="IMPORT_METADATA_FROM_REPOSITORY",
        Paths=["s3://some-bucket/data/"],
        Report={"Enabled": False},
    )
    _until(lambda: lifecycles() == ["FAILED", "SUCCEEDED"])
    deployment.deploy(FROM_LUSTRE)
    assert deployment.run(DryRun=True)["status"] == "SUCCEEDED"


def test_an_import_on_a_later_page_of_tasks_counts(deployment: Deployment, monkeypatch: pytest.MonkeyPatch):
    deployment.make_file_system()
    deployment.deploy(FROM_LUSTRE)
    operations = deployment.aws.fsx.service.operations
    describe = operations["DescribeDataRepositoryTasks"]
    asked = []

    def page(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request.get("NextToken"))
        if "NextToken" not in request:
            return {"DataRepositoryTasks": [], "NextToken": "bmV4dA=="}
        return describe({name: value for name, value in request.items() if name != "NextToken"})

    monkeypatch.setitem(operations, "DescribeDataRepositoryTasks", page)
    assert deployment.run(DryRun=True)["status"] == "SUCCEEDED"
    assert asked[:2] == [None, "bmV4dA=="]


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ({"Code": "code/1"}, "Code must be the S3 address"),
        ({"Script": ""}, "Script must name the file"),
        ({"HyperParameters": {"epochs": 3}}, "HyperParameters must be an object of strings"),
        ({"DryRun": "yes"}, "DryRun must be true or false"),
        ({"Hyperparameters": {}}, "The input has no field Hyperparameters"),
    ],
)
def test_a_wrong_input_is_told_before_anything_is_done(
    deployment: Deployment, given: dict[str, Any], cause: str
):
    deployment.deploy(FROM_LUSTRE)
    ended = deployment.run(**given)
    assert ended["error"] == "Trainfeed.WrongInput"
    assert cause in ended["cause"]

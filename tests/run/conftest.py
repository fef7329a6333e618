"""A job template as its stack would deploy it, small enough for a test."""

import json
from pathlib import Path
from typing import Any

import pytest

from trainfeed import images, names
from trainfeed.execution_role import execution_role_grants
from trainfeed.job import StateMachineRun, TrainingJob, create_training_job_request
from trainfeed.sources import Channel, S3Source, S3Uri
from trainfeed.state_machine import definition
from trainfeed.state_machine.rights import rights

PLACE = {"partition": "aws", "region": "us-east-1", "account": "123456789012"}


@pytest.fixture
def training(aws: Any) -> str:
    """The template `training` on the local AWS, reading one object of S3; returns its name."""
    s3 = aws.client("s3")
    for bucket in ("datasets", "outputs"):
        s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket="datasets", Key="data/one.txt", Body=b"1")
    job = TrainingJob(
        name="training",
        image=images.scikit_learn("us-east-1"),
        channels=(Channel(name="train", source=S3Source(uri=S3Uri("datasets", "data"))),),
        output=S3Uri("outputs", "outputs"),
        code=S3Uri("outputs", "code"),
    )
    statements = [grant.statement() for grant in execution_role_grants(job, **PLACE)]
    role = _role(aws, "job", "sagemaker", statements)
    runs = rights(job=job.name, file_systems=(), execution_role_arn=role, **PLACE)
    orchestrator = _role(aws, "orchestrator", "states", runs)
    request = create_training_job_request(job, StateMachineRun(role_arn=role))
    machine = aws.client("stepfunctions").create_state_machine(
        name=names.state_machine(job.name),
        definition=json.dumps(definition(request, file_systems=())),
        roleArn=orchestrator,
    )["stateMachineArn"]
    facts = {"StateMachineArn": machine, "CodeUri": str(job.code), "OutputUri": str(job.output)}
    aws.client("ssm").put_parameter(
        Name=names.job_parameter(job.name), Value=json.dumps(facts), Type="String"
    )
    return job.name


@pytest.fixture
def script(tmp_path: Path) -> Any:
    """Writes a train.py and returns its path."""

    def write(text: str) -> Path:
        path = tmp_path / "train.py"
        path.write_text(text)
        return path

    return write


def _role(aws: Any, name: str, service: str, statements: list[dict[str, Any]]) -> str:
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": f"{service}.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    iam = aws.client("iam")
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=_policy([trust]))["Role"]["Arn"]
    iam.put_role_policy(RoleName=name, PolicyName="all", PolicyDocument=_policy(statements))
    return arn


def _policy(statements: list[dict[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})

"""A role, a bucket and a way to run small jobs to their end."""

import copy
import json
import time
from dataclasses import dataclass
from typing import Any

import pytest

TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}
EVERYTHING = [{"Effect": "Allow", "Action": "*", "Resource": "*"}]


@dataclass
class Desk:
    """What the tests of training jobs do again and again."""

    aws: Any
    bucket: str = "my-bucket"

    def __post_init__(self) -> None:
        self.s3, self.sagemaker = self.aws.client("s3"), self.aws.client("sagemaker")
        self.ec2, self.iam = self.aws.client("ec2"), self.aws.client("iam")
        self.s3.create_bucket(Bucket=self.bucket)
        self.role = self.make_role("job")

    def make_role(self, name: str, statements: list | None = None, trust: dict | None = None) -> str:
        """A role that may do everything, or only what is said."""
        arn = self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust or TRUST))
        document = {"Version": "2012-10-17", "Statement": statements or EVERYTHING}
        self.iam.put_role_policy(RoleName=name, PolicyName="rights", PolicyDocument=json.dumps(document))
        return arn["Role"]["Arn"]

    def put(self, **objects: str | bytes) -> None:
        """Write objects; keys with slashes come as ** of a dict."""
        for key, body in objects.items():
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=body)

    def keys(self, prefix: str) -> list[str]:
        """The keys below a prefix."""
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix).get("Contents", [])
        return [entry["Key"].removeprefix(prefix) for entry in listed]

    def s3_channel(self, name: str, prefix: str, **more: Any) -> dict:
        """A channel of a prefix of the bucket."""
        source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://{self.bucket}/{prefix}", **more}
        return {"ChannelName": name, "DataSource": {"S3DataSource": source}}

    def request(self, shell: str = "true", **changes: Any) -> dict:
        """A request that runs a line of shell; a change given as a dict is merged in."""
        request: dict[str, Any] = {
            "TrainingJobName": "my-job",
            "RoleArn": self.role,
            "AlgorithmSpecification": {
                "TrainingImage": "123456789012.dkr.ecr.us-east-1.amazonaws.com/image:1",
                "TrainingInputMode": "File",
                "ContainerEntrypoint": ["sh", "-c"],
                "ContainerArguments": [shell],
            },
            "OutputDataConfig": {"S3OutputPath": f"s3://{self.bucket}/out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        }
        for name, change in copy.deepcopy(changes).items():
            request[name] = request.get(name, {}) | change if isinstance(change, dict) else change
        return {name: value for name, value in request.items() if value is not None}

    def create(self, shell: str = "true", **changes: Any) -> str:
        """Create a job; its name."""
        request = self.request(shell, **changes)
        self.sagemaker.create_training_job(**request)
        return request["TrainingJobName"]

    def run(self, shell: str = "true", **changes: Any) -> dict:
        """Run a job to its end, and describe it."""
        return self.wait(self.create(shell, **changes))

    def describe(self, name: str = "my-job") -> dict:
        """DescribeTrainingJob."""
        return self.sagemaker.describe_training_job(TrainingJobName=name)

    def wait(self, name: str = "my-job", secondary: tuple[str, ...] = ()) -> dict:
        """Wait for a job's end, or for a secondary status."""
        deadline = time.monotonic() + 30
        while True:
            job = self.describe(name)
            if job["TrainingJobStatus"] in ("Completed", "Failed", "Stopped"):
                return job
            if job["SecondaryStatus"] in secondary:
                return job
            assert time.monotonic() < deadline, f"{name} is still {job['SecondaryStatus']}"
            time.sleep(0.01)

    def wait_for_line(self, line: str, name: str = "my-job") -> None:
        """Wait until a job has printed a line."""
        deadline = time.monotonic() + 30
        while line not in self.log(name):
            assert time.monotonic() < deadline, f"{name} never printed {line}"
            time.sleep(0.01)

    def log(self, name: str = "my-job", host: str = "algo-1") -> list[str]:
        """What an instance printed, as CloudWatch Logs has it."""
        logs, group = self.aws.client("logs"), "/aws/sagemaker/TrainingJobs"
        try:
            streams = logs.describe_log_streams(logGroupName=group, logStreamNamePrefix=f"{name}/{host}-")
        except logs.exceptions.ResourceNotFoundException:
            return []
        return [
            event["message"]
            for stream in streams["logStreams"]
            for event in logs.get_log_events(
                logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True
            )["events"]
        ]

    def make_subnet(self, *, endpoint: bool = True, zone: str = "us-east-1a") -> tuple[str, str]:
        """A subnet with no way out but an S3 endpoint, if that; and a security group that lets all out."""
        vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnet = self.ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZone=zone)
        table = self.ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        subnet_id = subnet["Subnet"]["SubnetId"]
        self.ec2.associate_route_table(RouteTableId=table, SubnetId=subnet_id)
        if endpoint:
            self.ec2.create_vpc_endpoint(
                VpcId=vpc, ServiceName="com.amazonaws.us-east-1.s3", RouteTableIds=[table]
            )
        group = self.ec2.create_security_group(GroupName="job", Description="job", VpcId=vpc)["GroupId"]
        return subnet_id, group


@pytest.fixture
def desk(aws: Any) -> Desk:
    """An empty account with a bucket and a role that may do everything."""
    return Desk(aws)

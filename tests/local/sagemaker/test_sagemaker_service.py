"""Listing, tags, several accounts and Regions, the end of the local AWS."""

import subprocess
import time
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError


def names(page):
    return [job["TrainingJobName"] for job in page["TrainingJobSummaries"]]


@pytest.fixture
def jobs(desk):
    """Four jobs, one of which failed."""
    for name, shell in (("b-1", "true"), ("a-1", "exit 1"), ("c-2", "true"), ("A-3", "true")):
        desk.run(shell, TrainingJobName=name)
    return desk.sagemaker.list_training_jobs


CHOSEN = [
    ({}, ["b-1", "a-1", "c-2", "A-3"]),
    ({"SortOrder": "Descending"}, ["A-3", "c-2", "a-1", "b-1"]),
    ({"SortBy": "Name"}, ["A-3", "a-1", "b-1", "c-2"]),
    ({"SortBy": "Status", "SortOrder": "Descending"}, ["a-1", "c-2", "b-1", "A-3"]),
    ({"NameContains": "a-"}, ["a-1", "A-3"]),
    ({"StatusEquals": "Failed"}, ["a-1"]),
    ({"StatusEquals": "InProgress"}, []),
    ({"CreationTimeAfter": datetime.now(UTC) - timedelta(days=1)}, ["b-1", "a-1", "c-2", "A-3"]),
    ({"CreationTimeBefore": datetime.now(UTC) - timedelta(days=1)}, []),
    ({"LastModifiedTimeAfter": datetime.now(UTC) + timedelta(days=1)}, []),
    ({"WarmPoolStatusEquals": "InUse"}, []),
]


def test_jobs_are_chosen_sorted_and_paged(jobs):
    for asked, found in CHOSEN:
        assert (asked, names(jobs(**asked))) == (asked, found)
    first = jobs(MaxResults=3, SortBy="Name")
    second = jobs(MaxResults=3, SortBy="Name", NextToken=first["NextToken"])
    assert (names(first), names(second)) == (["A-3", "a-1", "b-1"], ["c-2"])
    assert "NextToken" not in second
    with pytest.raises(ClientError, match="NextToken"):
        jobs(NextToken="made up")
    job = jobs(StatusEquals="Failed")["TrainingJobSummaries"][0]
    assert job["SecondaryStatus"] == "Failed"
    assert job["TrainingEndTime"] >= job["CreationTime"]


def test_tags(desk):
    arn = desk.run(Tags=[{"Key": "team", "Value": "blue"}])["TrainingJobArn"]
    desk.sagemaker.add_tags(
        ResourceArn=arn, Tags=[{"Key": "team", "Value": "red"}, {"Key": "run", "Value": "7"}]
    )
    assert desk.sagemaker.list_tags(ResourceArn=arn)["Tags"] == [
        {"Key": "team", "Value": "red"},
        {"Key": "run", "Value": "7"},
    ]
    desk.sagemaker.delete_tags(ResourceArn=arn, TagKeys=["team", "never-there"])
    assert desk.sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "run", "Value": "7"}]


@pytest.mark.parametrize(("count", "allowed"), [(49, True), (50, False)])
def test_fifty_tags(desk, count, allowed):
    arn = desk.run(Tags=[{"Key": "team", "Value": "blue"}])["TrainingJobArn"]
    tags = [{"Key": str(number), "Value": "x"} for number in range(count)]
    if allowed:
        assert len(desk.sagemaker.add_tags(ResourceArn=arn, Tags=tags)["Tags"]) == 50
    else:
        with pytest.raises(ClientError, match="at most 50 tags"):
            desk.sagemaker.add_tags(ResourceArn=arn, Tags=tags)


@pytest.mark.parametrize("operation", ["describe_training_job", "stop_training_job"])
def test_a_missing_job(desk, operation):
    with pytest.raises(ClientError, match="Requested resource not found") as error:
        getattr(desk.sagemaker, operation)(TrainingJobName="nobody")
    assert error.value.response["Error"]["Code"] == "ValidationException"


def test_the_description_repeats_the_request_with_its_defaults(desk):
    request = desk.request(HyperParameters={"a": "1"}, Environment={"B": "2"}, StoppingCondition=None)
    desk.sagemaker.create_training_job(**request)
    job = desk.wait()
    for name in ("HyperParameters", "Environment", "RoleArn", "OutputDataConfig", "AlgorithmSpecification"):
        assert job[name] == request[name]
    assert job["StoppingCondition"] == {"MaxRuntimeInSeconds": 86_400}
    assert job["EnableNetworkIsolation"] is False


def test_each_region_has_its_own_jobs(desk):
    desk.run()
    elsewhere = boto3.client(
        "sagemaker",
        endpoint_url=desk.aws.url,
        region_name="eu-west-1",
        aws_access_key_id="123456789012",
        aws_secret_access_key="x",
        config=Config(retries={"total_max_attempts": 1}),
    )
    try:
        assert elsewhere.list_training_jobs()["TrainingJobSummaries"] == []
        request = desk.request("echo $AWS_REGION > /opt/ml/model/m")
        with pytest.raises(ClientError, match="us-east-1"):  # the bucket is there
            elsewhere.create_training_job(**request)
        desk.s3.create_bucket(
            Bucket="eu-bucket", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
        )
        request["OutputDataConfig"]["S3OutputPath"] = "s3://eu-bucket/out"
        arn = elsewhere.create_training_job(**request)["TrainingJobArn"]
        assert arn == "arn:aws:sagemaker:eu-west-1:123456789012:training-job/my-job"
        while (job := elsewhere.describe_training_job(TrainingJobName="my-job"))[
            "TrainingJobStatus"
        ] == "InProgress":
            time.sleep(0.01)
        assert job["TrainingJobStatus"] == "Completed", job.get("FailureReason")
    finally:
        elsewhere.close()


@pytest.mark.parametrize("end", ["stop_all", "reset"])
def test_the_end_of_the_local_aws_ends_every_job(desk, end):
    seconds = f"{600 + time.monotonic_ns() % 10**6 / 10**6:.6f}"
    for name in ("one", "two"):
        desk.create(
            f"trap '' TERM; echo up; (setsid sleep {seconds} &); sleep {seconds}", TrainingJobName=name
        )
        desk.wait_for_line("up", name)
    desk.aws.durations.job_starting = 60
    desk.create(TrainingJobName="starting")
    getattr(desk.aws.sagemaker, end)()
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"sleep {seconds}" not in listed
    left = names(desk.sagemaker.list_training_jobs())
    assert left == ([] if end == "reset" else ["one", "two", "starting"])
    desk.aws.durations.job_starting = 0.05
    if end == "reset":
        assert desk.run(TrainingJobName="one")["TrainingJobStatus"] == "Completed"

"""Finding, counting and deleting the buckets that stacks left behind."""

import json
from typing import Any

import pytest

from trainfeed import names
from trainfeed.run import buckets
from trainfeed.run.aws import UserError


def make(aws: Any, name: str, *, stack: str | None = "DatasetStack", versioned: bool = False) -> str:
    s3 = aws.client("s3")
    s3.create_bucket(Bucket=name)
    tags = [{"Key": "team", "Value": "vision"}] + (
        [{"Key": names.STACK_TAG, "Value": stack}] if stack else []
    )
    s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tags})
    if versioned:
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return name


def deploy(aws: Any, stack: str) -> str:
    """A stack with one bucket, retained when it goes; returns the bucket's name."""
    bucket = {
        "Type": "AWS::S3::Bucket",
        "DeletionPolicy": "Retain",
        "Properties": {"Tags": [{"Key": names.STACK_TAG, "Value": stack}]},
    }
    cloudformation = aws.client("cloudformation")
    cloudformation.create_stack(StackName=stack, TemplateBody=json.dumps({"Resources": {"Data": bucket}}))
    cloudformation.get_waiter("stack_create_complete").wait(StackName=stack, WaiterConfig={"Delay": 1})
    return cloudformation.describe_stack_resources(StackName=stack)["StackResources"][0]["PhysicalResourceId"]


def test_ours_are_those_with_the_tag(aws: Any) -> None:
    make(aws, "ours-b")
    make(aws, "ours-a", stack="OtherStack")
    make(aws, "theirs", stack=None)
    aws.client("s3").create_bucket(Bucket="untagged")
    assert buckets.ours(aws.client) == (
        buckets.Bucket(name="ours-a", made_by="OtherStack", owned=False),
        buckets.Bucket(name="ours-b", made_by="DatasetStack", owned=False),
    )


def test_a_bucket_is_owned_while_its_stack_lives(aws: Any) -> None:
    name = deploy(aws, "DatasetStack")
    earlier = make(aws, "kept-from-an-earlier-stack")
    aws.client("s3").put_object(Bucket=name, Key="data/1", Body=b"x")

    assert buckets.find(aws.client, name).owned
    assert not buckets.find(aws.client, earlier).owned
    with pytest.raises(
        UserError, match=f"DatasetStack still owns the bucket {name}.*cdk destroy DatasetStack"
    ):
        buckets.delete(aws.client, buckets.find(aws.client, name))
    assert aws.client("s3").head_object(Bucket=name, Key="data/1")

    cloudformation = aws.client("cloudformation")
    cloudformation.delete_stack(StackName="DatasetStack")
    cloudformation.get_waiter("stack_delete_complete").wait(
        StackName="DatasetStack", WaiterConfig={"Delay": 1}
    )
    assert not buckets.find(aws.client, name).owned
    buckets.delete(aws.client, buckets.find(aws.client, name))
    with pytest.raises(UserError, match="no bucket named"):
        buckets.find(aws.client, name)


def test_everything_in_it_goes_too(aws: Any) -> None:
    name, s3 = make(aws, "full", versioned=True), aws.client("s3")
    for body in (b"one", b"second"):
        s3.put_object(Bucket=name, Key="data/a", Body=body)
    s3.put_object(Bucket=name, Key="data/b", Body=b"x")
    s3.delete_object(Bucket=name, Key="data/b")
    s3.create_multipart_upload(Bucket=name, Key="data/never-finished")

    assert buckets.measure(aws.client, name) == buckets.Contents(versions=4, bytes=10)
    buckets.delete(aws.client, buckets.find(aws.client, name))
    assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == []


def test_more_objects_than_one_page(aws: Any) -> None:
    name, s3 = make(aws, "many"), aws.client("s3")
    for number in range(1_005):
        s3.put_object(Bucket=name, Key=f"data/{number}", Body=b"")
    buckets.delete(aws.client, buckets.find(aws.client, name))
    assert buckets.ours(aws.client) == ()


@pytest.mark.parametrize(
    ("name", "says"),
    [("theirs", "was not made by trainfeed"), ("nowhere", "There is no bucket named nowhere")],
)
def test_what_is_not_ours_is_left_alone(aws: Any, name: str, says: str) -> None:
    make(aws, "theirs", stack=None)
    with pytest.raises(UserError, match=says):
        buckets.find(aws.client, name)

import pytest
from aws_cdk import aws_s3

from trainfeed_constructs import DatasetBucket


def test_a_bucket_is_private_encrypted_and_kept(stack, only):
    DatasetBucket(stack, "Data")

    _, bucket = only("AWS::S3::Bucket")
    assert bucket["DeletionPolicy"] == bucket["UpdateReplacePolicy"] == "Retain"
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}
    encryption = bucket["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption == [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]


def test_a_bucket_refuses_plain_http_even_when_its_stack_is_gone(stack, only):
    DatasetBucket(stack, "Data")

    bucket, _ = only("AWS::S3::Bucket")
    _, policy = only("AWS::S3::BucketPolicy")
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert policy["DeletionPolicy"] == "Retain"
    assert policy["Properties"]["Bucket"] == {"Ref": bucket}
    assert statement["Effect"] == "Deny"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize("days", [0, 30, None])
def test_objects_move_to_intelligent_tiering_when_told(stack, only, days):
    DatasetBucket(stack, "Data", intelligent_tiering_days=days)

    (rule,) = only("AWS::S3::Bucket")[1]["Properties"]["LifecycleConfiguration"]["Rules"]
    expected = [] if days is None else [{"StorageClass": "INTELLIGENT_TIERING", "TransitionInDays": days}]
    assert rule.get("Transitions", []) == expected
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}


def test_no_hidden_function_empties_a_bucket(stack, found):
    DatasetBucket(stack, "Data")

    assert {body["Type"] for body in found().values()} == {"AWS::S3::Bucket", "AWS::S3::BucketPolicy"}


def test_an_existing_bucket_can_take_the_access_logs(stack, only):
    logs = aws_s3.Bucket.from_bucket_name(stack, "Logs", "logs-of-mine")
    DatasetBucket(stack, "Data", access_log_bucket=logs)

    logging = only("AWS::S3::Bucket")[1]["Properties"]["LoggingConfiguration"]
    assert logging == {"DestinationBucketName": "logs-of-mine"}

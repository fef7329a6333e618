"""AWS::S3::Bucket and AWS::S3::BucketPolicy."""

from typing import Any

import pytest

FULL = {
    "BucketEncryption": {
        "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
    },
    "LifecycleConfiguration": {
        "Rules": [
            {
                "Id": "tidy",
                "Status": "Enabled",
                "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
                "Transitions": [{"StorageClass": "INTELLIGENT_TIERING", "TransitionInDays": 30}],
            },
            {
                "Id": "drop",
                "Status": "Enabled",
                "Prefix": "tmp/",
                "ExpirationInDays": 3,
                "TagFilters": [{"Key": "keep", "Value": "no"}],
                "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
            },
        ]
    },
    "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
    "PublicAccessBlockConfiguration": {"BlockPublicAcls": True, "BlockPublicPolicy": True},
    "VersioningConfiguration": {"Status": "Enabled"},
    "Tags": [{"Key": "team", "Value": "vision"}],
}


def bucket(**properties: Any) -> dict[str, Any]:
    return {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": properties}}


@pytest.fixture
def s3(aws: Any) -> Any:
    return aws.client("s3")


def test_every_property_is_set_and_unset(s3, stack):
    stack.create(bucket(**FULL))
    assert stack.status == "CREATE_COMPLETE", stack.reasons()
    name = stack.physical("Bucket")

    (rule,) = s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
    assert rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    tidy, drop = s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert tidy["Transitions"] == [{"Days": 30, "StorageClass": "INTELLIGENT_TIERING"}]
    assert tidy["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    assert tidy["Filter"] == {"Prefix": ""}
    assert (drop["Expiration"]["Days"], drop["Filter"]["And"]["Prefix"]) == (3, "tmp/")
    assert drop["Filter"]["And"]["Tags"] == [{"Key": "keep", "Value": "no"}]
    assert drop["NoncurrentVersionExpiration"] == {"NoncurrentDays": 1}
    (rule,) = s3.get_bucket_ownership_controls(Bucket=name)["OwnershipControls"]["Rules"]
    assert rule == {"ObjectOwnership": "BucketOwnerEnforced"}
    block = s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]
    assert (block["BlockPublicAcls"], block["RestrictPublicBuckets"]) == (True, False)
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    tags = {tag["Key"]: tag["Value"] for tag in s3.get_bucket_tagging(Bucket=name)["TagSet"]}
    assert tags["team"] == "vision"
    assert tags["aws:cloudformation:logical-id"] == "Bucket"

    stack.update(bucket(Tags=[{"Key": "team", "Value": "speech"}]))
    assert stack.physical("Bucket") == name
    for read in (s3.get_bucket_lifecycle_configuration, s3.get_bucket_ownership_controls):
        with pytest.raises(s3.exceptions.ClientError):
            read(Bucket=name)
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Suspended"
    tags = {tag["Key"]: tag["Value"] for tag in s3.get_bucket_tagging(Bucket=name)["TagSet"]}
    assert tags["team"] == "speech"


def test_a_bucket_with_objects_is_not_deleted(s3, stack):
    stack.create(bucket())
    name = stack.physical("Bucket")
    s3.put_object(Bucket=name, Key="data", Body=b"1")
    assert stack.delete().status == "DELETE_FAILED"
    assert "BucketNotEmpty" in stack.reasons()[0]
    s3.delete_object(Bucket=name, Key="data")
    assert stack.delete().status == "DELETE_COMPLETE"
    assert s3.list_buckets()["Buckets"] == []


def test_a_retained_bucket_stays(s3, stack):
    stack.create({"Bucket": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"}})
    name = stack.physical("Bucket")
    assert stack.delete().status == "DELETE_COMPLETE"
    assert [each["Name"] for each in s3.list_buckets()["Buckets"]] == [name]


def test_another_name_is_another_bucket(s3, stack):
    stack.create(bucket(BucketName="first-data", **FULL))
    stack.update(bucket(BucketName="second-data", **FULL))
    assert [each["Name"] for each in s3.list_buckets()["Buckets"]] == ["second-data"]
    assert s3.get_bucket_lifecycle_configuration(Bucket="second-data")["Rules"]


def test_a_property_that_s3_refuses_fails_the_stack_and_leaves_no_bucket(s3, stack):
    rule = {"Status": "Enabled", "Transitions": [{"StorageClass": "COLD", "TransitionInDays": 1}]}
    stack.create(bucket(LifecycleConfiguration={"Rules": [rule]}))
    assert stack.status == "ROLLBACK_COMPLETE"
    assert "ErrorCode: MalformedXML" in stack.reasons()[0]
    assert s3.list_buckets()["Buckets"] == []


def test_a_bucket_has_one_policy(s3, stack):
    def policy(effect: str) -> dict[str, Any]:
        statement = {"Effect": effect, "Principal": "*", "Action": "s3:*", "Resource": "*"}
        properties = {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": {"Statement": [statement]}}
        return {"Type": "AWS::S3::BucketPolicy", "Properties": properties}

    stack.create({**bucket(), "One": policy("Deny")})
    name = stack.physical("Bucket")
    stack.update({**bucket(), "One": policy("Deny"), "Two": policy("Allow")})
    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert "already exists" in stack.reasons()[0]
    assert '"Deny"' in s3.get_bucket_policy(Bucket=name)["Policy"]
    stack.update({**bucket(), "One": policy("Allow")})
    assert '"Allow"' in s3.get_bucket_policy(Bucket=name)["Policy"]
    stack.update(bucket())
    with pytest.raises(s3.exceptions.ClientError, match="NoSuchBucketPolicy"):
        s3.get_bucket_policy(Bucket=name)


def test_encryption_with_kms_needs_no_key_of_ones_own(s3):
    s3.create_bucket(Bucket="some-data")
    s3.put_object(Bucket="some-data", Key="data", Body=b"1", ServerSideEncryption="aws:kms")
    stored = s3.head_object(Bucket="some-data", Key="data")
    assert stored["SSEKMSKeyId"] == "arn:aws:kms:us-east-1:123456789012:alias/aws/s3"
    s3.put_object(Bucket="some-data", Key="data", Body=b"1", ServerSideEncryption="AES256")
    assert "SSEKMSKeyId" not in s3.head_object(Bucket="some-data", Key="data")


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_listing_of_versions_in_pages_tells_each_once(s3, versioned, size):
    s3.create_bucket(Bucket="paged")
    if versioned:
        s3.put_bucket_versioning(Bucket="paged", VersioningConfiguration={"Status": "Enabled"})
    for key in ("a", "b", "b", "c", "d"):
        s3.put_object(Bucket="paged", Key=key, Body=b"x")

    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket="paged", PaginationConfig={"PageSize": size}
    )
    listed = [version["Key"] for page in pages for version in page.get("Versions", [])]
    assert listed == (["a", "b", "b", "c", "d"] if versioned else ["a", "b", "c", "d"])

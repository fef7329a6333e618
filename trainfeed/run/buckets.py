"""The buckets that trainfeed made. They outlive their stacks, until someone deletes them by name."""

import re
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from trainfeed import names
from trainfeed.run.aws import Client, UserError, code

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_GONE = {"DELETE_COMPLETE", "DELETE_SKIPPED"}


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket with trainfeed's tag.

    Attributes:
        made_by: the stack that made it.
        owned: whether that stack still exists and holds it.
    """

    name: str
    made_by: str
    owned: bool


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What deleting a bucket would delete.

    Attributes:
        versions: objects, with their older versions and delete markers.
        bytes: of all of them together.
    """

    versions: int
    bytes: int


def ours(client: Client) -> tuple[Bucket, ...]:
    """Every bucket with trainfeed's tag in this Region, sorted by name."""
    pages = (
        client("resourcegroupstaggingapi")
        .get_paginator("get_resources")
        .paginate(TagFilters=[{"Key": names.STACK_TAG}], ResourceTypeFilters=["s3"])
    )
    arns = (item["ResourceARN"] for page in pages for item in page["ResourceTagMappingList"])
    return tuple(find(client, name) for name in sorted(arn.rpartition(":")[2] for arn in arns))


def name_of(text: str) -> str:
    """The bucket's name in what a person typed: `NAME` or `s3://NAME`.

    Raises:
        UserError: no bucket can have this name.
    """
    typed = text.removeprefix("s3://").removesuffix("/")
    if not _NAME.fullmatch(typed):
        raise UserError(
            f"{text!r} cannot be a bucket's name, which has 3 to 63 lower-case letters, digits, dots and "
            "hyphens. See the buckets there are: trainfeed ls"
        )
    return typed


def find(client: Client, name: str) -> Bucket:
    """A bucket that trainfeed made.

    Raises:
        UserError: there is no such bucket, or it is not trainfeed's.
    """
    made_by = _tags(client, name).get(names.STACK_TAG)
    if made_by is None:
        raise UserError(f"The bucket {name} was not made by trainfeed: it has no tag {names.STACK_TAG}.")
    return Bucket(name=name, made_by=made_by, owned=_held(client, bucket=name, stack=made_by))


def owned_text(bucket: Bucket) -> str:
    """Why a bucket that a stack still owns is not deleted."""
    return (
        f"The stack {bucket.made_by} still owns the bucket {bucket.name}. "
        f"Destroy it first: cdk destroy {bucket.made_by}"
    )


def measure(client: Client, name: str) -> Contents:
    """Count what is in a bucket, every version of it."""
    versions = size = 0
    for page in client("s3").get_paginator("list_object_versions").paginate(Bucket=name):
        kept = page.get("Versions", ())
        versions += len(kept) + len(page.get("DeleteMarkers", ()))
        size += sum(item["Size"] for item in kept)
    return Contents(versions=versions, bytes=size)


def delete(client: Client, bucket: Bucket) -> None:
    """Delete a bucket with all it holds: every version, delete marker and unfinished upload.

    Raises:
        UserError: a stack still owns it, or an object could not be deleted.
    """
    if bucket.owned:
        raise UserError(owned_text(bucket))
    s3 = client("s3")
    for page in s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket.name):
        for upload in page.get("Uploads", ()):
            s3.abort_multipart_upload(Bucket=bucket.name, Key=upload["Key"], UploadId=upload["UploadId"])
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket.name):
        _delete_objects(s3, bucket.name, [*page.get("Versions", ()), *page.get("DeleteMarkers", ())])
    s3.delete_bucket(Bucket=bucket.name)


def _delete_objects(s3: Any, bucket: str, items: list[dict[str, Any]]) -> None:
    if not items:
        return
    doomed = [{"Key": item["Key"], "VersionId": item["VersionId"]} for item in items]
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": doomed, "Quiet": True})
    if refused := answer.get("Errors"):
        first = refused[0]
        raise UserError(
            f"{len(refused)} objects of {bucket} could not be deleted. "
            f"The first is {first['Key']}: {first['Message']}"
        )


def _tags(client: Client, name: str) -> dict[str, str]:
    try:
        tags = client("s3").get_bucket_tagging(Bucket=name)["TagSet"]
    except ClientError as error:
        if code(error) == "NoSuchTagSet":
            return {}
        if code(error) in ("NoSuchBucket", "InvalidBucketName"):
            raise UserError(f"There is no bucket named {name}.") from None
        raise
    return {item["Key"]: item["Value"] for item in tags}


def _held(client: Client, *, bucket: str, stack: str) -> bool:
    try:
        resources = client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
    except ClientError as error:
        if code(error) == "ValidationError":  # CloudFormation's word for a stack that does not exist
            return False
        raise
    return any(
        item.get("PhysicalResourceId") == bucket and item["ResourceStatus"] not in _GONE for item in resources
    )

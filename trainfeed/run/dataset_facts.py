"""What lies under an S3 address: one listing, counted as it goes by."""

from collections import Counter

from botocore.exceptions import ClientError

from trainfeed.rules.data import DatasetFacts
from trainfeed.rules.s3 import key_fault
from trainfeed.run.aws import Client, UserError, code, denied
from trainfeed.sources import S3Uri

#: A thousand objects a page; beyond this the counts are of what was seen, and say so.
MOST_OBJECTS = 1_000_000
_KEYS_SHOWN = 10


def observe(client: Client, uri: S3Uri) -> DatasetFacts:
    """Count what is under an address, up to a million objects.

    Raises:
        UserError: the bucket does not exist, or may not be listed.
    """
    s3 = client("s3")
    region = bucket_region(client, uri.bucket)
    objects = size = 0
    classes: Counter[str] = Counter()
    illegal: list[str] = []
    try:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=uri.bucket, Prefix=uri.folder):
            for item in page.get("Contents", ()):
                objects += 1
                size += item["Size"]
                classes[item.get("StorageClass", "STANDARD")] += 1
                key = item["Key"]
                if len(illegal) < _KEYS_SHOWN and key_fault(key.removeprefix(uri.folder) or "folder"):
                    illegal.append(key)
            if objects >= MOST_OBJECTS:
                break
    except ClientError as error:
        if denied(error):
            raise UserError(f"You may not list {uri}: s3:ListBucket on the bucket is missing.") from None
        raise
    return DatasetFacts(
        objects=objects, bytes=size, region=region, storage_classes=dict(classes), illegal_keys=tuple(illegal)
    )


def bucket_region(client: Client, bucket: str) -> str:
    """The Region of a bucket.

    Raises:
        UserError: it does not exist, or belongs to another account that does not let you in.
    """
    try:
        answer = client("s3").head_bucket(Bucket=bucket)
    except ClientError as error:
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        if code(error) == "404":
            raise UserError(f"There is no bucket named {bucket}. Correct the name, or create it.") from None
        if region := headers.get("x-amz-bucket-region"):
            if denied(error):
                raise UserError(f"The bucket {bucket} exists, but you may not read it.") from None
            return region
        raise
    headers = answer["ResponseMetadata"]["HTTPHeaders"]
    return answer.get("BucketRegion") or headers.get("x-amz-bucket-region") or client("s3").meta.region_name

"""The S3 side of a file system: what a bucket holds, read as the file system reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainfeed.sources import S3Uri

Client = Callable[[str], Any]


class RepositoryError(Exception):
    """S3 did not give or take what it was asked to; the text says which error it answered."""


@dataclass(frozen=True, kw_only=True)
class S3Object:
    """An object as a listing shows it."""

    key: str
    etag: str
    size: int
    modified: datetime


class Repository:
    """The buckets of the local AWS.

    Args:
        client: gives a boto3 client of a service.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def region(self, bucket: str) -> str | None:
        """The Region of a bucket; None where there is no such bucket."""
        try:
            return self._client("s3").get_bucket_location(Bucket=bucket)["LocationConstraint"] or "us-east-1"
        except ClientError:
            return None

    def objects(self, uri: S3Uri) -> list[S3Object]:
        """The objects of a folder, in the order of their keys: `run1` does not hold `run10/a`."""
        try:
            pages = (
                self._client("s3")
                .get_paginator("list_objects_v2")
                .paginate(Bucket=uri.bucket, Prefix=uri.folder)
            )
            return [
                S3Object(key=each["Key"], etag=each["ETag"], size=each["Size"], modified=each["LastModified"])
                for answer in pages
                for each in answer.get("Contents", [])
            ]
        except (ClientError, BotoCoreError) as error:
            raise RepositoryError(_reason(error)) from error

    def read(self, bucket: str, key: str, write: Callable[[bytes], Any]) -> datetime:
        """Hand an object's bytes to `write`, piece by piece; when it was last modified."""
        try:
            answer = self._client("s3").get_object(Bucket=bucket, Key=key)
            for piece in answer["Body"].iter_chunks(1024 * 1024):
                write(piece)
            return answer["LastModified"]
        except (ClientError, BotoCoreError) as error:
            raise RepositoryError(_reason(error)) from error

    def write(self, bucket: str, key: str, body: Any) -> str:
        """Put an object; its ETag."""
        try:
            return self._client("s3").put_object(Bucket=bucket, Key=key, Body=body)["ETag"]
        except (ClientError, BotoCoreError) as error:
            raise RepositoryError(_reason(error)) from error

    def delete(self, bucket: str, key: str) -> None:
        """Delete an object."""
        try:
            self._client("s3").delete_object(Bucket=bucket, Key=key)
        except (ClientError, BotoCoreError) as error:
            raise RepositoryError(_reason(error)) from error


def _reason(error: Exception) -> str:
    if isinstance(error, ClientError):
        return error.response["Error"]["Code"]
    return str(error)

"""S3 as a job's role sees it: what its policies deny is denied, whatever the local S3 would let through."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainfeed.local import ministack
from trainfeed.sources import S3Uri


class StorageError(Exception):
    """S3 refused; the text is what it said."""


@dataclass(frozen=True, kw_only=True)
class S3Object:
    """An object, and where it belongs below a channel's folder."""

    bucket: str
    key: str
    size: int
    path: str


class RoleStorage:
    """S3 for the execution role of a job."""

    def __init__(self, *, s3: Any, role_arn: str) -> None:
        self._s3 = s3
        self._role_arn = role_arn

    def objects(self, address: str) -> Iterator[S3Object]:
        """The objects whose key begins with an address, in the order of their keys.

        S3Uri is a prefix of keys, not a folder: `s3://bucket/data/a` also takes `data/ab`. What lies below
        a folder of that name keeps its path from there, anything else its path from the last slash.
        Keys that end in a slash stand for empty folders and are left out.

        Raises:
            StorageError: the bucket is missing, or the role may not list it.
        """
        bucket, prefix = split(address)
        self._demand("s3:ListBucket", f"arn:aws:s3:::{bucket}", {"s3:prefix": prefix})
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        with _spoken():
            for page in pages:
                for entry in page.get("Contents", []):
                    key = entry["Key"]
                    if not key.endswith("/"):
                        yield S3Object(
                            bucket=bucket, key=key, size=entry["Size"], path=relative_path(prefix, key)
                        )

    def size(self, bucket: str, key: str) -> int:
        """The size of an object in bytes.

        Raises:
            StorageError: it is missing, or the role may not read it.
        """
        self._demand("s3:GetObject", f"arn:aws:s3:::{bucket}/{key}")
        with _spoken():
            return self._s3.head_object(Bucket=bucket, Key=key)["ContentLength"]

    def read(self, address: str) -> bytes:
        """The content of one object.

        Raises:
            StorageError: it is missing, or the role may not read it.
        """
        bucket, key = split(address)
        self._demand("s3:GetObject", f"arn:aws:s3:::{bucket}/{key}")
        with _spoken():
            return self._s3.get_object(Bucket=bucket, Key=key)["Body"].read()

    def download(self, item: S3Object, folder: Path) -> None:
        """Put an object below a folder.

        Raises:
            StorageError: the role may not read it, or its path leads out of the folder or is taken.
        """
        self._demand("s3:GetObject", f"arn:aws:s3:::{item.bucket}/{item.key}")
        target = folder / item.path
        if ".." in Path(item.path).parts:
            raise StorageError(f"The key {item.key} leads out of the channel's folder.")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with _spoken(), target.open("wb") as file:
                for part in self._s3.get_object(Bucket=item.bucket, Key=item.key)["Body"].iter_chunks(
                    1 << 20
                ):
                    file.write(part)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise StorageError(f"The key {item.key} is both a file and a folder.") from error

    def upload(self, file: Path, address: str) -> None:
        """Write a file to an address.

        Raises:
            StorageError: the bucket is missing, or the role may not write there.
        """
        bucket, key = split(address)
        self._demand("s3:PutObject", f"arn:aws:s3:::{bucket}/{key}")
        with _spoken(), file.open("rb") as content:
            self._s3.upload_fileobj(content, bucket, key)

    def _demand(self, action: str, resource: str, context: dict[str, Any] | None = None) -> None:
        denial = ministack.role_allows(self._role_arn, action, resource, context or {})
        if denial is not None:
            raise StorageError(f"AccessDenied (403): {denial}")


def split(address: str) -> tuple[str, str]:
    """The bucket and the key, or prefix of keys, of an address; its slashes are kept.

    Raises:
        StorageError: it is no S3 address.
    """
    try:
        bucket = S3Uri.parse(address).bucket
    except ValueError as error:
        raise StorageError(str(error)) from error
    return bucket, address.removeprefix(f"s3://{bucket}").removeprefix("/")


def join(address: str, *parts: str) -> str:
    """An address below another."""
    return "/".join([address.rstrip("/"), *parts])


def relative_path(prefix: str, key: str) -> str:
    """Where a key belongs below the folder of a channel that takes all keys with a prefix."""
    folder = prefix if not prefix or prefix.endswith("/") else f"{prefix}/"
    return key[len(folder) :] if key.startswith(folder) else key[prefix.rfind("/") + 1 :]


class _spoken:  # noqa: N801 - reads as a word of the with statement
    """Turn what botocore raises into a StorageError that says it."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        match error:
            case ClientError():
                said, status = error.response["Error"], error.response["ResponseMetadata"]["HTTPStatusCode"]
                raise StorageError(f"{said['Code']} ({status}): {said['Message']}") from error
            case BotoCoreError():
                raise StorageError(str(error)) from error

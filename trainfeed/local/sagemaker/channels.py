"""How the data of a channel reaches an instance."""

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any

from trainfeed.local.sagemaker.failures import JobFailedError
from trainfeed.local.sagemaker.storage import RoleStorage, S3Object, StorageError, join, split

_READERS = 8


def input_mode(request: dict[str, Any], channel: dict[str, Any]) -> str:
    """How a channel is read: its own mode, or that of the job."""
    return channel.get("InputMode") or request["AlgorithmSpecification"]["TrainingInputMode"]


def objects(storage: RoleStorage, source: dict[str, Any]) -> list[S3Object]:
    """The objects that an S3DataSource names, in the order of their keys.

    Raises:
        JobFailedError: there are none, or the role may not see them.
    """
    address = source["S3Uri"]
    try:
        if source["S3DataType"] == "ManifestFile":
            found = _of_manifest(storage, address)
        else:
            found = list(storage.objects(address))
    except StorageError as error:
        raise download_failed(f"Failed to download data. {address}: {error}") from error
    if not found:
        raise download_failed(f'No S3 objects found under S3 URL "{address}" given in input data source.')
    return found


def share(found: Sequence[S3Object], source: dict[str, Any], *, index: int, instances: int) -> list[S3Object]:
    """What one of several instances gets: everything, or every n-th object (ShardedByS3Key)."""
    if source.get("S3DataDistributionType") == "ShardedByS3Key":
        return list(found[index::instances])
    return list(found)


def download(
    storage: RoleStorage, found: Iterable[S3Object], folder: Path, proceed: Callable[[], None]
) -> None:
    """Put objects below a channel's folder.

    Args:
        storage: S3 for the job's role.
        found: the objects.
        folder: the channel's folder, made if need be.
        proceed: called before each object; what it raises ends the download.

    Raises:
        JobFailedError: one could not be had.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def fetch(item: S3Object) -> None:
        proceed()
        try:
            storage.download(item, folder)
        except StorageError as error:
            address = f"s3://{item.bucket}/{item.key}"
            raise download_failed(f"Failed to download data. {address}: {error}") from error

    with ThreadPoolExecutor(_READERS, thread_name_prefix="channel") as readers:
        # Each reads for the account and region of this job.
        pending = [readers.submit(copy_context().run, fetch, item) for item in found]
        try:
            for reading in pending:
                reading.result()
        except BaseException:
            for reading in pending:
                reading.cancel()
            raise


def download_failed(said: str) -> JobFailedError:
    """The failure of a job whose data did not arrive."""
    return JobFailedError(f"ClientError: Data download failed:{said}")


def _of_manifest(storage: RoleStorage, address: str) -> list[S3Object]:
    """The objects of a manifest: `[{"prefix": "s3://bucket/folder/"}, "path/of/one", ...]`.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html
    """
    try:
        first, *paths = json.loads(storage.read(address))
        prefix = first["prefix"]
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(
            'The manifest is not of the form [{"prefix": "s3://..."}, "path", ...].'
        ) from error
    bucket, folder = split(prefix)
    return [
        S3Object(bucket=bucket, key=folder + path, size=storage.size(bucket, folder + path), path=path)
        for path in map(str, paths)
    ]


def download_checkpoints(
    storage: RoleStorage, address: str, folder: Path, proceed: Callable[[], None]
) -> None:
    """Bring back what an earlier job of the same checkpoint address left; there may be nothing.

    Raises:
        JobFailedError: the role may not read it.
    """
    try:
        found = list(storage.objects(join(address, "")))
    except StorageError as error:
        raise download_failed(f"Failed to download data. {address}: {error}") from error
    download(storage, found, folder, proceed)

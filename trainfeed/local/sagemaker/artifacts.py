"""What a job leaves in S3: its model, its other output, its checkpoints."""

import tarfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trainfeed.local.sagemaker.failures import JobFailedError
from trainfeed.local.sagemaker.storage import RoleStorage, StorageError, join


def model_address(request: dict[str, Any]) -> str:
    """Where the model of a job goes: an archive, or a folder for a job that asked for no compression."""
    return join(_output(request), "model/" if _loose(request) else "model.tar.gz")


def upload(storage: RoleStorage, request: dict[str, Any], roots: Sequence[Path]) -> None:
    """Upload /opt/ml/model and /opt/ml/output/data of all instances, each as one archive.

    What is empty is not uploaded, as on SageMaker.
    https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-output.html

    Raises:
        JobFailedError: the role may not write there, or the bucket is missing.
    """
    for name, below in (("model", "model"), ("output", "output/data")):
        files = _files([root / below for root in roots])
        if _loose(request):
            _upload_files(storage, files, join(_output(request), name))
        elif files:
            with TemporaryDirectory(prefix="trainfeed-") as scratch:
                archive = Path(scratch, f"{name}.tar.gz")
                with tarfile.open(archive, "w:gz", compresslevel=1, dereference=True) as tar:
                    for path, file in files.items():
                        tar.add(file, arcname=path, recursive=False)
                _upload_files(storage, {archive.name: archive}, _output(request))


def upload_checkpoints(storage: RoleStorage, address: str, folder: Path) -> None:
    """Upload a folder of checkpoints as it is.

    Raises:
        JobFailedError: the role may not write there, or the bucket is missing.
    """
    _upload_files(storage, _files([folder]), address)


def _output(request: dict[str, Any]) -> str:
    return join(request["OutputDataConfig"]["S3OutputPath"], request["TrainingJobName"], "output")


def _loose(request: dict[str, Any]) -> bool:
    return request["OutputDataConfig"].get("CompressionType") == "NONE"


def _files(folders: Sequence[Path]) -> dict[str, Path]:
    """The files below some folders by their path; of two with one path, the first counts."""
    found: dict[str, Path] = {}
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                found.setdefault(file.relative_to(folder).as_posix(), file)
    return found


def _upload_files(storage: RoleStorage, files: dict[str, Path], address: str) -> None:
    for path, file in files.items():
        try:
            storage.upload(file, join(address, path))
        except StorageError as error:
            raise JobFailedError(f"ClientError: Artifact upload failed:{error}") from error

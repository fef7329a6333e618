"""The data sources of a training job, as typed values.

What cannot be said together cannot be written: an S3 link is one value, not a pair of
optional strings, and a source knows its own way into a CreateTrainingJob request.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

_S3_URI = re.compile(r"s3://(?P<bucket>[^/]*)(?:/(?P<prefix>.*))?", re.DOTALL)


@dataclass(frozen=True)
class S3Uri:
    """A bucket and a key prefix. The prefix has no leading and no trailing slash.

    A prefix is a folder: `data/run1` never means `data/run10`.
    """

    bucket: str
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `s3://bucket/prefix`.

        Raises:
            ValueError: the text is no S3 address, or names no bucket.
        """
        match = _S3_URI.fullmatch(text)
        if match is None or not match["bucket"]:
            raise ValueError(f"{text!r} is not an S3 address. Write it as s3://BUCKET/PREFIX.")
        return cls(match["bucket"], (match["prefix"] or "").strip("/"))

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}" if self.prefix else f"s3://{self.bucket}"

    @property
    def folder(self) -> str:
        """The prefix as S3 should be asked for it: with its closing slash, or empty for a whole bucket."""
        return f"{self.prefix}/" if self.prefix else ""


class DataEvent(StrEnum):
    """What an association follows on its own after it is made.

    Source: AutoImportPolicy and AutoExportPolicy of CreateDataRepositoryAssociation.
    """

    NEW = "NEW"
    CHANGED = "CHANGED"
    DELETED = "DELETED"


@dataclass(frozen=True, kw_only=True)
class S3Link:
    """A folder of a Lustre file system linked to a bucket and prefix: one data repository association.

    Attributes:
        uri: where the data lives in S3.
        path: the folder on the file system, absolute (`/data`).
        import_on_create: import the metadata of all objects once the association is made.
        auto_import: the S3 events that keep the file system in step; none by default, so a dataset
            does not change under a running job.
        auto_export: the file system events written back to S3; none by default.
        export_overwrites_source: auto-export may write over the objects that were imported.
        imported_file_chunk_size_mib: stripe size of imported files, 1 to 512,000 MiB.
    """

    uri: S3Uri
    path: str
    import_on_create: bool = True
    auto_import: tuple[DataEvent, ...] = ()
    auto_export: tuple[DataEvent, ...] = ()
    export_overwrites_source: bool = False
    imported_file_chunk_size_mib: int = 1024


class InputMode(StrEnum):
    """How S3 data reaches the script. Source: TrainingInputMode of CreateTrainingJob."""

    FILE = "File"
    FAST_FILE = "FastFile"
    PIPE = "Pipe"


class SourceKind(StrEnum):
    """The data sources that SageMaker offers a training job, by the names people use for them."""

    S3_FILE = "S3 File"
    S3_FAST_FILE = "S3 FastFile"
    S3_PIPE = "S3 Pipe"
    LUSTRE = "FSx for Lustre"
    EFS = "EFS"


class AccessMode(StrEnum):
    """What a job may do on a file system channel. Source: FileSystemAccessMode of CreateTrainingJob."""

    READ_ONLY = "ro"
    READ_WRITE = "rw"


@dataclass(frozen=True, kw_only=True)
class S3Source:
    """Data read straight from S3."""

    uri: S3Uri
    mode: InputMode = InputMode.FILE


@dataclass(frozen=True, kw_only=True)
class LustreSource:
    """Data read through an FSx for Lustre file system.

    Attributes:
        facts: the name under which the file system's stack published its facts (`fsx-lustre`).
        path: the folder on the file system, absolute; the mount name is put before it when a job runs.
        access: read-only unless the job writes there.
    """

    facts: str
    path: str
    access: AccessMode = AccessMode.READ_ONLY


Source = S3Source | LustreSource


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A named input of a training job; it arrives as /opt/ml/input/data/<name>."""

    name: str
    source: Source


@dataclass(frozen=True, kw_only=True)
class FileSystemFacts:
    """What a file system's stack publishes, read when a run starts.

    Attributes:
        file_system_id: `fs-...`.
        mount_name: the first part of every DirectoryPath.
        subnet_id: the one subnet of the file system, which a job must share.
        security_group_ids: the groups a job attaches to reach it.
        imported_paths: the linked folders whose metadata import must have succeeded before a job reads.
    """

    file_system_id: str
    mount_name: str
    subnet_id: str
    security_group_ids: tuple[str, ...]
    imported_paths: tuple[str, ...] = field(default=())

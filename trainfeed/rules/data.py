"""What the data itself, once looked at, means for the way it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial

from trainfeed.rules.rule import Level, Refusal, Rule
from trainfeed.sources import S3Link, S3Source, S3Uri

_CHECKED = date(2026, 11, 20)
_GUIDE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide"
_INPUTS = "https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data.html"
_ARCHIVED = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/archived-objects.html"
_REFUSED_JOB = (Refusal(operation="sagemaker:CreateTrainingJob", code="ValidationException"),)

#: The storage classes whose objects must be restored before they can be read.
ARCHIVE_CLASSES = ("GLACIER", "DEEP_ARCHIVE")


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """What was found under an S3 address.

    Attributes:
        objects: how many.
        bytes: how large together.
        region: the bucket's Region, None where it is not known.
        storage_classes: how many objects there are of each class.
        illegal_keys: some keys that cannot be paths on a file system.
    """

    objects: int
    bytes: int
    region: str | None = None
    storage_classes: Mapping[str, int] = field(default_factory=dict)
    illegal_keys: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LinkedData:
    """The data behind a link, and the Region of its file system."""

    link: S3Link
    region: str
    data: DatasetFacts


@dataclass(frozen=True, kw_only=True)
class ChannelData:
    """The data behind an S3 channel, and the Region of the job."""

    source: S3Source
    region: str
    data: DatasetFacts


def _archived(data: DatasetFacts) -> str | None:
    found = {name: count for name in ARCHIVE_CLASSES if (count := data.storage_classes.get(name, 0))}
    if not found:
        return None
    listed = ", ".join(f"{count} of class {name}" for name, count in found.items())
    return f"{listed}, of {data.objects} objects"


def _elsewhere(bucket: str, data: DatasetFacts, region: str) -> str | None:
    if data.region in (None, region):
        return None
    return f"The bucket {bucket} is in {data.region}"


def _auto_import_region(value: LinkedData) -> str | None:
    if not value.link.auto_import:
        return None
    elsewhere = _elsewhere(value.link.uri.bucket, value.data, value.region)
    return elsewhere and (
        f"{elsewhere} and the file system in {value.region}; auto-import works within one Region. "
        f"Leave auto-import out, or make the file system in {value.data.region}."
    )


def _link_region(value: LinkedData) -> str | None:
    if value.link.auto_import:
        return None
    elsewhere = _elsewhere(value.link.uri.bucket, value.data, value.region)
    return elsewhere and (
        f"{elsewhere} and the file system in {value.region}: every first read crosses Regions, slowly and "
        "at a price. Copy the data to a bucket beside the file system."
    )


def _link_archived(value: LinkedData) -> str | None:
    archived = _archived(value.data)
    return archived and (
        f"{value.link.uri} holds archived data: {archived}. It appears on the file system, and reading it "
        "fails. Restore it first, or link a prefix without it."
    )


def _link_keys(value: LinkedData) -> str | None:
    keys = value.data.illegal_keys
    if not keys:
        return None
    listed = ", ".join(map(repr, keys[:3])) + (" and more" if len(keys) > 3 else "")
    return (
        f"{value.link.uri} holds keys that cannot be paths: {listed}. They are not imported. "
        "Allowed: parts of 1 to 255 bytes between single slashes, none named '.' or '..'. Rename them."
    )


def _link_empty(value: LinkedData) -> str | None:
    if value.data.objects or not value.link.import_on_create:
        return None
    return f"There is nothing to import under {_address(value.link.uri)}. Upload the data first."


def _channel_region(value: ChannelData) -> str | None:
    elsewhere = _elsewhere(value.source.uri.bucket, value.data, value.region)
    return elsewhere and (
        f"{elsewhere} and the job in {value.region}; a job reads buckets of its own Region only. "
        f"Copy the data, or run the job in {value.data.region}."
    )


def _channel_archived(value: ChannelData) -> str | None:
    archived = _archived(value.data)
    return archived and (
        f"{value.source.uri} holds archived data: {archived}. To read it fails the job. "
        "Restore it first, or choose a prefix without it."
    )


def _channel_empty(value: ChannelData) -> str | None:
    if value.data.objects:
        return None
    return f"There is nothing under {_address(value.source.uri)}. Upload the data, or correct the address."


def _address(uri: S3Uri) -> str:
    return f"s3://{uri.bucket}/{uri.folder}"


_link = partial(Rule[LinkedData], level=Level.WARNING, checked=_CHECKED)
_channel = partial(Rule[ChannelData], level=Level.ERROR, checked=_CHECKED, refused_by=_REFUSED_JOB)

LINK_RULES: tuple[Rule[LinkedData], ...] = (
    _link(
        id="DATA-AUTO-IMPORT-REGION",
        level=Level.ERROR,
        statement="Auto-import works within one Region.",
        source=f"{_GUIDE}/overview-dra-data-repo.html#dra-regional-support",
        reads=("link.auto_import", "link.uri.bucket", "region", "data.region"),
        violated=_auto_import_region,
        refused_by=(Refusal(operation="fsx:CreateDataRepositoryAssociation", code="BadRequest"),),
    ),
    _link(
        id="DATA-LINK-REGION",
        statement="A linked bucket is best in the file system's Region.",
        source=f"{_GUIDE}/overview-dra-data-repo.html#dra-regional-support",
        reads=("link.auto_import", "link.uri.bucket", "region", "data.region"),
        violated=_link_region,
    ),
    _link(
        id="DATA-LINK-ARCHIVED",
        statement="Archived objects appear on a file system but cannot be read.",
        source=_ARCHIVED,
        reads=("link.uri", "data.storage_classes"),
        violated=_link_archived,
    ),
    _link(
        id="DATA-LINK-KEYS",
        statement="Only keys that can be paths are imported.",
        source=f"{_GUIDE}/posix-metadata-support.html",
        reads=("link.uri", "data.illegal_keys"),
        violated=_link_keys,
    ),
    _link(
        id="DATA-LINK-EMPTY",
        statement="A link that imports has something to import.",
        source=f"{_GUIDE}/import-data-repo-task-dra.html",
        reads=("link.uri", "data.objects"),
        violated=_link_empty,
    ),
)

CHANNEL_RULES: tuple[Rule[ChannelData], ...] = (
    _channel(
        id="DATA-CHANNEL-REGION",
        statement="A job reads buckets of its own Region.",
        source=_INPUTS,
        reads=("source.uri.bucket", "region", "data.region"),
        violated=_channel_region,
    ),
    _channel(
        id="DATA-CHANNEL-ARCHIVED",
        statement="Archived objects cannot be read by a job.",
        source=_ARCHIVED,
        reads=("source.uri", "data.storage_classes"),
        violated=_channel_archived,
        refused_by=(),
    ),
    _channel(
        id="DATA-CHANNEL-EMPTY",
        statement="An S3 channel has at least one object.",
        source=_INPUTS,
        reads=("source.uri", "data.objects"),
        violated=_channel_empty,
    ),
)

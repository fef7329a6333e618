"""The settings of an app: what trainfeed.yaml may say, and what it means where it is silent."""

import ipaddress
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    Tag,
    field_validator,
)

from stacks.yaml_file import Fault, SettingsError, YamlFile, suggestion
from trainfeed import names
from trainfeed.rules.s3 import bucket_fault
from trainfeed.sources import AccessMode, DataEvent, InputMode, S3Uri

#: What an `uri` may say instead of an S3 address: a bucket of `dataset`, and the folder kept there for it.
DATASET, OUTPUT = "dataset", "output"


class _Settings(BaseModel):
    # Built with what holds it, when a file is read: building each class by itself doubles the time.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _id_of(kind: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(rf"{kind}-[0-9a-f]{{8,17}}", text):
            raise ValueError(f"write an id like {kind}-0123456789abcdef0")
        return text

    return AfterValidator(check)


def _cidr(text: str) -> str:
    try:
        prefix = ipaddress.IPv4Network(text).prefixlen
    except ValueError as error:
        raise ValueError(f"write an IPv4 range like 10.42.0.0/20 ({error})") from error
    if not 16 <= prefix <= 28:
        raise ValueError("a VPC holds a range of /16 to /28")
    return text


def _bucket(name: str) -> str:
    if fault := bucket_fault(name):
        raise ValueError(fault.rstrip("."))
    return name


def _folder(prefix: str) -> str:
    if not prefix.strip("/"):
        raise ValueError("write a folder's name, as `data`")
    return prefix.strip("/")


def _location(text: str) -> str:
    if text not in (DATASET, OUTPUT):
        try:
            S3Uri.parse(text)
        except ValueError as error:
            raise ValueError(
                f"write `{DATASET}`, `{OUTPUT}` or an S3 address like s3://BUCKET/PREFIX"
            ) from error
    return text


def _path(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("write an absolute path like /data")
    return text


def _name(longest: int) -> AfterValidator:
    def check(text: str) -> str:
        if len(text) > longest or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", text):
            raise ValueError(
                f"a name has lower-case letters, digits and single hyphens, begins with a letter, "
                f"and has at most {longest} characters"
            )
        return text

    return AfterValidator(check)


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number


def _text(value: Any) -> str:
    if not isinstance(value, str | bool | int | float):
        raise ValueError("write a text, a number, true or false")
    return value if isinstance(value, str) else json.dumps(value)


BucketName = Annotated[str, AfterValidator(_bucket)]
Location = Annotated[str, AfterValidator(_location)]
AbsolutePath = Annotated[str, AfterValidator(_path)]
Folder = Annotated[str, AfterValidator(_folder)]
Number = Annotated[StrictFloat, AfterValidator(_whole)]
# SageMaker carries every hyperparameter as text; numbers travel as JSON writes them.
HyperParameter = Annotated[Any, AfterValidator(_text)]
SecurityGroupId = Annotated[str, _id_of("sg")]
SourceName = Annotated[str, _name(63)]
# A run is named after its job, with its time and four letters behind: 63 characters in all.
JobName = Annotated[str, _name(42)]


class ExistingNetwork(_Settings):
    """A network that was there before, in which nothing is made or changed."""

    vpc_id: Annotated[str, _id_of("vpc")]
    subnet_id: Annotated[str, _id_of("subnet")]
    security_group_id: SecurityGroupId


class NetworkSettings(_Settings):
    """Where a file system lives and its jobs run."""

    zone_id: str | None = None
    cidr: Annotated[str, AfterValidator(_cidr)] = "10.42.0.0/20"
    existing: ExistingNetwork | None = None


class DatasetSettings(_Settings):
    """The buckets of the data and of what jobs leave behind."""

    data_bucket: BucketName | None = None
    output_bucket: BucketName | None = None
    prefix: Folder = "data"
    intelligent_tiering_days: Annotated[StrictInt, Field(ge=0)] | None = 30
    access_log_bucket: BucketName | None = None

    def is_new(self, uri: str) -> bool:
        """Whether an `uri` leads to a bucket that is still to be made."""
        return {DATASET: self.data_bucket, OUTPUT: self.output_bucket}.get(uri, uri) is None


class LinkSettings(_Settings):
    """A folder of the file system, linked to S3."""

    path: AbsolutePath
    uri: Location
    import_on_create: StrictBool = True
    auto_import: tuple[DataEvent, ...] = ()
    auto_export: tuple[DataEvent, ...] = ()
    export_overwrites_source: StrictBool = False
    imported_file_chunk_size_mib: StrictInt = 1024


def _links() -> tuple[LinkSettings, ...]:
    exported = (DataEvent.NEW, DataEvent.CHANGED)
    return (
        LinkSettings(path="/data", uri=DATASET),
        LinkSettings(path="/out", uri=OUTPUT, import_on_create=False, auto_export=exported),
    )


class LustreSettings(_Settings):
    """An FSx for Lustre file system. Sizes and tiers are judged by the rules, not here."""

    type: Literal["fsx-lustre"] = "fsx-lustre"
    storage_capacity_gib: Number = 1200
    deployment_type: Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = "SCRATCH_2"
    storage_type: Literal["SSD", "HDD"] = "SSD"
    drive_cache_type: Literal["NONE", "READ"] | None = None
    per_unit_storage_throughput: StrictInt | None = None
    metadata_iops: StrictInt | None = None
    efa_enabled: StrictBool = False
    data_compression_type: Literal["LZ4", "NONE"] = "LZ4"
    kms_key_id: str | None = None
    links: tuple[LinkSettings, ...] = Field(default_factory=_links)
    security_group_id: SecurityGroupId | None = None
    removal: Literal["destroy", "retain"] | None = None


class S3Channel(_Settings):
    """A channel read straight from S3."""

    source: Literal["s3"]
    uri: Location = DATASET
    mode: InputMode = InputMode.FILE


class FileSystemChannel(_Settings):
    """A channel read through a file system."""

    source: str
    path: AbsolutePath = "/data"
    access: AccessMode = AccessMode.READ_ONLY


def _kind(channel: Any) -> str:
    source = channel.get("source", "s3") if isinstance(channel, dict) else getattr(channel, "source", "s3")
    return "s3" if source == "s3" else "file system"


Channel = Annotated[
    Annotated[S3Channel, Tag("s3")] | Annotated[FileSystemChannel, Tag("file system")], Discriminator(_kind)
]


class JobSettings(_Settings):
    """A training job that can be run again and again, each time with a script of its own."""

    channels: dict[str, Channel] = Field(min_length=1)
    image: str | None = None
    instance_type: str = "ml.m5.xlarge"
    instance_count: Annotated[StrictInt, Field(ge=1)] = 1
    volume_size_gib: Annotated[StrictInt, Field(ge=1)] = 30
    max_runtime_seconds: Annotated[StrictInt, Field(ge=1, le=2_419_200)] = 86_400
    hyperparameters: dict[str, HyperParameter] = {}

    @property
    def sources(self) -> tuple[str, ...]:
        """The file systems it reads, each once."""
        named = (
            channel.source for channel in self.channels.values() if isinstance(channel, FileSystemChannel)
        )
        return tuple(dict.fromkeys(named))

    @property
    def uris(self) -> tuple[str, ...]:
        """What it reads and writes in S3; code and models are in the output bucket."""
        return (
            *(channel.uri for channel in self.channels.values() if isinstance(channel, S3Channel)),
            OUTPUT,
        )


class Settings(_Settings):
    """Everything that trainfeed.yaml says."""

    network: NetworkSettings = Field(default_factory=NetworkSettings)
    dataset: DatasetSettings = Field(default_factory=DatasetSettings)
    sources: dict[SourceName, LustreSettings] = {}
    jobs: dict[JobName, JobSettings] = {}

    @field_validator("*", mode="before")
    @classmethod
    def _empty(cls, section: Any) -> Any:
        """A section all of whose lines are commented out says nothing, and its defaults hold."""
        return {} if section is None else section

    @field_validator("sources", mode="before")
    @classmethod
    def _empty_sources(cls, sources: Any) -> Any:
        """The same holds for a source."""
        if not isinstance(sources, dict):
            return sources
        return {name: {} if source is None else source for name, source in sources.items()}


def read(path: Path) -> YamlFile[Settings]:
    """Read the settings, with the lines they stand on.

    Raises:
        SettingsError: the file cannot be used; the text names each fault by file and line.
    """
    if not path.exists():
        how = "TRAINFEED_CONFIG=PATH in the environment, or `-c config=PATH` to cdk"
        raise SettingsError(f"{path}: there is no such file. Run this where it is, or name another: {how}.")
    file = YamlFile.read(path, Settings)
    file.refuse(_contradictions(file.content))
    return file


def locate(given: str | None = None) -> Path:
    """The settings file: the one given, else the one TRAINFEED_CONFIG names, else trainfeed.yaml here."""
    return Path(given or os.environ.get("TRAINFEED_CONFIG") or "trainfeed.yaml")


def _contradictions(settings: Settings) -> Iterator[Fault]:
    """What is wrong though each setting by itself is right."""
    if not settings.sources and not settings.jobs:
        yield Fault(where=(), message="there is nothing to deploy. Name a source or a job.")
    if settings.network.existing and settings.network.zone_id:
        yield Fault(
            where=("network", "zone_id"),
            message="an existing subnet has a zone of its own. Leave out zone_id or existing.",
        )
    if settings.network.existing is None:
        for name, source in settings.sources.items():
            if source.security_group_id:
                yield Fault(
                    where=("sources", name, "security_group_id"),
                    message=f"{source.security_group_id} is in a VPC that was there before, and the file "
                    "system would be in a new one. Name that VPC in network.existing, or leave the group "
                    "out: a new one is made.",
                )
    if "s3" in settings.sources:
        yield Fault(
            where=("sources", "s3"), message="channels call S3 itself by that name. Choose another name."
        )
    for job, channels in ((name, job.channels) for name, job in settings.jobs.items()):
        for name, channel in channels.items():
            if channel.source != "s3" and channel.source not in settings.sources:
                yield Fault(
                    where=("jobs", job, "channels", name, "source"),
                    message=f"{channel.source!r} is no source. "
                    + suggestion(channel.source, ("s3", *settings.sources)),
                )
    yield from _name_clashes(settings)


def _name_clashes(settings: Settings) -> Iterator[Fault]:
    taken = {"NetworkStack": "the network", "DatasetStack": "the buckets"}
    named = [("sources", name, names.source_stack(name)) for name in settings.sources]
    named += [("jobs", name, names.stack(name)) for name in settings.jobs]
    for section, name, stack in named:
        if stack in taken:
            yield Fault(
                where=(section, name),
                message=f"its stack would be {stack}, which is that of {taken[stack]}. Choose another name.",
            )
        taken.setdefault(stack, f"{section}.{name}")

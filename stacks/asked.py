"""What the settings ask for, as the plain values that rules judge and stacks are made from.

The stacks and `trainfeed check` both come here, so that they cannot understand the settings differently.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from stacks.settings import (
    DATASET,
    OUTPUT,
    DatasetSettings,
    FileSystemChannel,
    JobSettings,
    LustreSettings,
    S3Channel,
    Settings,
)
from trainfeed.job import TrainingJob
from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.rules.s3_link import AppLinks
from trainfeed.sources import Channel, LustreSource, S3Link, S3Source, S3Uri


@dataclass(frozen=True, kw_only=True)
class Locations:
    """Where in S3 the dataset lies, and where everything else goes.

    The buckets may be tokens, which stand for names that are only known at deployment.
    """

    dataset: S3Uri
    output_bucket: str

    @classmethod
    def of(cls, settings: DatasetSettings, *, data: str, output: str) -> Self:
        """Where the settings say, and in these buckets where they leave it to DatasetStack."""
        return cls(
            dataset=S3Uri(settings.data_bucket or data, settings.prefix),
            output_bucket=settings.output_bucket or output,
        )

    def find(self, uri: str) -> S3Uri:
        """Where the `uri` of a link or a channel leads."""
        named = {DATASET: self.dataset, OUTPUT: S3Uri(self.output_bucket, "out")}
        return named[uri] if uri in named else S3Uri.parse(uri)

    @property
    def models(self) -> S3Uri:
        """Where jobs leave model and output."""
        return S3Uri(self.output_bucket, "outputs")

    @property
    def code(self) -> S3Uri:
        """Where the packed scripts of runs lie."""
        return S3Uri(self.output_bucket, "code")


def file_system(settings: LustreSettings, locations: Locations) -> LustreConfiguration:
    """A file system with its links."""
    if settings.metadata_iops is not None:
        metadata_mode = "USER_PROVISIONED"
    else:
        # It can only be chosen when the file system is made, and costs nothing.
        metadata_mode = "AUTOMATIC" if settings.deployment_type == "PERSISTENT_2" else None
    return LustreConfiguration(
        **settings.model_dump(exclude={"type", "links", "security_group_id", "removal"}),
        metadata_mode=metadata_mode,
        links=links(settings, locations),
    )


def links(settings: LustreSettings, locations: Locations) -> tuple[S3Link, ...]:
    """The links of a file system."""
    return tuple(
        S3Link(uri=locations.find(link.uri), **link.model_dump(exclude={"uri"})) for link in settings.links
    )


def app_links(settings: Settings, locations: Locations) -> AppLinks:
    """All links, and the data that no export may write over.

    What lies at `output` is what jobs left there, so a channel that reads it is no reason to protect it.
    """
    channels = (channel for one in settings.jobs.values() for channel in one.channels.values())
    read = (channel.uri for channel in channels if isinstance(channel, S3Channel))
    return AppLinks(
        links={name: links(source, locations) for name, source in settings.sources.items()},
        data=tuple(dict.fromkeys(locations.find(uri) for uri in (DATASET, *read) if uri != OUTPUT)),
    )


def job(name: str, settings: JobSettings, locations: Locations, *, image: str) -> TrainingJob:
    """A job template.

    Args:
        name: the job's name in the settings.
        settings: what is run, on what, and on which data.
        locations: the buckets that channels mean by `dataset` and `output`.
        image: the image that it runs in, the settings' own or the default of the Region.
    """
    return TrainingJob(
        name=name,
        image=image,
        channels=tuple(
            Channel(name=channel, source=_source(stated, locations))
            for channel, stated in settings.channels.items()
        ),
        output=locations.models,
        code=locations.code,
        **settings.model_dump(
            include={"instance_type", "instance_count", "volume_size_gib", "hyperparameters"}
        ),
        max_run_seconds=settings.max_runtime_seconds,
    )


def s3_sources(jobs: Iterable[TrainingJob]) -> tuple[S3Source, ...]:
    """What jobs read straight from S3, each once."""
    sources = (channel.source for one in jobs for channel in one.channels)
    return tuple(dict.fromkeys(source for source in sources if isinstance(source, S3Source)))


def _source(channel: S3Channel | FileSystemChannel, locations: Locations) -> S3Source | LustreSource:
    if isinstance(channel, S3Channel):
        return S3Source(uri=locations.find(channel.uri), mode=channel.mode)
    return LustreSource(facts=channel.source, path=channel.path, access=channel.access)

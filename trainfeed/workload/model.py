"""A workload: one dataset, and one training job that reads it."""

from dataclasses import dataclass
from enum import StrEnum


class Location(StrEnum):
    """Where the dataset lives today."""

    S3 = "s3"
    EFS = "efs"
    ELSEWHERE = "elsewhere"


class Access(StrEnum):
    """How the script reads: files from front to back, or pieces from anywhere."""

    SEQUENTIAL = "sequential"
    RANDOM = "random"


class S3DataType(StrEnum):
    """How a channel names its objects. Source: S3DataType of CreateTrainingJob."""

    PREFIX = "S3Prefix"
    MANIFEST = "ManifestFile"
    AUGMENTED_MANIFEST = "AugmentedManifestFile"


class EfsThroughput(StrEnum):
    """How an EFS file system's throughput is sized. Source: ThroughputMode of CreateFileSystem (EFS)."""

    ELASTIC = "elastic"
    BURSTING = "bursting"
    PROVISIONED = "provisioned"


@dataclass(frozen=True, kw_only=True, slots=True)
class EfsState:
    """The EFS file system the data lives on.

    Attributes:
        stored_bytes: all it holds, this dataset included; Bursting sizes its baseline by it.
        throughput: its throughput mode.
        provisioned_mib_per_second: of Provisioned alone.
    """

    stored_bytes: int
    throughput: EfsThroughput = EfsThroughput.ELASTIC
    provisioned_mib_per_second: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SizeClass:
    """So many files of one size: a bar of a histogram."""

    bytes_each: int
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondsPerEpoch:
    """The job takes so long for an epoch once data is local, on all its instances together."""

    seconds: float

    def epoch_seconds(self, size_bytes: int) -> float:
        """Seconds the model itself needs for one pass over the dataset."""
        return self.seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class BytesPerSecond:
    """The job consumes so many bytes a second, all its instances together."""

    rate: float

    def epoch_seconds(self, size_bytes: int) -> float:
        """Seconds the model itself needs for one pass over the dataset."""
        return size_bytes / self.rate


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplesPerSecond:
    """The job consumes so many samples a second, all its instances together.

    Attributes:
        rate: samples a second.
        samples: samples in the dataset; a packed file holds many.
    """

    rate: float
    samples: int

    def epoch_seconds(self, size_bytes: int) -> float:
        """Seconds the model itself needs for one pass over the dataset."""
        return self.samples / self.rate


Consumption = SecondsPerEpoch | BytesPerSecond | SamplesPerSecond


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """What a user states. Totals are of the whole job, over all its instances.

    Attributes:
        location: where the dataset lives.
        size_bytes: the dataset's size.
        files: how many files (objects) hold it.
        sizes: a histogram of the files' sizes, where one was given; size_bytes and files follow from it.
        file_format: `jpg`, `tfrecord`...; for the reader alone, nothing is computed from it.
        packable: whether small files can be put together into containers; None: not said.
        access: sequential or random reads.
        epochs: passes over the dataset.
        instance_type: as SageMaker spells it (`ml.p3.2xlarge`).
        instance_count: instances of the job.
        consumption: how fast the model takes data that is local already; None: not known, and then
            the model is taken to be as fast as the data arrives.
        spot: managed spot training.
        restarts: interruptions expected in one run; each starts the container anew.
        runs_per_month: training jobs a month on this same dataset.
        region: of the job and its data.
        volume_size_gib: size of the instance's own volume; None: as large as needed.
        s3_data_type: how the channel names its objects.
        vpc: whether the job can run inside a VPC, which file systems need.
        efs: the EFS file system, where the data lives on one.
        loaders: parallel readers of each instance; None: one for each vCPU.
        sharded: each instance is given its own part of the files, not all (ShardedByS3Key).
    """

    size_bytes: int
    files: int
    instance_type: str
    location: Location = Location.S3
    sizes: tuple[SizeClass, ...] = ()
    file_format: str | None = None
    packable: bool | None = None
    access: Access = Access.SEQUENTIAL
    epochs: int = 1
    instance_count: int = 1
    consumption: Consumption | None = None
    spot: bool = False
    restarts: float = 0.0
    runs_per_month: float = 1.0
    region: str = "us-east-1"
    volume_size_gib: int | None = None
    s3_data_type: S3DataType = S3DataType.PREFIX
    vpc: bool = True
    efs: EfsState | None = None
    loaders: int | None = None
    sharded: bool = False

    @property
    def mean_file_bytes(self) -> float:
        """Mean size of a file in bytes."""
        return self.size_bytes / self.files

    @property
    def compute_seconds(self) -> float:
        """Seconds of one epoch once data is local; 0 where the consumption is not known."""
        return self.consumption.epoch_seconds(self.size_bytes) if self.consumption else 0.0

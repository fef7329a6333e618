"""What an estimate holds: phases in seconds, and what of it is to be paid.

What a sweep over workloads makes by the million is a tuple, which is made twice as fast as a dataclass.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from trainfeed.sources import SourceKind
from trainfeed.workload import EfsThroughput


class PhaseName(StrEnum):
    """The phases of a run, in their order. Not every source has each."""

    COPY = "copy"  # bring the data to where the source reads it, once a month
    CREATE = "create"  # the file system and its link
    IMPORT = "import"  # names and sizes of the objects
    PRELOAD = "preload"  # contents of the objects
    START = "start"  # SageMaker finds instances
    DOWNLOAD = "download"  # File mode copies, FastFile lists, a file system is mounted
    SETUP = "setup"  # image and framework, as far as the download does not hide them
    FIRST_EPOCH = "first epoch"
    LATER_EPOCHS = "later epochs"
    RESTARTS = "restarts"  # what is done again after interruptions
    UPLOAD = "upload"
    DELETE = "delete"


class Phase(NamedTuple):
    """One phase.

    Attributes:
        name: which.
        seconds: how long.
        billed: whether the job's instances bill during it.
        note: what governs its length, in a few words.
    """

    name: PhaseName
    seconds: float
    billed: bool
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreUse:
    """A file system's part in one run.

    Attributes:
        deployment_type: SCRATCH_2.
        capacity_gib: what is provisioned.
        seconds: from its creation to its deletion; None: it is kept all month and shared by the month's runs.
    """

    deployment_type: str
    capacity_gib: int
    seconds: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EfsUse:
    """EFS in one run.

    Attributes:
        stored_bytes: what the file system holds all month.
        throughput: its throughput mode.
        provisioned_mib_per_second: of Provisioned alone.
        read_bytes: read in the run; Elastic bills it.
        written_bytes: written in the run; Elastic bills it.
    """

    stored_bytes: int
    throughput: EfsThroughput
    provisioned_mib_per_second: float | None
    read_bytes: float
    written_bytes: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What one run uses of what is paid for.

    Attributes:
        instance_type: as SageMaker spells it.
        spot: at the spot price, which no list holds.
        instance_seconds: billable seconds times instances.
        volume_gib_seconds: GiB of the instances' volumes times billable seconds, over all instances;
            0 where the instance has NVMe of its own.
        s3_tier1_requests: PUT and LIST requests.
        s3_tier2_requests: GET and HEAD requests.
        s3_stored_bytes: what S3 holds all month.
        lustre: the file system, if there is one.
        efs: EFS, if it is read.
        interface_endpoint_seconds: endpoints times seconds (0: the S3 gateway endpoint is free).
        cross_zone_bytes: bytes between Availability Zones.
        runs_per_month: over how many runs a month's storage is shared.
        run_seconds: how long a run takes, all in all: one that takes months pays for each of them.
    """

    instance_type: str
    spot: bool
    instance_seconds: float
    volume_gib_seconds: float = 0.0
    s3_tier1_requests: float = 0.0
    s3_tier2_requests: float = 0.0
    s3_stored_bytes: float = 0.0
    lustre: LustreUse | None = None
    efs: EfsUse | None = None
    interface_endpoint_seconds: float = 0.0
    cross_zone_bytes: float = 0.0
    runs_per_month: float = 1.0
    run_seconds: float = 0.0


class Estimate(NamedTuple):
    """One source's answer to a workload.

    Attributes:
        source: which source.
        phases: in their order.
        usage: what is to be paid.
        assumptions: what was taken for granted, each a sentence.
        billable_seconds: the job's billable time, of one instance (the bill multiplies it by the count).
        total_seconds: all phases, billed or not: what a person waits.
    """

    source: SourceKind
    phases: tuple[Phase, ...]
    usage: Usage
    assumptions: tuple[str, ...]
    billable_seconds: float
    total_seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LustrePlan:
    """How a Lustre file system is to be used.

    Attributes:
        capacity_gib: what to provision; None: the smallest that holds the dataset.
        preload: read all contents before the job starts, so that its first epoch is warm.
        kept: it stays all month and is there already, its data loaded by an earlier run; otherwise it is
            made before this run and deleted after it.
    """

    capacity_gib: int | None = None
    preload: bool = False
    kept: bool = False


#: A file system made for one run, filled as it is read.
EPHEMERAL = LustrePlan()

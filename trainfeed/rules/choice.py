"""What rules a data source out for a workload, before anything is estimated."""

from dataclasses import dataclass
from datetime import date
from functools import partial

from trainfeed.rules.regions import LUSTRE_DEPLOYMENT_TYPES
from trainfeed.rules.rule import Level, Rule
from trainfeed.sources import SourceKind
from trainfeed.workload import Access, Location, S3DataType, Workload

_CHECKED = date(2026, 11, 20)
_INPUTS = "https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data.html"
_S3_SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html"
_STOPPING = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StoppingCondition.html"
_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide"

#: GiB of all Lustre file systems of one type, in one account and Region, unless AWS grants more.
#: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html
LUSTRE_QUOTA_GIB = 100_800

#: Seconds after which SageMaker stops any job: 28 days.
LONGEST_JOB = 2_419_200

_GIB = 2**30
_DAY = 86_400
_FILE_SYSTEMS = (SourceKind.LUSTRE, SourceKind.EFS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A source that might feed a workload.

    Attributes:
        workload: what is to be fed.
        source: by which source.
        room_gib: what an instance can hold of the dataset: its NVMe disk, the volume that was asked for, or
            the largest volume there is.
        lustre_gib: the file system that would be provisioned.
        job_seconds: how long the job itself would run, by the estimate; 0 before there is one.
    """

    workload: Workload
    source: SourceKind
    room_gib: float
    lustre_gib: int = 0
    job_seconds: float = 0.0

    @property
    def copied_gib(self) -> float:
        """What File mode copies to each instance: everything, or with sharding its part."""
        workload = self.workload
        instances = workload.instance_count if workload.sharded else 1
        return workload.size_bytes / instances / _GIB


def _prefix(value: Candidate) -> str | None:
    kind = value.workload.s3_data_type
    if value.source is not SourceKind.S3_FAST_FILE or kind is S3DataType.PREFIX:
        return None
    given = _NAMES[kind]
    return f"FastFile mode reads a prefix, not {given}. Put the files under one prefix, or choose File mode."


def _augmented(value: Candidate) -> str | None:
    kind = value.workload.s3_data_type
    if value.source is not SourceKind.S3_FILE or kind is not S3DataType.AUGMENTED_MANIFEST:
        return None
    return "Only Pipe mode reads an augmented manifest. Choose it, or keep the labels in files of their own."


def _folder(value: Candidate) -> str | None:
    kind = value.workload.s3_data_type
    if value.source not in _FILE_SYSTEMS or kind is S3DataType.PREFIX:
        return None
    return (
        f"{value.source} gives the script a folder, and {_NAMES[kind]} lists S3 objects. Let the script read "
        "the list itself and state S3Prefix, or choose an S3 mode."
    )


def _in_order(value: Candidate) -> str | None:
    if value.source is not SourceKind.S3_PIPE or value.workload.access is Access.SEQUENTIAL:
        return None
    return "Pipe mode is a pipe: it can only be read from front to back, and this job reads at random."


def _volume(value: Candidate) -> str | None:
    if value.source is not SourceKind.S3_FILE or value.copied_gib <= value.room_gib:
        return None
    return (
        f"File mode copies {value.copied_gib:,.0f} GiB to each instance, and there is room for "
        f"{value.room_gib:,.0f} GiB. Choose a larger volume or instance, or shard the files over instances."
    )


def _vpc(value: Candidate) -> str | None:
    if value.source not in _FILE_SYSTEMS or value.workload.vpc:
        return None
    return (
        f"{value.source} is reached through a VPC, and this job runs in none. Allow a VPC, or read from S3."
    )


def _lustre_region(value: Candidate) -> str | None:
    region = value.workload.region
    types = LUSTRE_DEPLOYMENT_TYPES.get(region)
    if value.source is not SourceKind.LUSTRE or types is None or "SCRATCH_2" in types:
        return None
    return (
        f"{region} has no Scratch 2 file systems. Persistent ones ({', '.join(types)}) are not judged here."
    )


def _lustre_quota(value: Candidate) -> str | None:
    if value.source is not SourceKind.LUSTRE or value.lustre_gib <= LUSTRE_QUOTA_GIB:
        return None
    return (
        f"The dataset needs a file system of {value.lustre_gib:,} GiB, and an account may have "
        f"{LUSTRE_QUOTA_GIB:,} GiB in a Region unless AWS grants more. Ask for more first, or stream from S3."
    )


def _efs_in_place(value: Candidate) -> str | None:
    if value.source is not SourceKind.EFS or value.workload.location is Location.EFS:
        return None
    return (
        "EFS is for data that lives there already: it stores at many times the price of S3, and nothing "
        f"links it to a bucket. This dataset is in {_PLACES[value.workload.location]}."
    )


def _runtime(value: Candidate) -> str | None:
    if value.job_seconds <= LONGEST_JOB:
        return None
    return (
        f"With {value.source} the job would run for {value.job_seconds / _DAY:,.1f} days, and SageMaker "
        "stops any job after 28. Make it several jobs, each going on from the last one's checkpoint (state "
        "the epochs of one), or choose more or faster instances."
    )


_NAMES = {
    S3DataType.PREFIX: "a prefix",
    S3DataType.MANIFEST: "a manifest",
    S3DataType.AUGMENTED_MANIFEST: "an augmented manifest",
}
_PLACES = {Location.S3: "S3", Location.ELSEWHERE: "neither EFS nor S3"}

_rule = partial(Rule[Candidate], level=Level.ERROR, source=_INPUTS, checked=_CHECKED, reads=())

RULES: tuple[Rule[Candidate], ...] = (
    _rule(
        id="SOURCE-PREFIX",
        statement="FastFile mode reads S3 prefixes alone.",
        source=_S3_SOURCE,
        violated=_prefix,
    ),
    _rule(
        id="SOURCE-AUGMENTED",
        statement="An augmented manifest needs Pipe mode.",
        source=_S3_SOURCE,
        violated=_augmented,
    ),
    _rule(id="SOURCE-FOLDER", statement="File systems take no manifest.", violated=_folder),
    _rule(id="SOURCE-PIPE-ORDER", statement="Pipe mode is read from front to back.", violated=_in_order),
    _rule(id="SOURCE-VOLUME", statement="What File mode copies fits the disk.", violated=_volume),
    _rule(id="SOURCE-VPC", statement="File systems are reached through a VPC.", violated=_vpc),
    _rule(
        id="SOURCE-LUSTRE-REGION",
        statement="Scratch 2 exists in the Region.",
        source=f"{_LUSTRE}/using-fsx-lustre.html",
        violated=_lustre_region,
    ),
    _rule(
        id="SOURCE-LUSTRE-QUOTA",
        level=Level.WARNING,
        statement="The file system is within an account's default quota.",
        source=f"{_LUSTRE}/limits.html",
        violated=_lustre_quota,
    ),
    _rule(id="SOURCE-EFS-DATA", statement="EFS feeds a job whose data lives on EFS.", violated=_efs_in_place),
    _rule(
        id="SOURCE-RUNTIME",
        statement="A job ends within 28 days, by the estimate.",
        source=_STOPPING,
        violated=_runtime,
    ),
)

"""A recommendation as settings: what `cdk deploy` makes of it is what was chosen."""

import math

from trainfeed.decide import Option, Recommendation
from trainfeed.decide.words import seconds
from trainfeed.report import answer as say
from trainfeed.rules.choice import LONGEST_JOB
from trainfeed.sources import SourceKind
from trainfeed.workload import Workload

_MODES = {SourceKind.S3_FILE: "File", SourceKind.S3_FAST_FILE: "FastFile", SourceKind.S3_PIPE: "Pipe"}
_GIB = 2**30
#: What the container, the script and its checkpoints need beside the data, in GiB.
_BESIDE_DATA = 30
#: SageMaker stops a job after a day unless told otherwise.
_HOUR, _DAY = 3_600, 86_400
#: How much longer than estimated a run may take before it is stopped.
_PATIENCE = 3


class NotDeployableError(ValueError):
    """The answer is not something that trainfeed's stacks make; the text says what to do instead."""


def job_file(answer: Recommendation) -> str:
    """The text of a settings file (see trainfeed.yaml) with the chosen source and a job that reads it.

    Raises:
        NotDeployableError: no source can feed the job, or the stacks do not make the one that was chosen.
    """
    chosen = answer.chosen
    if chosen is None:
        raise NotDeployableError("No source can feed this job, so there is nothing to write.")
    if chosen.source is SourceKind.EFS:
        raise NotDeployableError(
            "EFS was chosen, and trainfeed's stacks make S3 channels and Lustre file systems alone. "
            "Give the job a channel with a FileSystemDataSource of type EFS yourself."
        )
    lines = [*_heading(answer, chosen), *_file_system(chosen), *_job(answer.workload, chosen)]
    return "\n".join(lines) + "\n"


def _heading(answer: Recommendation, chosen: Option) -> list[str]:
    return [
        f"# {say.headline(answer)}",
        *(["# The dataset's folder must hold the packed files."] if chosen.packed else []),
        "# Written by `trainfeed recommend`. Deploy it: cdk deploy --all -c config=THIS_FILE",
        "# Every other setting has the default that trainfeed.yaml explains.",
        "",
        "dataset:",
        "  # The bucket that holds the data; null: a new one.",
        "  data_bucket: null",
        "  # The folder in it that is the dataset.",
        "  prefix: data",
        "",
    ]


def _file_system(chosen: Option) -> list[str]:
    lustre = chosen.estimate.usage.lustre
    if lustre is None:
        return []
    life = (
        "Kept: deploy it once, and every run of the month reads it."
        if chosen.kept
        else "Made for one run: cdk destroy FsxLustreStack after it, for it bills until then."
    )
    return [
        "sources:",
        f"  # {life}",
        "  fsx-lustre:",
        f"    storage_capacity_gib: {lustre.capacity_gib}",
        f"    deployment_type: {lustre.deployment_type}",
        "",
    ]


def _job(workload: Workload, chosen: Option) -> list[str]:
    mode = _MODES.get(chosen.source)
    channel = (
        ["source: s3", "uri: dataset", f"mode: {mode}"] if mode else ["source: fsx-lustre", "path: /data"]
    )
    return [
        "jobs:",
        "  training:",
        "    channels:",
        "      train:",
        *(f"        {line}" for line in channel),
        f"    instance_type: {workload.instance_type}",
        f"    instance_count: {workload.instance_count}",
        f"    volume_size_gib: {_volume(workload, chosen)}",
        *_runtime(chosen),
    ]


def _volume(workload: Workload, chosen: Option) -> int:
    """GiB of the instance's volume: what was stated, else room for what is copied to it and the rest."""
    if workload.volume_size_gib is not None:
        return workload.volume_size_gib
    copied = workload.size_bytes / (workload.instance_count if workload.sharded else 1)
    return _BESIDE_DATA + (math.ceil(copied / _GIB) if chosen.source is SourceKind.S3_FILE else 0)


def _runtime(chosen: Option) -> list[str]:
    hours = math.ceil(_PATIENCE * chosen.estimate.billable_seconds / _HOUR)
    limit = max(_DAY, hours * _HOUR)
    if limit <= LONGEST_JOB:
        return [f"    max_runtime_seconds: {limit}"]
    estimated = seconds(chosen.estimate.billable_seconds)
    return [
        f"    # The job is estimated at {estimated}; SageMaker allows 28 days at most. Write checkpoints.",
        f"    max_runtime_seconds: {LONGEST_JOB}",
    ]

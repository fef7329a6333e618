"""A recommendation as settings: what `cdk deploy` makes of it is what was chosen."""

import math

from trainfeed.decide import Recommendation
from trainfeed.report import answer as say
from trainfeed.sources import SourceKind
from trainfeed.workload import Workload

_MODES = {SourceKind.S3_FILE: "File", SourceKind.S3_FAST_FILE: "FastFile", SourceKind.S3_PIPE: "Pipe"}
_GIB = 2**30
#: What the container, the script and its checkpoints need beside the data, in GiB.
_BESIDE_DATA = 30
#: SageMaker stops a job after a day unless told otherwise, and after 28 days at the latest.
_DAY, _LONGEST = 86_400, 2_419_200
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
    lines = [*_heading(answer), *_file_system(answer), *_job(answer)]
    return "\n".join(lines) + "\n"


def _heading(answer: Recommendation) -> list[str]:
    lines = [f"# {say.headline(answer)}"]
    if answer.chosen and answer.chosen.packed:
        lines.append("# The dataset's folder must hold the packed files.")
    return [
        *lines,
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


def _file_system(answer: Recommendation) -> list[str]:
    chosen = answer.chosen
    lustre = chosen.estimate.usage.lustre if chosen else None
    if chosen is None or lustre is None:
        return []
    life = (
        "Kept: deploy it once, and every run of the month reads it."
        if chosen.kept
        else "Made for the run: cdk destroy FsxLustreStack when it is done, for it bills until then."
    )
    return [
        "sources:",
        f"  # {life}",
        "  fsx-lustre:",
        f"    storage_capacity_gib: {lustre.capacity_gib}",
        f"    deployment_type: {lustre.deployment_type}",
        "",
    ]


def _job(answer: Recommendation) -> list[str]:
    workload = answer.workload
    return [
        "jobs:",
        "  training:",
        "    channels:",
        "      train:",
        *(f"        {line}" for line in _channel(answer)),
        f"    instance_type: {workload.instance_type}",
        f"    instance_count: {workload.instance_count}",
        f"    volume_size_gib: {_volume(answer)}",
        f"    max_runtime_seconds: {_longest(answer)}",
    ]


def _channel(answer: Recommendation) -> list[str]:
    source = answer.chosen.source if answer.chosen else None
    if source in _MODES:
        return ["source: s3", "uri: dataset", f"mode: {_MODES[source]}"]
    return ["source: fsx-lustre", "path: /data"]


def _volume(answer: Recommendation) -> int:
    """GiB of the instance's volume: what was stated, else room for what is copied to it and the rest."""
    workload = answer.workload
    if workload.volume_size_gib is not None:
        return workload.volume_size_gib
    copies = answer.chosen is not None and answer.chosen.source is SourceKind.S3_FILE
    return _BESIDE_DATA + (math.ceil(_share(workload) / _GIB) if copies else 0)


def _share(workload: Workload) -> float:
    return workload.size_bytes / (workload.instance_count if workload.sharded else 1)


def _longest(answer: Recommendation) -> int:
    billed = answer.chosen.estimate.billable_seconds if answer.chosen else 0
    return min(_LONGEST, max(_DAY, math.ceil(_PATIENCE * billed / 3600) * 3600))

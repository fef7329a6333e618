"""Bringing data from EFS to S3, for the sources that read from there."""

from trainfeed.estimate.efs_throughput import read_seconds
from trainfeed.estimate.rates import EFS_OPEN, LUSTRE_PRELOADERS
from trainfeed.estimate.result import Phase, PhaseName
from trainfeed.estimate.share import Share
from trainfeed.workload import Location


def copied(one: Share) -> tuple[tuple[Phase, ...], float]:
    """The phase of copying, if there is one, and the PUT requests that fall on this run.

    The copy is made once for all the runs of a month.
    """
    workload = one.workload
    if workload.location is not Location.EFS:
        return (), 0.0
    each = workload.files * EFS_OPEN / LUSTRE_PRELOADERS
    seconds = max(each, read_seconds(one, workload.size_bytes, instances=1))
    note = "from EFS to S3, once for all runs"
    requests = workload.files / max(workload.runs_per_month, 1)
    return (Phase(name=PhaseName.COPY, seconds=seconds, billed=False, note=note),), requests

"""EFS: the data is read where it lives, as fast as its throughput mode lets."""

from trainfeed.estimate.efs_throughput import read_seconds, state_of
from trainfeed.estimate.rates import EFS_OPEN, Rates
from trainfeed.estimate.result import EfsUse
from trainfeed.estimate.run import Reading, Used
from trainfeed.estimate.share import Share
from trainfeed.workload import EfsThroughput, Location

_CREDITS = "A day's burst credits are unspent when the job starts, and no one else reads."
_MOVED = "The data is taken to be on an EFS file system of its own, with Elastic throughput."


def read(one: Share, rates: Rates) -> tuple[Reading, Used]:
    """What EFS makes a job wait for."""
    workload = one.workload
    state = state_of(workload)
    opening = one.opens * EFS_OPEN / one.readers
    first, later = max(opening, read_seconds(one, workload.size_bytes, one.instances)), 0.0
    read_bytes = float(workload.size_bytes)
    if not one.cached:
        read_bytes *= workload.epochs
        # Burst credits run out over all epochs together.
        whole = max(workload.epochs * opening, read_seconds(one, read_bytes, one.instances))
        later = (whole - first) / max(workload.epochs - 1, 1)
    assumptions = (_CREDITS,) if state.throughput is EfsThroughput.BURSTING else ()
    return (
        Reading(
            download=rates.channel,
            walk=workload.files / rates.walked,
            first=first,
            later=later,
            download_note="the file system is mounted",
            assumptions=assumptions if workload.location is Location.EFS else (*assumptions, _MOVED),
        ),
        Used(
            efs=EfsUse(
                stored_bytes=state.stored_bytes,
                throughput=state.throughput,
                provisioned_mib_per_second=state.provisioned_mib_per_second,
                read_bytes=read_bytes,
                written_bytes=0.0,
            )
        ),
    )

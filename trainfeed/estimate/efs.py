"""EFS: the data is read where it lives, as fast as its throughput mode lets."""

from trainfeed.estimate.rates import (
    EFS_BASELINE,
    EFS_BURST,
    EFS_BURST_LEAST,
    EFS_CLIENT,
    EFS_ELASTIC,
    EFS_FLOOR,
    EFS_OPEN,
    EFS_OTHERS,
    EFS_READ_DISCOUNT,
    Rates,
)
from trainfeed.estimate.result import EfsUse
from trainfeed.estimate.run import Reading, Used
from trainfeed.estimate.share import Share
from trainfeed.workload import EfsState, EfsThroughput, Location

_DAY = 86_400
_MIB = 2**20
_CREDITS = "A day's burst credits are unspent when the job starts, and no one else reads."
_MOVED = "The data is taken to be on an EFS file system of its own, with Elastic throughput."


def read(one: Share, rates: Rates) -> tuple[Reading, Used]:
    """What EFS makes a job wait for."""
    workload = one.workload
    state = _state(one)
    epoch = max(one.opens * EFS_OPEN / one.readers, read_seconds(one, workload.size_bytes, one.count))
    if one.cached:
        read_bytes, later = one.given_bytes * one.count if workload.sharded else workload.size_bytes, 0.0
        first = epoch
    else:
        # Burst credits run out over all epochs together.
        read_bytes = float(workload.size_bytes) * workload.epochs
        all_epochs = max(
            workload.epochs * one.opens * EFS_OPEN / one.readers, read_seconds(one, read_bytes, one.count)
        )
        first = epoch
        later = (all_epochs - epoch) / (workload.epochs - 1) if workload.epochs > 1 else 0.0
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


def read_seconds(one: Share, size: float, instances: int) -> float:
    """Seconds in which so many instances read so many bytes."""
    client = min(EFS_CLIENT, one.instance.network) * instances
    state = _state(one)
    if state.throughput is EfsThroughput.ELASTIC:
        return size / min(client, EFS_ELASTIC)
    if state.throughput is EfsThroughput.PROVISIONED:
        provisioned = (state.provisioned_mib_per_second or 1) * _MIB * EFS_READ_DISCOUNT
        return size / min(client, provisioned, EFS_OTHERS)
    baseline = max(EFS_BASELINE * state.stored_bytes, EFS_FLOOR)
    slow = min(client, EFS_READ_DISCOUNT * baseline, EFS_OTHERS)
    burst = max(EFS_BURST * state.stored_bytes, EFS_BURST_LEAST)
    fast = min(client, EFS_READ_DISCOUNT * burst, EFS_OTHERS)
    # What a day earns at the baseline may be read at the burst; beyond it the baseline is all there is.
    credits = EFS_READ_DISCOUNT * baseline * _DAY
    quick = min(size, credits)
    return quick / fast + (size - quick) / slow


def _state(one: Share) -> EfsState:
    return one.workload.efs or EfsState(stored_bytes=one.workload.size_bytes)

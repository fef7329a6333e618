"""How fast an EFS file system is read, by its throughput mode."""

from trainfeed.estimate.rates import (
    EFS_BASELINE,
    EFS_BURST,
    EFS_BURST_LEAST,
    EFS_CLIENT,
    EFS_ELASTIC,
    EFS_FLOOR,
    EFS_OTHERS,
    EFS_READ_DISCOUNT,
)
from trainfeed.estimate.share import Share
from trainfeed.workload import EfsState, EfsThroughput, Workload

_DAY = 86_400
_MIB = 2**20


def read_seconds(one: Share, size: float, instances: int) -> float:
    """Seconds in which so many instances read so many bytes."""
    client = min(EFS_CLIENT, one.instance.network) * instances
    state = state_of(one.workload)
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


def state_of(workload: Workload) -> EfsState:
    """The file system as stated, or one of its own for the data."""
    return workload.efs or EfsState(stored_bytes=workload.size_bytes)

"""How large a Scratch 2 file system to make: for what it holds, and for how fast it must read."""

from trainfeed.estimate.instances import GIB
from trainfeed.estimate.rates import LUSTRE_BASELINE, LUSTRE_CLIENT, LUSTRE_MEMORY, LUSTRE_ROOM
from trainfeed.rules.lustre_sizes import sizes
from trainfeed.workload import Workload

_SCRATCH = sizes("SCRATCH_2", "SSD", None)
#: One server stands behind so many GiB.
SERVER_GIB = 1200
#: The largest file system that is made for speed: beyond it, it costs more than it can save.
_FASTEST_GIB = 24_000


def lustre_capacity_gib(size_bytes: float) -> int:
    """The smallest file system that holds a dataset."""
    return _at_least(size_bytes * LUSTRE_ROOM / GIB)


def lustre_feeding_gib(workload: Workload) -> int:
    """The smallest file system that also reads as fast as the model takes data.

    It is the smallest that holds the dataset where the model's speed is not known, and where no size up to
    24,000 GiB were fast enough it is that size.
    """
    holding = lustre_capacity_gib(workload.size_bytes)
    if not (compute := workload.compute_seconds):
        return holding
    rate = workload.size_bytes / compute
    from_memory = workload.size_bytes <= LUSTRE_MEMORY * holding / 1024
    disks = 0 if from_memory else rate / LUSTRE_BASELINE * 1024
    servers = rate / workload.instance_count / LUSTRE_CLIENT * SERVER_GIB
    return max(holding, _at_least(min(max(disks, servers), _FASTEST_GIB)))


def _at_least(gib: float) -> int:
    assert _SCRATCH is not None  # noqa: S101 - Scratch 2 has sizes
    first = next((size for size in _SCRATCH.first if size >= gib), None)
    return first or int(-(-gib // _SCRATCH.step)) * _SCRATCH.step

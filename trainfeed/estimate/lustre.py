"""FSx for Lustre, Scratch 2, linked to S3: files are fetched from S3 when first read, or before the job."""

from trainfeed.estimate.copy import copied
from trainfeed.estimate.lustre_size import SERVER_GIB, lustre_capacity_gib
from trainfeed.estimate.rates import (
    LUSTRE_BASELINE,
    LUSTRE_CLIENT,
    LUSTRE_CREATE,
    LUSTRE_DELETE,
    LUSTRE_FETCH,
    LUSTRE_FETCHED,
    LUSTRE_FILLED,
    LUSTRE_FROM_MEMORY,
    LUSTRE_IMPORTED,
    LUSTRE_MEMORY,
    LUSTRE_OPEN,
    LUSTRE_PRELOADERS,
    S3_LISTED,
    S3_PART,
    Rates,
)
from trainfeed.estimate.result import LustrePlan, Phase, PhaseName
from trainfeed.estimate.run import Reading, Used
from trainfeed.estimate.share import Share

_FETCHED = (
    "Each file's first read fetches it from S3 no slower than in the case study. Where that matters, preload."
)
_KEPT = "The file system is there already, and an earlier run has loaded its files."
_CREATE = Phase(
    name=PhaseName.CREATE, seconds=LUSTRE_CREATE, billed=False, note="the file system and its link to S3"
)
_DELETE = Phase(name=PhaseName.DELETE, seconds=LUSTRE_DELETE, billed=False, note="the file system")


def read(one: Share, rates: Rates, plan: LustrePlan) -> tuple[Reading, Used]:
    """What a Lustre file system makes a job wait for."""
    workload = one.workload
    capacity = plan.capacity_gib or lustre_capacity_gib(workload.size_bytes)
    loaded = _loaded(one, capacity)
    before, tier1 = copied(one)
    after: tuple[Phase, ...] = ()
    first, assumptions = loaded, (_KEPT,)
    if not plan.kept:
        before += _CREATE, _imported(workload.files)
        after = (_DELETE,)
        if plan.preload:
            before += (_preloaded(one, capacity),)
            assumptions = ()
        else:
            first, assumptions = (
                max(loaded, _fetching(one, capacity, one.readers, one.instances)),
                (_FETCHED,),
            )
    made = 0 if plan.kept else 1
    return (
        Reading(
            download=rates.channel,
            walk=workload.files / rates.walked,
            first=first,
            later=0.0 if one.cached else loaded,
            before=before,
            after=after,
            download_note="the file system is mounted",
            assumptions=assumptions,
        ),
        Used(
            tier1=made * workload.files / S3_LISTED + tier1,
            tier2=made * (2 * workload.files + workload.size_bytes / S3_PART),
            stored=workload.size_bytes,
            lustre_gib=capacity,
        ),
    )


def _loaded(one: Share, capacity_gib: int) -> float:
    """Seconds of an epoch whose files are on the file system."""
    tib = capacity_gib / 1024
    in_memory = one.workload.size_bytes <= LUSTRE_MEMORY * tib
    together = tib * (LUSTRE_FROM_MEMORY if in_memory else LUSTRE_BASELINE)
    servers = max(capacity_gib // SERVER_GIB, 1)
    each = min(one.instance.network, servers * LUSTRE_CLIENT)
    return max(
        one.opens * LUSTRE_OPEN / one.readers, one.read_bytes / each, one.workload.size_bytes / together
    )


def _fetching(one: Share, capacity_gib: int, readers: float, instances: int) -> float:
    """Seconds to fetch every file from S3: readers wait side by side, the disks take all they bring."""
    workload = one.workload
    waiting = (workload.files * LUSTRE_FETCH + workload.size_bytes / LUSTRE_FETCHED) / (readers * instances)
    return max(waiting, workload.size_bytes / (LUSTRE_FILLED * capacity_gib / 1024))


def _imported(files: int) -> Phase:
    seconds = files / LUSTRE_IMPORTED
    return Phase(name=PhaseName.IMPORT, seconds=seconds, billed=False, note="names and sizes of the files")


def _preloaded(one: Share, capacity_gib: int) -> Phase:
    seconds = _fetching(one, capacity_gib, LUSTRE_PRELOADERS, 1)
    return Phase(name=PhaseName.PRELOAD, seconds=seconds, billed=False, note="contents of the files")

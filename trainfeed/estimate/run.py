"""From what a source makes a job wait for to the phases of the whole run."""

from typing import NamedTuple

from trainfeed.estimate.rates import START, UPLOAD, VOLUME_LEAST, Rates
from trainfeed.estimate.result import EfsUse, Estimate, LustreUse, Phase, PhaseName, Usage
from trainfeed.estimate.share import Share
from trainfeed.sources import SourceKind
from trainfeed.workload import Location, Workload

_START = Phase(name=PhaseName.START, seconds=START, billed=False, note="SageMaker finds the instances")
_UPLOAD = Phase(name=PhaseName.UPLOAD, seconds=UPLOAD, billed=True, note="a small model")

_UNKNOWN_SPEED = (
    "How fast the model takes data is not stated, so it is taken to do nothing but wait for it: sources "
    "differ more here than they will beside a model that computes."
)
_UNKNOWN_INSTANCE = "The instance type is not in the data: 4 vCPUs, 16 GiB and 2.5 Gbps are taken instead."
_PARTS = "The instances divide each epoch among them, so that together they read the dataset once."
_LISTED = "The script lists all its files once before it trains."
_RESTARTS = "After an interruption training goes on where it was; the wait for a new instance is left out."
_ELSEWHERE = "Bringing the data to AWS is left out."


class Reading(NamedTuple):
    """What a source makes a job wait for.

    Attributes:
        download: seconds before the container starts, beside the pulling of the image.
        walk: seconds of the script's own listing.
        first: seconds to read all data in the first epoch, were the model to take no time.
        later: the same for each epoch after it.
        before: phases before the job, in their order.
        after: phases after it.
        download_note: what the download is.
        assumptions: what was taken for granted.
    """

    download: float
    walk: float
    first: float
    later: float
    before: tuple[Phase, ...] = ()
    after: tuple[Phase, ...] = ()
    download_note: str = ""
    assumptions: tuple[str, ...] = ()


class Used(NamedTuple):
    """What a source uses beside the instances, in one run; volume_gib None means a volume without data."""

    tier1: float = 0.0
    tier2: float = 0.0
    stored: float = 0.0
    volume_gib: int | None = None
    efs: EfsUse | None = None
    lustre_gib: int = 0


def phases(one: Share, reading: Reading, rates: Rates) -> tuple[Phase, ...]:
    """The phases of a run, in their order."""
    workload = one.workload
    setup = max(rates.image - reading.download, 0) + rates.framework + reading.walk
    compute, later_epochs = workload.compute_seconds, workload.epochs - 1
    found = [
        *reading.before,
        _START,
        Phase(name=PhaseName.DOWNLOAD, seconds=reading.download, billed=True, note=reading.download_note),
        Phase(name=PhaseName.SETUP, seconds=setup, billed=True, note="image, framework, listing of files"),
        _epochs(PhaseName.FIRST_EPOCH, compute, reading.first, 1),
    ]
    if later_epochs:
        found.append(_epochs(PhaseName.LATER_EPOCHS, compute, reading.later, later_epochs))
    if workload.restarts:
        again = workload.restarts * (reading.download + setup)
        found.append(Phase(name=PhaseName.RESTARTS, seconds=again, billed=True, note="download, set-up"))
    found.append(_UPLOAD)
    found.extend(reading.after)
    return tuple(found)


def _epochs(name: PhaseName, compute: float, reading: float, count: int) -> Phase:
    if reading > compute:
        return Phase(name=name, seconds=count * reading, billed=True, note="the model waits for data")
    return Phase(name=name, seconds=count * compute, billed=True, note="the model's own pace")


def finish(
    source: SourceKind, one: Share, found: tuple[Phase, ...], used: Used, assumptions: tuple[str, ...]
) -> Estimate:
    """The estimate of a run from its phases."""
    workload = one.workload
    billable = total = 0.0
    for phase in found:
        total += phase.seconds
        if phase.billed:
            billable += phase.seconds
    volume = used.volume_gib
    if volume is None:
        volume = 0 if one.instance.nvme_bytes else workload.volume_size_gib or int(VOLUME_LEAST)
    return Estimate(
        source=source,
        phases=found,
        usage=Usage(
            instance_type=workload.instance_type,
            spot=workload.spot,
            instance_seconds=billable * one.instances,
            volume_gib_seconds=volume * billable * one.instances,
            s3_tier1_requests=used.tier1,
            s3_tier2_requests=used.tier2,
            s3_stored_bytes=used.stored,
            lustre=_lustre_use(used.lustre_gib, found, total) if used.lustre_gib else None,
            efs=used.efs or _left_on_efs(workload),
            runs_per_month=workload.runs_per_month,
            run_seconds=total,
        ),
        assumptions=_assumptions(one) + assumptions,
        billable_seconds=billable,
        total_seconds=total,
    )


def _left_on_efs(workload: Workload) -> EfsUse | None:
    """EFS while another source reads a copy: the data is still stored there, and read for the copy."""
    state = workload.efs
    if state is None:
        return None
    return EfsUse(
        stored_bytes=state.stored_bytes,
        throughput=state.throughput,
        provisioned_mib_per_second=state.provisioned_mib_per_second,
        read_bytes=workload.size_bytes / max(workload.runs_per_month, 1),
        written_bytes=0.0,
    )


def _lustre_use(capacity_gib: int, found: tuple[Phase, ...], total: float) -> LustreUse:
    """A file system bills from its creation to its deletion, through all that is between."""
    copying = found[0].seconds if found[0].name is PhaseName.COPY else 0.0
    made = found[-1].name is PhaseName.DELETE
    return LustreUse(
        deployment_type="SCRATCH_2", capacity_gib=capacity_gib, seconds=total - copying if made else None
    )


def _assumptions(one: Share) -> tuple[str, ...]:
    workload = one.workload
    return tuple(
        sentence
        for holds, sentence in (
            (workload.consumption is None, _UNKNOWN_SPEED),
            (not one.instance.known, _UNKNOWN_INSTANCE),
            (one.instances > 1, _PARTS),
            (workload.restarts > 0, _RESTARTS),
            (workload.location is Location.ELSEWHERE, _ELSEWHERE),
            (True, _LISTED),
        )
        if holds
    )

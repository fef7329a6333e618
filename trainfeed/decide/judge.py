"""Which sources may feed a workload, and how well each would."""

from dataclasses import dataclass

from trainfeed.decide.option import Market, Option, Prefer, options, rank
from trainfeed.decide.packing import packed
from trainfeed.decide.recommendation import Verdict
from trainfeed.estimate import lustre_capacity_gib, room_gib
from trainfeed.rules.choice import LONGEST_JOB, RULES, Candidate
from trainfeed.rules.rule import Finding, check, errors
from trainfeed.sources import SourceKind
from trainfeed.workload import Location, Workload

#: What reads packed files well; a file system has no need of packing.
_STREAMS = (SourceKind.S3_FILE, SourceKind.S3_FAST_FILE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """All that was compared for a workload.

    Attributes:
        verdicts: one for each source, on the files as they are.
        packed: the best way on packed files; None where packing is no question, or nothing reads them.
        ranking: what may be chosen, the best first; packed files among it only if they may be packed.
    """

    verdicts: tuple[Verdict, ...]
    packed: Option | None
    ranking: tuple[Option, ...]


def judge(workload: Workload, market: Market, prefer: Prefer, *, packing: bool = True) -> Judged:
    """Judge every source.

    Args:
        workload: what is to be fed.
        market: the prices.
        prefer: what the ranking goes by.
        packing: look at packed files too where it was not said whether they can be packed.
    """
    verdicts = tuple(_verdict(workload, source, market, prefer) for source in SourceKind)
    asked = workload.packable or (packing and workload.packable is None)
    on_containers = _packed(workload, market, prefer) if asked else None
    found = [verdict.option for verdict in verdicts if verdict.option]
    if on_containers is not None and workload.packable:
        found.append(on_containers)
    return Judged(verdicts=verdicts, packed=on_containers, ranking=rank(found, prefer))


def ways(workload: Workload, market: Market) -> tuple[Option, ...]:
    """Every way to use every eligible source, each by the plan that ranks first by cost."""
    best: dict[tuple[SourceKind, bool, bool], Option] = {}
    for source in SourceKind:
        found = _eligible(workload, source, market)[0]
        for kept in (False, True):
            for option in rank((each for each in found if each.kept is kept), Prefer.COST):
                best.setdefault(option.way, option)
    packed = _packed(workload, market, Prefer.COST) if workload.packable else None
    return (*best.values(), *([packed] if packed else []))


def _eligible(
    workload: Workload, source: SourceKind, market: Market, *, packed: bool = False
) -> tuple[tuple[Option, ...], tuple[Finding, ...]]:
    """The ways to use a source that no rule forbids; where there are none, the rules that do."""
    if ruled_out := errors(findings(workload, source)):
        return (), ruled_out
    found = options(workload, source, market, packed=packed)
    in_time = tuple(each for each in found if each.estimate.billable_seconds <= LONGEST_JOB)
    if in_time:
        return in_time, ()
    shortest = min(each.estimate.billable_seconds for each in found)
    return (), errors(findings(workload, source, job_seconds=shortest))


def findings(workload: Workload, source: SourceKind, *, job_seconds: float = 0.0) -> tuple[Finding, ...]:
    """What the rules say of a source, warnings too.

    Args:
        workload: what is to be fed.
        source: by which source.
        job_seconds: how long the job would run, where that is estimated.
    """
    candidate = Candidate(
        workload=workload,
        source=source,
        room_gib=room_gib(workload),
        lustre_gib=lustre_capacity_gib(workload.size_bytes) if source is SourceKind.LUSTRE else 0,
        job_seconds=job_seconds,
    )
    return check(RULES, candidate)


def _verdict(workload: Workload, source: SourceKind, market: Market, prefer: Prefer) -> Verdict:
    found, ruled_out = _eligible(workload, source, market)
    option = rank(found, prefer)[0] if found else None
    return Verdict(source=source, ruled_out=ruled_out, option=option)


def _packed(workload: Workload, market: Market, prefer: Prefer) -> Option | None:
    containers = packed(workload)
    if containers is None:
        return None
    sources = (SourceKind.EFS, *_STREAMS) if workload.location is Location.EFS else _STREAMS
    found = [option for source in sources for option in _eligible(containers, source, market, packed=True)[0]]
    return rank(found, prefer)[0] if found else None

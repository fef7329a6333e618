"""Which source feeds a training job: the flow chart of AWS, the rules, and a ranking by the estimate."""

from datetime import date

from trainfeed.decide import chart
from trainfeed.decide import flips as turning_points
from trainfeed.decide.disagreement import disagreement
from trainfeed.decide.judge import Judged, judge, ways
from trainfeed.decide.option import Market, Option, Prefer, close, rank
from trainfeed.decide.recommendation import Dimension, Flip, Packing, Recommendation, Verdict
from trainfeed.decide.vary import vary
from trainfeed.decide.warnings import warnings
from trainfeed.decide.words import seconds
from trainfeed.estimate import PhaseName
from trainfeed.prices import PriceBook
from trainfeed.sources import SourceKind
from trainfeed.workload import Workload

__all__ = [
    "Dimension",
    "Flip",
    "Option",
    "Packing",
    "Prefer",
    "Recommendation",
    "Verdict",
    "compare",
    "first_price",
    "recommend",
    "vary",
]

#: EFS is good enough if it takes at most so much longer than is needed.
_ENOUGH = 1.1
_TRAINING = (PhaseName.FIRST_EPOCH, PhaseName.LATER_EPOCHS)


def recommend(
    workload: Workload,
    book: PriceBook,
    *,
    prefer: Prefer = Prefer.COST,
    on: date,
    flips: bool = True,
) -> Recommendation:
    """Recommend a source.

    Args:
        workload: what is to be fed.
        book: the prices.
        prefer: what the ranking goes by.
        on: the day whose prices are taken.
        flips: search for what would change the answer, which takes a hundred times as long as the answer.
    """
    market = Market.of(book, on=on)
    judged = judge(workload, market, prefer)
    chosen = judged.ranking[0] if judged.ranking else None
    path = chart.walk(workload, _trial(workload, judged))
    ends = chart.ends(path)
    end = _preferred(ends, judged, workload)
    packing = _packing(workload, judged)
    turns = _flips(workload, market, prefer) if flips else ()
    return Recommendation(
        workload=workload,
        prefer=prefer,
        on=on,
        path=path,
        ends=ends,
        end=end,
        verdicts=judged.verdicts,
        ranking=judged.ranking,
        chosen=chosen,
        disagreement=_disagreement(workload, judged, end, prefer, turns),
        close=tuple(each for each in judged.ranking[1:] if chosen and close(chosen, each, prefer)),
        packing=packing,
        flips=turns,
        assumptions=_assumptions(workload, chosen, packing),
        warnings=tuple(warnings(workload, judged.ranking, packing, market)),
    )


def first_price(book: PriceBook) -> date | None:
    """The day of the oldest price of a book; None where it has none. Before it nothing can be compared."""
    return min(
        (
            record.date
            for region in book.regions()
            for key in book.keys(region)
            for record in book.history(key, region=region)
        ),
        default=None,
    )


def compare(workload: Workload, book: PriceBook, *, on: date) -> tuple[Option, ...]:
    """Every way to use every eligible source, the cheapest first, for curves over many workloads.

    A file system made for each run is one way, preloaded or not, whichever is cheaper; one kept is another.
    """
    market = Market.of(book, on=on)
    return rank(ways(workload, market), Prefer.COST)


def _flips(workload: Workload, market: Market, prefer: Prefer) -> tuple[Flip, ...]:
    def best(other: Workload) -> Option | None:
        ranking = judge(other, market, prefer, packing=False).ranking
        return ranking[0] if ranking else None

    return turning_points.flips(workload, best)


def _trial(workload: Workload, judged: Judged) -> chart.EfsTrial | None:
    """Try EFS on the estimate: does it keep the model as busy as it could be?"""
    found = {verdict.source: verdict.option for verdict in judged.verdicts if verdict.option is not None}
    efs = found.get(SourceKind.EFS)
    if efs is None:
        return None
    if workload.consumption is not None:
        took, needed = _trained(efs), workload.compute_seconds * workload.epochs
        why = f"training takes {seconds(took)} on EFS, and {seconds(needed)} where data is local"
    else:
        took = efs.estimate.billable_seconds
        needed = min(option.estimate.billable_seconds for option in found.values())
        why = f"a run bills {seconds(took)} on EFS, and {seconds(needed)} with the fastest source"
    return chart.EfsTrial(enough=took <= _ENOUGH * needed, why=f"by the estimate, {why}")


def _trained(option: Option) -> float:
    return sum(phase.seconds for phase in option.estimate.phases if phase.name in _TRAINING)


def _way(end: chart.Node) -> tuple[SourceKind, bool]:
    return chart.ENDS[end], end is chart.Node.TRY_PACKED


def _preferred(ends: tuple[chart.Node, ...], judged: Judged, workload: Workload) -> chart.Node:
    """Of the chart's ends, the one that ranks highest."""
    ways = [(option.source, option.packed) for option in judged.ranking]
    last = len(ways)
    return min(ends, key=lambda end: ways.index(_way(end)) if _way(end) in ways else last)


def _disagreement(
    workload: Workload, judged: Judged, end: chart.Node, prefer: Prefer, flips: tuple[Flip, ...]
) -> str:
    if not judged.ranking:
        return ""
    chosen = judged.ranking[0]
    source, packed = _way(end)
    if (chosen.source, chosen.packed) == (source, packed):
        return ""
    verdict = next(each for each in judged.verdicts if each.source is source)
    if packed and judged.packed is not None and judged.packed.source is source:
        verdict = Verdict(source=source, ruled_out=(), option=judged.packed)
    return disagreement(workload, verdict, chosen, prefer, flips)


def _packing(workload: Workload, judged: Judged) -> Packing | None:
    packed = judged.packed
    plain = next((option for option in judged.ranking if not option.packed), None)
    if packed is None or plain is None:
        return None
    return Packing(
        files=-(-workload.size_bytes // chart.CONTAINER_BYTES),
        option=packed,
        saved=plain.price - packed.price,
        saved_seconds=plain.estimate.total_seconds - packed.estimate.total_seconds,
    )


def _assumptions(workload: Workload, chosen: Option | None, packing: Packing | None) -> tuple[str, ...]:
    found = chosen.estimate.assumptions if chosen else ()
    if workload.packable is None and packing is not None:
        found += ("Whether files can be packed was not said; they are taken as they are.",)
    return found

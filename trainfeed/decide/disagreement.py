"""Why the estimate chooses another source than the flow chart."""

from trainfeed.decide.option import Option, Prefer, download
from trainfeed.decide.recommendation import Dimension, Flip, Verdict
from trainfeed.decide.words import money, seconds
from trainfeed.estimate import PhaseName
from trainfeed.sources import SourceKind
from trainfeed.workload import Access, Workload

#: What takes at most so much longer is not dearer for its time.
_TELLING = 1.02
#: What differs by less is the same to a reader.
_ALIKE = 1.01


def disagreement(
    workload: Workload, chart: Verdict, chosen: Option, prefer: Prefer, flips: tuple[Flip, ...]
) -> str:
    """The reason in words.

    Args:
        workload: what was asked about.
        chart: the chart's source, judged; its way may be on packed files.
        chosen: the way the ranking puts first.
        prefer: what it goes by.
        flips: what would change the answer, as far as that was searched for.
    """
    other = chart.option
    if other is None:
        return f"The flow chart says {chart.source}, which is ruled out: {chart.ruled_out[0].message}"
    said = f"The flow chart says {chart.source}{' on packed files' if other.packed else ''}"
    if _alike(other, chosen):
        return (
            f"{said}; the estimate sees hardly a difference ({_figures(chosen)} with either) and takes "
            f"{chosen.title}, {_ease(chosen, other, prefer)}."
        )
    but = (
        f"{said}; the estimate puts {chosen.title} first, since {_by(chosen, other, prefer)}: "
        f"{_figures(chosen)}, against {_figures(other)} with {other.title}."
    )
    return " ".join(
        filter(None, (but, _why(other, chosen, prefer), _not_asked(workload, chart.source, chosen, flips)))
    )


def _alike(one: Option, other: Option) -> bool:
    prices = sorted((one.price, other.price))
    times = sorted((one.estimate.total_seconds, other.estimate.total_seconds))
    return float(prices[1]) <= _ALIKE * float(prices[0]) and times[1] <= _ALIKE * times[0]


def _ease(chosen: Option, other: Option, prefer: Prefer) -> str:
    if prefer is Prefer.SIMPLICITY:
        return "which is simpler"
    if download(chosen) < download(other):
        return "which has less to download first"
    return "which is a trifle cheaper" if chosen.price < other.price else "which is done a trifle sooner"


def _by(chosen: Option, other: Option, prefer: Prefer) -> str:
    cheaper = chosen.price < other.price
    sooner = chosen.estimate.total_seconds < other.estimate.total_seconds
    match prefer:
        case Prefer.COST:
            return "it costs less" if cheaper else "it costs about as much and is done sooner"
        case Prefer.TIME:
            return "it is done sooner" if sooner else "it is done about as soon and costs less"
        case Prefer.SIMPLICITY:
            return "it costs less" if cheaper else "it is simpler for about the same money"


def _figures(option: Option) -> str:
    # Compared by the price that may be another Region's, for that is what ranks.
    about = "about " if option.cost.at_least else ""
    return f"{about}{money(option.price)} a run and {seconds(option.estimate.total_seconds)}"


def _why(other: Option, chosen: Option, prefer: Prefer) -> str:
    """Where the chart's source loses: in a phase, or by what it is paid for besides."""
    by_time = prefer is Prefer.TIME
    slow, fast = (
        each.estimate.total_seconds if by_time else each.estimate.billable_seconds for each in (other, chosen)
    )
    if slow > _TELLING * fast:
        return _slowest(other, chosen, billed=not by_time)
    return _dearest(other, chosen)


def _slowest(other: Option, chosen: Option, *, billed: bool) -> str:
    there = {phase.name: phase.seconds for phase in chosen.estimate.phases}
    lost = {
        phase.name: phase.seconds - there.get(phase.name, 0.0)
        for phase in other.estimate.phases
        if phase.billed or not billed
    }
    worst = max(lost, key=lambda name: lost[name])
    spent = there.get(worst, 0.0)
    took, less = seconds(spent + lost[worst]), seconds(spent) if spent >= 1 else "nothing"
    return f"On this phase, {worst}, {other.title} spends {took}; {chosen.title} {less}."


def _dearest(other: Option, chosen: Option) -> str:
    paid = {item.name: item.amount or 0 for item in chosen.compared.line_items}
    more = {
        item.name: item.amount - paid.get(item.name, 0)
        for item in other.compared.line_items
        if item.amount is not None and item.amount > paid.get(item.name, 0)
    }
    if not more:
        return ""
    name = max(more, key=lambda each: more[each])
    return f"{name} alone costs {money(more[name])} more."


def _not_asked(workload: Workload, chart: SourceKind, chosen: Option, flips: tuple[Flip, ...]) -> str:
    """What the chart does not ask about and this workload turns on."""
    if (
        chosen.source is SourceKind.S3_FAST_FILE
        and chart is SourceKind.LUSTRE
        and _keeps_up(workload, chosen)
    ):
        return "The model is slower than the stream from S3, so streaming is enough."
    if workload.access is Access.RANDOM and chart is not SourceKind.LUSTRE:
        return "The chart does not ask how the files are read; this job reads at random."
    if any(flip.dimension is Dimension.EPOCHS for flip in flips):
        return f"The chart does not ask for epochs; this job makes {workload.epochs}."
    return ""


def _keeps_up(workload: Workload, chosen: Option) -> bool:
    first = next(phase for phase in chosen.estimate.phases if phase.name is PhaseName.FIRST_EPOCH)
    return first.seconds <= _ALIKE * workload.compute_seconds

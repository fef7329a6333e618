"""Why the estimate chooses another source than the flow chart."""

from trainfeed.decide.option import Option, Prefer
from trainfeed.decide.recommendation import Verdict
from trainfeed.decide.words import money, seconds
from trainfeed.sources import SourceKind
from trainfeed.workload import Access, Workload

#: What takes at most so much longer is not dearer for its time.
_TELLING = 1.02


def disagreement(
    workload: Workload, chart: Verdict, chosen: Option, prefer: Prefer, *, packed_chart: bool
) -> str:
    """The reason in words.

    Args:
        workload: what was asked about.
        chart: the chart's source, judged.
        chosen: the way the ranking puts first.
        prefer: what it goes by.
        packed_chart: the chart's answer was to pack the files and stream them.
    """
    said = f"The flow chart says {chart.source}{' on packed files' if packed_chart else ''}"
    if chart.option is None:
        return f"{said}, which is ruled out: {chart.ruled_out[0].message}"
    other = chart.option
    by = _by(chosen, other, prefer)
    reason = _why(other, chosen, prefer)
    beyond = _not_asked(workload, chart.source)
    but = (
        f"{said}; the estimate puts {chosen.title} first, since {by}: {_figures(chosen)}, against "
        f"{_figures(other)} with {other.title}."
    )
    return " ".join(filter(None, (but, reason, beyond)))


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
    return f"On this phase, {worst}, {other.source} spends {took}; {chosen.source} {less}."


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


def _not_asked(workload: Workload, chart: SourceKind) -> str:
    """What the chart does not ask about and this workload turns on."""
    if workload.access is Access.RANDOM and chart is not SourceKind.LUSTRE:
        return "The chart does not ask how the files are read; this job reads at random."
    if workload.epochs > 1:
        return f"The chart does not ask for epochs; this job makes {workload.epochs}."
    return ""

"""The sentences of a recommendation, as terminal and page both say them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from trainfeed.decide import Dimension, Flip, Option, Prefer, Recommendation
from trainfeed.decide.chart import ENDS, Node
from trainfeed.decide.option import EVEN
from trainfeed.decide.words import count, money, seconds, si_bytes
from trainfeed.estimate import PhaseName

#: Phases as people tell them apart: before the job, in it, after it.
STAGES: Mapping[str, tuple[PhaseName, ...]] = {
    "prepare": (PhaseName.COPY, PhaseName.CREATE, PhaseName.IMPORT, PhaseName.PRELOAD),
    "start": (PhaseName.START,),
    "load": (PhaseName.DOWNLOAD, PhaseName.SETUP),
    "train": (PhaseName.FIRST_EPOCH, PhaseName.LATER_EPOCHS, PhaseName.RESTARTS),
    "finish": (PhaseName.UPLOAD, PhaseName.DELETE),
}


def headline(answer: Recommendation) -> str:
    """The answer in one line."""
    chosen = answer.chosen
    if chosen is None:
        return "None of the five sources can feed this job."
    pack = "Pack the files, then use" if chosen.packed else "Use"
    least = "at least " if answer.workload.consumption is None else ""
    return (
        f"{pack} {chosen.title.removesuffix(' on packed files')}: {_headline_price(chosen)}, "
        f"done in {least}{seconds(chosen.estimate.total_seconds)}."
    )


def _headline_price(chosen: Option) -> str:
    if not chosen.cost.at_least:
        return f"{money(chosen.cost.total)} a run"
    about = f"about {money(chosen.price)} with borrowed prices"
    return f"at least {money(chosen.cost.total)} a run ({about})"


def reason(answer: Recommendation) -> str:
    """By what it was chosen, and what comes close."""
    chosen, rivals = answer.chosen, answer.ranking[1:]
    if chosen is None:
        return "Each is ruled out below. What remains is to read the data in the script itself."
    if not rivals:
        return "It is the only source that this job can use."
    if not answer.close:
        return f"{_merit(answer, chosen, rivals)}."
    near = _listed(each.title for each in answer.close)
    what = "take" if answer.prefer is Prefer.TIME else "cost"
    one = "takes" if answer.prefer is Prefer.TIME else "costs"
    verb = one if len(answer.close) == 1 else what
    return (
        f"{_merit(answer, chosen, rivals)}; {near} {verb} about as much (within 10 %, which is how exact an "
        "estimate is)."
    )


def _merit(answer: Recommendation, chosen: Option, rivals: Sequence[Option]) -> str:
    of = f"of the {len(rivals) + 1} ways this job can be fed"
    if answer.prefer is Prefer.SIMPLICITY:
        return "It is the simplest of those that cost within 10 % of the cheapest"
    # Pipe mode is superseded, and must be much better to be chosen.
    equals = [each for each in rivals if each.handicap <= chosen.handicap]
    if len(equals) < len(rivals):
        pipe = next(each for each in rivals if each not in equals)
        if pipe.price < chosen.price or _took(pipe) < _took(chosen):
            of = f"of the ways this job can be fed, but for the older {pipe.title}"
    if not equals:
        return f"It is preferred to the older {rivals[0].title}"
    cheapest = min(equals, key=lambda each: each.price)
    soonest = min(equals, key=_took)
    dearer, later = float(chosen.price - cheapest.price), _took(chosen) - _took(soonest)
    if answer.prefer is Prefer.COST:
        if dearer <= (EVEN - 1) * float(cheapest.price):
            return f"It costs least {of}"
        sooner, more = seconds(_took(cheapest) - _took(chosen)), dearer / float(cheapest.price)
        return f"It costs {more:.1%} more than the cheapest {of}, and is done {sooner} sooner"
    if later <= (EVEN - 1) * _took(soonest):
        return f"It is done soonest {of}"
    saved = money(soonest.price - chosen.price)
    return f"It takes {later / _took(soonest):.1%} longer than the soonest {of}, and costs {saved} less"


def _took(option: Option) -> float:
    return option.estimate.total_seconds


def monthly(answer: Recommendation) -> str:
    """How much of the cost bills by the month, and what share of it a run bears; empty where nothing does."""
    chosen = answer.chosen
    items = [item for item in chosen.cost.line_items if item.monthly and item.amount] if chosen else []
    if not items:
        return ""
    parts = _listed(f"{money(item.amount or Decimal(0))} is {item.name}" for item in items)
    runs = answer.workload.runs_per_month
    return (
        f"Of that, {parts}: a run's share of what bills by the month, with {_counted(round(runs, 1), 'run')} "
        "a month (--runs-per-month)."
    )


def chart_says(answer: Recommendation) -> str:
    """Where the flow chart ends."""
    said = _listed((_end(node) for node in answer.ends), " or ")
    if answer.chosen is None:
        return f"The chart says {said}, which this job cannot use."
    if len(answer.ends) > 1:
        return f"The chart says {said}; by the estimate, {_end(answer.end)}."
    return f"The chart says {said}."


def _end(node: Node) -> str:
    return f"{ENDS[node]}{' on packed files' if node is Node.TRY_PACKED else ''}"


def price(option: Option) -> str:
    """`$0.44`; `at least $0.44, about $0.58`, the second with prices of elsewhere."""
    if not option.cost.at_least:
        return money(option.cost.total)
    return f"at least {money(option.cost.total)}, about {money(option.price)}"


def stages(option: Option) -> dict[str, float]:
    """Seconds of each stage."""
    return {
        stage: sum(phase.seconds for phase in option.estimate.phases if phase.name in names)
        for stage, names in STAGES.items()
    }


def turning_point(flip: Flip) -> str:
    """`With 3 epochs or more: S3 File` is where that way becomes the best."""
    fewer = "fewer"
    match flip.dimension:
        case Dimension.EPOCHS:
            where = _counted(flip.at, "epoch")
        case Dimension.RUNS:
            where = f"{_counted(round(flip.at, 1), 'run')} a month"
        case Dimension.DATASET:
            where, fewer = f"a dataset of {si_bytes(flip.at)}", "less"
        case Dimension.FILE_SIZE:
            where, fewer = f"files of {si_bytes(flip.at)}", "less"
    if flip.dimension is Dimension.EPOCHS and flip.at == 1:
        return f"With {where}: {flip.title}"
    return f"With {where} or {'more' if flip.up else fewer}: {flip.title}"


def _counted(number: float, of: str) -> str:
    return f"{count(number)} {of}{'' if number == 1 else 's'}"


def unchanged(answer: Recommendation) -> Iterator[str]:
    """The dimensions in which nothing turns the answer."""
    turned = {flip.dimension for flip in answer.flips}
    return (str(dimension) for dimension in Dimension if dimension not in turned)


def _listed(items: Iterable[str], last: str = " and ") -> str:
    *most, end = items
    return f"{', '.join(most)}{last}{end}" if most else end

"""The sentences of a recommendation, as terminal and page both say them."""

from collections.abc import Iterable, Iterator, Mapping

from trainfeed.decide import Dimension, Flip, Option, Prefer, Recommendation
from trainfeed.decide.chart import ENDS, Node
from trainfeed.decide.words import count, money, seconds, si_bytes
from trainfeed.estimate import PhaseName
from trainfeed.estimate.cost import Cost

#: Phases as people tell them apart: before the job, in it, after it.
STAGES: Mapping[str, tuple[PhaseName, ...]] = {
    "prepare": (PhaseName.COPY, PhaseName.CREATE, PhaseName.IMPORT, PhaseName.PRELOAD),
    "start": (PhaseName.START,),
    "download": (PhaseName.DOWNLOAD, PhaseName.SETUP),
    "train": (PhaseName.FIRST_EPOCH, PhaseName.LATER_EPOCHS, PhaseName.RESTARTS),
    "finish": (PhaseName.UPLOAD, PhaseName.DELETE),
}


def headline(answer: Recommendation) -> str:
    """The answer in one line."""
    chosen = answer.chosen
    if chosen is None:
        return "None of the five sources can feed this job."
    pack = "Pack the files, then use" if chosen.packed else "Use"
    return (
        f"{pack} {chosen.title.removesuffix(' on packed files')}: {price(chosen.cost)} a run, "
        f"done in {seconds(chosen.estimate.total_seconds)}."
    )


def reason(answer: Recommendation) -> str:
    """By what it was chosen, and what comes close."""
    by = {
        Prefer.COST: "It costs least (of those within 5 %, the fastest)",
        Prefer.TIME: "It is done soonest (of those within 5 %, the cheapest)",
        Prefer.SIMPLICITY: "It is the simplest that costs within 10 % of the cheapest",
    }[answer.prefer]
    rivals = len(answer.ranking) - 1
    if not answer.chosen:
        return "Each is ruled out below. What remains is to read the data in the script itself."
    if not rivals:
        return "It is the only source that this job can use."
    if not answer.close:
        return f"{by} of {rivals + 1} that this job can use."
    near = _listed(each.title for each in answer.close)
    verb = "comes" if len(answer.close) == 1 else "come"
    return f"{by}, but {near} {verb} within 10 %, and no estimate is more exact than that."


def chart_says(answer: Recommendation) -> str:
    """Where the flow chart ends."""
    said = _listed((_end(node) for node in answer.ends), " or ")
    if len(answer.ends) > 1:
        return f"The chart says {said}; by the estimate, {_chart(answer)}."
    return f"The chart says {said}."


def _chart(answer: Recommendation) -> str:
    return str(answer.chart)


def _end(node: Node) -> str:
    return f"{ENDS[node]}{' on packed files' if node is Node.TRY_PACKED else ''}"


def price(cost: Cost) -> str:
    """`$0.44`, `at least $0.44`."""
    return f"{'at least ' if cost.at_least else ''}{money(cost.total)}"


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

"""A recommendation as one page: a file that needs nothing beside it, and no network."""

from collections.abc import Iterable, Mapping
from importlib.resources import files

from trainfeed.decide import Dimension, Recommendation, compare, vary
from trainfeed.decide.words import count, si_bytes
from trainfeed.prices import PriceBook
from trainfeed.report import answer as say
from trainfeed.report.page.bars import bars
from trainfeed.report.page.curves import Axis, Plot, curves
from trainfeed.report.page.flow_chart import flow_chart
from trainfeed.report.page.line_items import line_items
from trainfeed.report.page.markup import Markup, element
from trainfeed.sources import SourceKind
from trainfeed.workload import Workload

_COLOURS = {
    SourceKind.S3_FILE: "file",
    SourceKind.S3_FAST_FILE: "fastfile",
    SourceKind.S3_PIPE: "pipe",
    SourceKind.LUSTRE: "lustre",
    SourceKind.EFS: "efs",
}


#: A turn that is so many times as far away is left out of the picture.
_FAR = 20


def page(answer: Recommendation, book: PriceBook) -> str:
    """The whole page.

    Args:
        answer: what it shows.
        book: the prices, for the curves.
    """
    style = Markup((files(__name__) / "style.css").read_text(encoding="utf-8"))
    head = element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", f"trainfeed: {say.headline(answer)}"),
        element("style", style),
    )
    return "<!doctype html>\n" + element("html", head, element("body", _body(answer, book)), lang="en") + "\n"


def _body(answer: Recommendation, book: PriceBook) -> Markup:
    return element(
        "main",
        _hero(answer),
        *_look_out(answer),
        _chart(answer),
        *(_compared(answer, book) if answer.chosen else ()),
        *_ruled_out(answer),
        *_assumed(answer),
        element("footer", f"Written by trainfeed with the prices of {answer.on}. An estimate, not an offer."),
    )


def _hero(answer: Recommendation) -> Markup:
    return element(
        "header",
        element("p", "Which source for this training job?", class_="eyebrow"),
        element("h1", say.headline(answer)),
        element("p", say.reason(answer), class_="lead"),
        element("ul", *(element("li", fact) for fact in _facts(answer)), class_="chips"),
    )


def _facts(answer: Recommendation) -> Iterable[str]:
    workload = answer.workload
    yield f"{si_bytes(workload.size_bytes)} in {count(workload.files)} files"
    yield f"{workload.access} reads"
    yield f"{count(workload.epochs)} epoch{'s' if workload.epochs > 1 else ''}"
    several = f"{workload.instance_count}, " if workload.instance_count > 1 else ""
    yield f"{several}{workload.instance_type}{', Spot' if workload.spot else ''}"
    yield f"{count(workload.runs_per_month)} run{'' if workload.runs_per_month == 1 else 's'} a month"
    yield workload.region
    yield f"chosen by {answer.prefer}"


def _section(title: str, *content: str, note: str = "") -> Markup:
    notes = [element("p", note, class_="note")] if note else []
    return element("section", element("h2", title), *notes, *content)


def _listed(items: Iterable[str], **attributes: str) -> Markup:
    return element("ul", *(element("li", item) for item in items), **attributes)


def _look_out(answer: Recommendation) -> Iterable[Markup]:
    if answer.warnings:
        yield element("section", element("h2", "Look out"), _listed(answer.warnings), class_="warn")


def _chart(answer: Recommendation) -> Markup:
    steps = (
        element(
            "li",
            element("span", step.question, class_="question"),
            element("b", step.answer),
            *([element("span", f"threshold: {step.threshold}", class_="asked")] if step.threshold else []),
            element("span", step.why, class_="why"),
        )
        for step in answer.path
    )
    verdict = element("p", say.chart_says(answer), class_="verdict")
    but = [element("p", answer.disagreement, class_="but")] if answer.disagreement else []
    told = element("div", element("ol", *steps, class_="path"), verdict, *but)
    return _section(
        "The flow chart of AWS",
        element("div", flow_chart(answer.path, answer.end), told, class_="two"),
    )


def _compared(answer: Recommendation, book: PriceBook) -> Iterable[Markup]:
    yield _section("How long it takes", bars(answer.ranking), note="From the start of the run to its end.")
    yield element("div", _by_epochs(answer, book), _by_runs(answer, book), class_="pair")
    changes = [f"{say.turning_point(flip)}." for flip in answer.flips]
    if same := list(say.unchanged(answer)):
        changes.append(f"No change of {', '.join(same)} alone would.")
    yield _section("What would change the answer", _listed(changes), note="All else being as stated.")
    yield _section("What a run costs", *(line_items(option, answer) for option in answer.ranking))


def _by_epochs(answer: Recommendation, book: PriceBook) -> Markup:
    here = answer.workload.epochs
    turning = [flip.at for flip in answer.flips if flip.dimension is Dimension.EPOCHS]
    high = max(10, round(2.5 * here), *(round(1.5 * at) for at in turning if at <= _FAR * here))
    return _section(
        "Cost against epochs",
        curves(
            Axis(low=1, high=high, whole=True),
            lambda epochs: _costs(_at(answer.workload, Dimension.EPOCHS, epochs), answer, book),
            _plot("epochs", here),
        ),
        note="USD a run, by cost alone.",
    )


def _by_runs(answer: Recommendation, book: PriceBook) -> Markup:
    here = answer.workload.runs_per_month
    turning = [flip.at for flip in answer.flips if flip.dimension is Dimension.RUNS]
    high = max(200.0, 4 * here, *(2 * at for at in turning))
    return _section(
        "Cost against runs a month",
        curves(
            Axis(low=min(1.0, here), high=high, logarithmic=True),
            lambda runs: _costs(_at(answer.workload, Dimension.RUNS, runs), answer, book),
            _plot("runs a month", here),
            logarithmic=True,
        ),
        note="USD a run, with its share of what bills by the month; by cost alone.",
    )


def _at(workload: Workload, dimension: Dimension, to: float) -> Workload:
    return vary(workload, dimension, to)


def _costs(workload: Workload, answer: Recommendation, book: PriceBook) -> Mapping[str, float]:
    return {option.title: float(option.price) for option in compare(workload, book, on=answer.on)}


def _plot(label: str, here: float) -> Plot:
    return Plot(label=label, here=here, x=_number, y=_money, kind=_kind)


def _number(value: float) -> str:
    return count(round(value, 1) if value < 10 else round(value))


def _money(value: float) -> str:
    if value >= 10 or value == round(value):
        return f"${value:,.0f}"
    return f"${value:.2f}" if value >= 0.1 else f"${value:.2g}"


def _kind(title: str) -> str:
    source = next(source for source in _COLOURS if title.startswith(source))
    dashed = title.endswith(("kept all month", "on packed files"))
    return _COLOURS[source] + (" dashed" if dashed else "")


def _ruled_out(answer: Recommendation) -> Iterable[Markup]:
    items = [
        element(
            "li",
            element("b", f"{verdict.source}: "),
            finding.message,
            " ",
            element("a", finding.rule.id, href=finding.rule.source),
        )
        for verdict in answer.verdicts
        for finding in verdict.ruled_out
    ]
    if items:
        yield _section("Ruled out", element("ul", *items))


def _assumed(answer: Recommendation) -> Iterable[Markup]:
    if answer.assumptions:
        yield _section("Assumed", _listed(answer.assumptions, class_="small"))
    if answer.chosen:
        yield _section("Not in the costs", _listed(answer.chosen.cost.not_included, class_="small"))

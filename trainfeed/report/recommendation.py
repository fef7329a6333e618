"""A recommendation in the terminal.

Written without rich, whose import alone takes longer than the answer.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from textwrap import fill

from click import echo, style

from trainfeed.decide import Option, Recommendation, Verdict
from trainfeed.report import answer as say

#: Lines longer than this are hard to read, however wide the terminal.
_WIDEST = 110
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400

_bold, _dim = partial(style, bold=True), partial(style, dim=True)
_good, _bad = partial(style, fg="green", bold=True), partial(style, fg="red")
_asked, _but = partial(style, fg="cyan"), partial(style, fg="yellow")


def show(answer: Recommendation) -> None:
    """Print the answer, the way through the chart, all sources, and what would change the answer."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    for line in lines(answer, width):
        echo(line)


def lines(answer: Recommendation, width: int) -> Iterator[str]:
    """The answer line by line, styled."""
    yield (_good if answer.chosen else _bad)(fill(say.headline(answer), width))
    yield fill(say.reason(answer), width)
    if share := say.monthly(answer):
        yield fill(share, width)
    yield from _chart(answer, width)
    yield from _sources(answer, width)
    yield from _list("What would change it", _changes(answer), width)
    yield from _list("Look out", answer.warnings, width)
    yield from _list("Assumed", answer.assumptions, width)
    if answer.chosen:
        yield from _list("Not in the costs", [", ".join(answer.chosen.cost.not_included) + "."], width)


def _chart(answer: Recommendation, width: int) -> Iterator[str]:
    yield _bold("\nThe flow chart of AWS")
    for step in answer.path:
        held = _dim(f"  (threshold: {step.threshold})") if step.threshold else ""
        yield f"  {step.question} {_asked(step.answer)}{held}"
        yield _dim(_indented(step.why, width, by=4))
    yield _indented(say.chart_says(answer), width)
    if answer.disagreement:
        yield _but(_indented(answer.disagreement, width))


def _sources(answer: Recommendation, width: int) -> Iterator[str]:
    yield _bold("\nThe sources")
    if answer.ranking:
        head, *rows = _aligned([("", "a run", "in all", *say.STAGES), *map(_row, answer.ranking)])
        yield _dim(f"  {head}")
        for option, row in zip(answer.ranking, rows, strict=True):
            yield _good(f"  {row}") if option is answer.chosen else f"  {row}"
    if any(option.cost.at_least for option in answer.ranking):
        note = "> leaves out what has no known price here; ~ borrows a price for it, as told below."
        yield _dim(_indented(note, width))
    for verdict in answer.verdicts:
        if verdict.ruled_out:
            yield _indented(_why_not(verdict), width)


def _row(option: Option) -> tuple[str, ...]:
    times = (option.estimate.total_seconds, *say.stages(option).values())
    price = say.price(option).replace("at least ", ">").replace(", about ", " ~")
    return (option.title.removeprefix("FSx for "), price, *map(short, times))


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Rows as columns: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join((f"{first:<{widths[0]}}", *cells)).rstrip()


def _why_not(verdict: Verdict) -> str:
    reasons = " ".join(f"{found.message} ({found.rule.id})" for found in verdict.ruled_out)
    return f"Not {verdict.source}: {reasons}"


def _changes(answer: Recommendation) -> Iterator[str]:
    yield from (f"{say.turning_point(flip)}." for flip in answer.flips)
    if answer.chosen and (same := list(say.unchanged(answer))):
        yield f"No change of {', '.join(same)} alone would."


def _list(title: str, items: Iterable[str], width: int) -> Iterator[str]:
    given = list(items)
    if given:
        yield _bold(f"\n{title}")
    for item in given:
        yield fill(item, width, initial_indent="  - ", subsequent_indent="    ")


def _indented(text: str, width: int, *, by: int = 2) -> str:
    return fill(text, width, initial_indent=" " * by, subsequent_indent=" " * by)


def short(value: float) -> str:
    """`12s`, `3m05`, `2h07`, `3d04h`; a dash for nothing."""
    whole = round(value)
    if whole == 0:
        return "-"
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02}"
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE:02}"
    return f"{whole // _DAY}d{whole % _DAY // _HOUR:02}h"

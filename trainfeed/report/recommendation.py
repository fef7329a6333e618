"""A recommendation in the terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trainfeed.decide import Recommendation, Verdict
from trainfeed.decide.words import money
from trainfeed.report import answer as say

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def show(answer: Recommendation, console: Console) -> None:
    """Print the answer, the way through the chart, all sources, and what would change the answer."""
    console.print(Text(say.headline(answer), style="bold green" if answer.chosen else "bold red"))
    console.print(say.reason(answer))
    _chart(answer, console)
    _sources(answer, console)
    _list("What would change it", _changes(answer), console)
    _list("Look out", answer.warnings, console, style="yellow")
    _list("Assumed", answer.assumptions, console, style="dim")
    if answer.chosen:
        _list("Not in the costs", [", ".join(answer.chosen.cost.not_included) + "."], console, style="dim")


def _chart(answer: Recommendation, console: Console) -> None:
    console.print(Text("\nThe flow chart of AWS", style="bold"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for _ in range(3):
        table.add_column()
    for step in answer.path:
        held = f" (threshold: {step.threshold})" if step.threshold else ""
        table.add_row(step.question, Text(f"{step.answer}{held}", style="cyan"), Text(step.why, style="dim"))
    console.print(Padding(table, (0, 0, 0, 2)))
    console.print(f"  {say.chart_says(answer)}")
    if answer.disagreement:
        console.print(Padding(Text(answer.disagreement, style="yellow"), (0, 0, 0, 2)))


def _sources(answer: Recommendation, console: Console) -> None:
    console.print(Text("\nThe sources", style="bold"))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("Source")
    for heading in ("a run", "in all", *say.STAGES):
        table.add_column(heading, justify="right", no_wrap=True)
    for option in answer.ranking:
        style = "bold green" if option is answer.chosen else ""
        times = [short(each) for each in say.stages(option).values()]
        least = ">" if option.cost.at_least else ""
        table.add_row(
            option.title,
            f"{least}{money(option.cost.total)}",
            short(option.estimate.total_seconds),
            *times,
            style=style,
        )
    if answer.ranking:
        console.print(Padding(table, (0, 0, 0, 2)))
    for verdict in answer.verdicts:
        if verdict.ruled_out:
            console.print(Padding(_why_not(verdict), (0, 0, 0, 2)))


def _why_not(verdict: Verdict) -> Text:
    reasons = " ".join(f"{found.message} ({found.rule.id})" for found in verdict.ruled_out)
    return Text.assemble((f"Not {verdict.source}: ", "red"), reasons)


def _changes(answer: Recommendation) -> Iterable[str]:
    yield from (f"{say.turning_point(flip)}." for flip in answer.flips)
    if answer.chosen and (same := list(say.unchanged(answer))):
        yield f"No change of {', '.join(same)} alone would."


def _list(title: str, items: Iterable[str], console: Console, *, style: str = "") -> None:
    given = list(items)
    if not given:
        return
    console.print(Text(f"\n{title}", style="bold"))
    table = Table.grid(padding=(0, 1))
    for item in given:
        table.add_row(Text("-", style="dim"), Text(item, style=style))
    console.print(Padding(table, (0, 0, 0, 2)))


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

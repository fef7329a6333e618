"""A run as it goes on: drawn live in a terminal, written line by line elsewhere."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from trainfeed.report import units
from trainfeed.run.follow import BILLED, Ending, Phase, Progress


def show(progress: Iterable[Progress], console: Console) -> Progress:
    """Show a run until it ends, and return how it stands then.

    Args:
        progress: from `run.follow.follow`; has at least one element.
        console: drawn on if it is a terminal, else written to as phases end.
    """
    draw = _live if console.is_terminal else _plain
    return draw(iter(progress), console)


def summary(end: Progress, console: Console, *, log: Iterable[str] = ()) -> None:
    """Say how a run ended, what it is billed for, and what it left.

    Args:
        end: the last progress of a run, with its result.
        console: where to write.
        log: the last lines of the job's log, shown if it did not succeed.
    """
    result = end.result
    if result is None:
        raise ValueError("The run has not ended.")
    job, log = result.job, tuple(log)
    reason = _headline(result.reason, log)
    took = units.seconds(sum(phase.seconds(datetime.now(UTC)) for phase in end.phases))
    match result.ending:
        case Ending.SUCCEEDED:
            console.print(Text.assemble(("Succeeded", "bold green"), f" in {took}."))
        case Ending.STOPPED:
            console.print(Text.assemble(("Stopped", "bold yellow"), f" after {took}: {reason}"))
        case Ending.FAILED:
            console.print(Text.assemble(("Failed", "bold red"), f" after {took}: {reason}"))
    if job and job.billable_seconds is not None:
        console.print(f"Billable  {units.seconds(job.billable_seconds)} on {job.instances}")
    if job and job.model and result.ending is Ending.SUCCEEDED:
        console.print(Text(f"Model     {job.model}"), soft_wrap=True)
    if job:
        console.print(Text(f"Log       trainfeed logs {job.name}"), soft_wrap=True)
    if result.ending is not Ending.SUCCEEDED:
        for line in log:
            console.print(Text(f"  {line}", style="dim"), soft_wrap=True)


def _headline(reason: str, log: Sequence[str]) -> str:
    """The reason, or only its last line if it quotes the log that follows."""
    match reason.strip().splitlines():
        case [*_, quoted, last] if quoted.strip() in map(str.strip, log):
            return last.strip()
        case _:
            return reason


def _live(progress: Iterable[Progress], console: Console) -> Progress:
    phases: tuple[Phase, ...] = ()
    warnings: tuple[str, ...] = ()
    last: Progress | None = None
    spinner = Spinner("dots")

    def draw() -> Group:
        return Group(_table(phases, spinner, console), *map(_warning, warnings))

    with Live(get_renderable=draw, console=console, refresh_per_second=8):
        for last in progress:
            phases, warnings = last.phases, last.warnings
    return _ended(last)


def _plain(progress: Iterable[Progress], console: Console) -> Progress:
    last: Progress | None = None
    said: set[str] = set()
    for last in progress:
        for phase in last.phases:
            line = _line(phase)
            if line not in said:
                said.add(line)
                console.print(Text(line), soft_wrap=True)
        for warning in last.warnings:
            if warning not in said:
                said.add(warning)
                console.print(_warning(warning), soft_wrap=True)
    return _ended(last)


def _ended(last: Progress | None) -> Progress:
    if last is None:
        raise ValueError("There is no progress to show.")
    return last


def _line(phase: Phase) -> str:
    if phase.ended:
        return f"{phase.name:<17} {units.seconds(phase.seconds(phase.ended))}"
    return f"{phase.name} ..." + (f" {phase.message}" if phase.message else "")


def _warning(text: str) -> Text:
    return Text.assemble(("Warning", "bold yellow"), f": {text}")


def _table(phases: tuple[Phase, ...], spinner: Spinner, console: Console) -> Table:
    done = "✓" if console.encoding.lower().startswith("utf") else "+"
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=1)
    table.add_column(min_width=16)
    table.add_column(justify="right", min_width=8)
    table.add_column(style="dim", overflow="ellipsis", no_wrap=True)
    now = datetime.now(UTC)
    for phase in phases:
        table.add_row(
            Text(done, style="green") if phase.ended else spinner,
            Text(phase.name, style="bold" if phase.name in BILLED else ""),
            units.seconds(phase.seconds(now)),
            "" if phase.ended else phase.message,
        )
    return table

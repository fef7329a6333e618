"""What the rules found, all of it at once."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from trainfeed.rules.rule import Finding, Level

_STYLE = {Level.ERROR: "bold red", Level.WARNING: "bold yellow", Level.INFO: "bold cyan"}


def show(found: Sequence[Finding], console: Console) -> None:
    """Print findings, errors first, each with the page that states its rule."""
    order = list(Level)
    for finding in sorted(found, key=lambda one: order.index(one.rule.level)):
        level = finding.rule.level
        console.print(Text.assemble((level.value, _STYLE[level]), f"  {finding.message}"), soft_wrap=True)
        console.print(Text(f"       {finding.rule.id}, {finding.rule.source}", style="dim"), soft_wrap=True)

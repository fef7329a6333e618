"""What exists, as tables."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from trainfeed.report import units
from trainfeed.run.buckets import Bucket
from trainfeed.run.file_systems import FileSystem


def file_systems(found: Sequence[FileSystem], console: Console) -> None:
    """The file systems that exist, and so bill."""
    if not found:
        console.print("No file system: nothing of trainfeed's bills by the hour.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("File system", "Kind", "State", "GiB", "Age", "Stack"):
        # Ids and names are there to be copied, so they are never cut short.
        table.add_column(heading, no_wrap=True, justify="right" if heading in ("GiB", "Age") else "left")
    now = datetime.now(UTC)
    for one in found:
        age = units.age(now - one.created)
        table.add_row(one.id, one.kind, one.state, f"{one.capacity_gib:,}", age, one.owner)
    console.print(table)
    console.print("Each bills until it is deleted; `cdk destroy STACK` deletes it.", style="dim")


def buckets(found: Sequence[Bucket], console: Console) -> None:
    """The buckets that exist, and whether a stack still owns them."""
    if not found:
        console.print("No bucket.")
        return
    console.print(Text("Bucket", style="bold"))
    width = max(len(one.name) for one in found)
    for one in found:
        state = f"in use by {one.made_by}" if one.owned else f"kept from {one.made_by}, which is gone"
        console.print(Text(f"{one.name:<{width}}  {state}"), soft_wrap=True)
    if not all(one.owned for one in found):
        console.print("`trainfeed delete-bucket NAME` empties and deletes one that was kept.", style="dim")

"""What exists, as tables."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich import box
from rich.console import Console
from rich.table import Table

from trainfeed.report import units
from trainfeed.run.buckets import Bucket
from trainfeed.run.file_systems import FileSystem


def file_systems(found: Sequence[FileSystem], console: Console) -> None:
    """The file systems that exist, and so bill."""
    if not found:
        console.print("No file system.")
        return
    table = Table(
        box=box.SIMPLE_HEAD, title="File systems: each bills until it is deleted", title_justify="left"
    )
    for heading in ("Id", "Kind", "State", "Capacity", "Age", "Stack"):
        table.add_column(heading, justify="right" if heading in ("Capacity", "Age") else "left", no_wrap=True)
    now = datetime.now(UTC)
    for one in found:
        table.add_row(
            one.id, one.kind, one.state, f"{one.capacity_gib:,} GiB", units.age(now - one.created), one.owner
        )
    console.print(table)


def buckets(found: Sequence[Bucket], console: Console) -> None:
    """The buckets that exist, and whether a stack still owns them."""
    if not found:
        console.print("No bucket.")
        return
    table = Table(box=box.SIMPLE_HEAD, title="Buckets", title_justify="left")
    table.add_column("Name", overflow="fold")
    table.add_column("Stack", no_wrap=True)
    table.add_column("")
    for one in found:
        table.add_row(one.name, one.made_by, "in use" if one.owned else "retained: its stack is gone")
    console.print(table)

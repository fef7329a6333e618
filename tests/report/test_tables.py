"""What exists, as people see it."""

import io
from datetime import UTC, datetime, timedelta

from rich.console import Console

from trainfeed.report import tables
from trainfeed.run.buckets import Bucket
from trainfeed.run.file_systems import FileSystem

LUSTRE = FileSystem(
    id="fs-0123456789abcdef0",
    kind="PERSISTENT_2",
    state="AVAILABLE",
    capacity_gib=100_800,
    created=datetime.now(UTC) - timedelta(hours=3),
    owner="FsxLustreStack",
)
KEPT = Bucket(name="datasetstack-data-" + "x" * 45, made_by="DatasetStack", owned=False)
USED = Bucket(name="datasetstack-output", made_by="DatasetStack", owned=True)


def console() -> Console:
    return Console(file=io.StringIO(), width=80)


def text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_file_system_fits_a_narrow_terminal_whole() -> None:
    where = console()
    tables.file_systems([LUSTRE], where)
    row = text(where).splitlines()[1].split()
    assert row == [LUSTRE.id, "PERSISTENT_2", "AVAILABLE", "100,800", "3", "h", LUSTRE.owner]


def test_buckets_are_whole_and_say_whose_they_are() -> None:
    where = console()
    tables.buckets([KEPT, USED], where)
    lines = text(where).splitlines()
    assert lines[1] == f"{KEPT.name}  kept from DatasetStack, which is gone"
    assert lines[2].split() == [USED.name, "in", "use", "by", "DatasetStack"]
    assert "delete-bucket" in lines[3]


def test_nothing_left_says_so() -> None:
    where = console()
    tables.file_systems([], where)
    tables.buckets([], where)
    assert text(where).splitlines() == [
        "No file system: nothing of trainfeed's bills by the hour.",
        "No bucket.",
    ]

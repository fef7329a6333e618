"""A recommendation as people and programs get it: in the terminal, as JSON, as a page, as settings."""

import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click import unstyle

from stacks.settings import read
from trainfeed.decide import Prefer, recommend
from trainfeed.decide.chart import Node
from trainfeed.prices import PriceBook
from trainfeed.report import recommendation
from trainfeed.report.document import document
from trainfeed.report.job_file import NotDeployableError, job_file
from trainfeed.report.page import page
from trainfeed.rules.lustre_sizes import sizes
from trainfeed.workload import Access, EfsState, Location, S3DataType, SecondsPerEpoch, Workload

BOOK, ON = PriceBook.shipped(), date(2026, 12, 1)
GB = 10**9
SMALL_FILES = Workload(
    size_bytes=54 * GB,
    files=1_530_350,
    instance_type="ml.p3.2xlarge",
    consumption=SecondsPerEpoch(seconds=4650),
)
LARGE_FILES = replace(SMALL_FILES, files=490)
PACKABLE = replace(SMALL_FILES, size_bytes=540 * GB, files=15_303_500, packable=True, epochs=10)
FEW = replace(SMALL_FILES, size_bytes=GB, files=30_607, epochs=20, consumption=SecondsPerEpoch(seconds=113))
ON_EFS = replace(LARGE_FILES, location=Location.EFS, efs=EfsState(stored_bytes=10**12))
NONE = replace(SMALL_FILES, s3_data_type=S3DataType.AUGMENTED_MANIFEST, access=Access.RANDOM)
UNPRICED = replace(LARGE_FILES, instance_type="ml.x9.new", region="eu-west-1")
ALL = {
    "small files": SMALL_FILES,
    "large files": LARGE_FILES,
    "packable": PACKABLE,
    "few": FEW,
    "on EFS": ON_EFS,
    "none": NONE,
    "unpriced": UNPRICED,
}


def answer(workload, prefer=Prefer.COST, *, flips=True):
    return recommend(workload, BOOK, prefer=prefer, on=ON, flips=flips)


def text(given, width=80):
    return unstyle("\n".join(recommendation.lines(given, width)))


@pytest.mark.parametrize("workload", ALL.values(), ids=ALL)
def test_the_terminal_tells_all_five_sources(workload):
    given = answer(workload)
    said = text(given)
    for verdict in given.verdicts:
        if verdict.ruled_out:
            assert f"Not {verdict.source}: " in said
        else:
            assert re.search(rf"^  {str(verdict.source).removeprefix('FSx for ')}\b", said, re.MULTILINE)
    for step in given.path:
        assert step.question in said


def test_the_first_line_is_the_answer():
    first = text(answer(SMALL_FILES), width=110).splitlines()[0]
    assert re.fullmatch(
        r"Use FSx for Lustre, made for each run: \$\d+\.\d\d a run, done in 2 h \d+ min\.", first
    )
    assert text(answer(PACKABLE)).startswith("Pack the files, then use S3 FastFile: $")
    assert text(answer(NONE)).startswith("None of the five sources can feed this job.\n")


def test_what_bills_by_the_month_is_told_with_the_runs_that_share_it():
    said = " ".join(text(answer(replace(LARGE_FILES, runs_per_month=4))).split())
    assert re.search(
        r"Of that, \$0\.29 is S3 Standard storage: a run's share of what bills by the month, with 4 runs",
        said,
    )
    assert "Of that" not in text(answer(NONE))


def test_what_is_not_priced_costs_at_least_so_much():
    said = text(answer(UNPRICED), width=110)
    assert re.match(r"Use S3 FastFile: at least \$[\d.]+ a run \(about \$[\d.]+ with ", said)
    assert "Not known in eu-west-1: the price of ml.x9.new training" in said
    assert "takes the price of ml.g5.2xlarge for the instance" in " ".join(said.split())


def test_turning_points_are_told_in_their_own_words():
    said = text(answer(FEW), width=110)
    assert re.search(r"- With (1 epoch|\d+ epochs or fewer): ", said)
    assert re.search(r"- With a dataset of [\d.]+ GB or more: ", said)
    assert re.search(r"- With files of [\d.]+ [KM]B or (more|less): ", said)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "-"),
        (0.4, "-"),
        (12, "12s"),
        (185, "3m05"),
        (7620, "2h07"),
        (172_799, "47h59"),
        (190_000, "2d04h"),
    ],
)
def test_times_in_the_table_are_short(seconds, said):
    assert recommendation.short(seconds) == said


@pytest.mark.parametrize("workload", ALL.values(), ids=ALL)
def test_the_document_is_json_and_described(workload):
    given = document(answer(workload))
    assert json.loads(json.dumps(given)) == given
    described = (Path(__file__).parents[2] / "docs" / "recommendation.md").read_text()
    assert not {key for key in _keys(given) if f"`{key}`" not in described}


def _keys(value):
    if isinstance(value, dict):
        for key, item in value.items():
            # The workload's own fields are those of the module.
            yield key
            if key != "workload":
                yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)


def test_the_document_adds_up():
    given = document(answer(LARGE_FILES))
    chosen = given["chosen"]
    assert chosen["source"] == "S3 FastFile"
    assert sum(phase["seconds"] for phase in chosen["phases"]) == pytest.approx(
        chosen["total_seconds"], abs=1
    )
    billed = sum(phase["seconds"] for phase in chosen["phases"] if phase["billed"])
    assert billed == pytest.approx(chosen["billable_seconds"], abs=1)
    assert sum(float(item["amount"]) for item in chosen["cost"]["items"]) == pytest.approx(
        float(chosen["cost"]["total"]), abs=1e-5
    )
    assert all(item["price"]["date"] <= "2026-12-01" for item in chosen["cost"]["items"])


class _Page(HTMLParser):
    """Checks that elements nest, and gathers what a test looks for."""

    void = ("meta",)

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.classes = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in self.void:
            self.open.append(tag)
        given = dict(attrs)
        self.classes.append(given.get("class") or "")
        self.addresses += [(tag, given[name]) for name in ("src", "href") if name in given]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("workload", ALL.values(), ids=ALL)
def test_the_page_stands_by_itself(workload):
    given = answer(workload)
    text = page(given, BOOK)
    found = _Page(text)
    # Links lead away; nothing is loaded.
    assert {tag for tag, _ in found.addresses} <= {"a"}
    assert "url(" not in text.replace("url(#", "")
    assert "@import" not in text
    assert "<script" not in text


def test_the_taken_path_is_lit():
    given = answer(SMALL_FILES, flips=False)
    found = _Page(page(given, BOOK))
    lit = {step.node for step in given.path} | set(given.ends)
    assert sum(
        each in ("node question lit", "node end lit", "node end lit open") for each in found.classes
    ) == len(lit)
    # 54 GB lies between 50 and 100: both ways are lit, and the one that the estimate does not take is open.
    assert given.ends == (Node.TRY_FILE, Node.TRY_LUSTRE)
    assert found.classes.count("node end lit open") == 1
    taken = {edge for step in given.path for edge in step.taken}
    assert found.classes.count("edge lit") == len(taken)


def test_the_page_marks_break_evens_and_dates_prices():
    text = page(answer(FEW), BOOK)
    assert "Cheapest from " in text
    assert 'class="here' in text
    assert '<span class="stale">2022-02-23</span>' in text


def test_text_on_the_page_is_escaped():
    odd = replace(LARGE_FILES, region="<b>&")
    assert "<b>&" not in page(answer(odd, flips=False), BOOK)


SETTINGS = [
    (LARGE_FILES, "FastFile", 30, None),
    (replace(FEW, files=100), "File", 31, None),
    (replace(FEW, files=100, volume_size_gib=77), "File", 77, None),
    (SMALL_FILES, None, 30, 1200),
    (replace(SMALL_FILES, size_bytes=3000 * GB, epochs=1), None, 30, 4800),
    (PACKABLE, "FastFile", 30, None),
]


@pytest.mark.parametrize(("workload", "mode", "volume_gib", "capacity_gib"), SETTINGS)
def test_what_is_written_can_be_deployed(workload, mode, volume_gib, capacity_gib, tmp_path):
    path = tmp_path / "job.yaml"
    given = answer(workload, Prefer.SIMPLICITY if mode == "File" else Prefer.COST, flips=False)
    path.write_text(job_file(given))
    settings = read(path).content
    job = settings.jobs["training"]
    channel = job.channels["train"]
    assert (job.instance_type, job.instance_count) == (workload.instance_type, 1)
    assert job.volume_size_gib == volume_gib
    assert job.max_runtime_seconds >= given.chosen.estimate.billable_seconds
    if capacity_gib is None:
        assert channel.mode == mode
        assert settings.sources == {}
    else:
        assert channel.source == "fsx-lustre"
        assert settings.sources["fsx-lustre"].storage_capacity_gib == capacity_gib
        assert capacity_gib in sizes("SCRATCH_2", "SSD", None)


@pytest.mark.parametrize(
    ("days", "limit", "said"),
    [(9, (27 * 24 - 2) * 3_600, False), (10, 28 * 86_400, True), (27, 28 * 86_400, True)],
)
def test_a_limit_that_is_short_of_the_usual_room_is_told(days, limit, said):
    long = replace(LARGE_FILES, consumption=SecondsPerEpoch(seconds=days * 86_400 - 3_600))
    written = job_file(answer(long, flips=False))
    assert re.search(r"max_runtime_seconds: (\d+)", written)[1] == str(limit)
    assert ("SageMaker allows 28 days at most" in written) is said


@pytest.mark.parametrize(("workload", "said"), [(NONE, "nothing to write"), (ON_EFS, "EFS was chosen")])
def test_what_cannot_be_deployed_is_not_written(workload, said):
    with pytest.raises(NotDeployableError, match=said):
        job_file(answer(workload, flips=False))

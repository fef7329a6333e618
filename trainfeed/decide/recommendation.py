"""What a recommendation holds: the answer, and everything that explains it."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from trainfeed.decide.chart import ENDS, Node, Step
from trainfeed.decide.option import Option, Prefer
from trainfeed.rules.rule import Finding
from trainfeed.sources import SourceKind
from trainfeed.workload import Workload


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What is to be said of one source.

    Attributes:
        source: which.
        ruled_out: the rules that forbid it; empty: it is eligible.
        option: the best way to use it, by what is preferred; None where it is ruled out.
    """

    source: SourceKind
    ruled_out: tuple[Finding, ...]
    option: Option | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Packing:
    """What packing small files into containers would bring.

    Attributes:
        files: how many containers.
        option: the best way with the packed files.
        saved: USD a run, against the best way without; negative: it costs more.
        saved_seconds: of what a person waits, likewise.
    """

    files: int
    option: Option
    saved: Decimal
    saved_seconds: float


class Dimension(StrEnum):
    """What a workload may grow or shrink in."""

    EPOCHS = "epochs"
    RUNS = "runs a month"
    DATASET = "dataset size"
    FILE_SIZE = "file size"


@dataclass(frozen=True, kw_only=True, slots=True)
class Flip:
    """Where another way becomes the best, all else being as stated.

    Attributes:
        dimension: what changes.
        up: it grows, from what was stated; otherwise it shrinks.
        at: the first value at which the answer is another (epochs, runs, bytes).
        to: the way that is best there.
        title: how that way is called.
    """

    dimension: Dimension
    up: bool
    at: float
    to: SourceKind
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Recommendation:
    """An answer that explains itself.

    Attributes:
        workload: what was asked about.
        prefer: what the ranking goes by.
        on: the day whose prices were taken.
        path: the way through the flow chart.
        ends: the boxes where the chart ends; two where it leaves the choice open.
        end: of these, the one that ranks higher.
        verdicts: one for each of the five sources.
        ranking: every eligible way that was compared, one a source, the best first.
        chosen: the first of them; None: no source can feed this workload.
        disagreement: why the estimate does not choose what the chart does; empty where it does.
        close: ways that rank so near the chosen one that an estimate cannot tell them apart.
        packing: what packing the files would bring, where they are small.
        flips: what would change the answer; empty where they were not searched for.
        assumptions: what was taken for granted.
        warnings: what to look out for.
    """

    workload: Workload
    prefer: Prefer
    on: date
    path: tuple[Step, ...]
    ends: tuple[Node, ...]
    end: Node
    verdicts: tuple[Verdict, ...]
    ranking: tuple[Option, ...]
    chosen: Option | None
    disagreement: str
    close: tuple[Option, ...]
    packing: Packing | None
    flips: tuple[Flip, ...]
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def chart(self) -> SourceKind:
        """The source that the chart recommends."""
        return ENDS[self.end]

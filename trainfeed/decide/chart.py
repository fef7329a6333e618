"""The flow chart of AWS, as data that is walked, drawn and printed.

Source: "Choose the best data source for your Amazon SageMaker training job",
https://aws.amazon.com/blogs/machine-learning/choose-the-best-data-source-for-your-amazon-sagemaker-training-job/
"""

from dataclasses import dataclass
from enum import StrEnum

from trainfeed.decide.words import count, si_bytes
from trainfeed.sources import SourceKind
from trainfeed.workload import Location, Workload

_GB, _MB = 10**9, 10**6

#: Below the first, a dataset is small; above the second, large; between them the chart does not decide.
SMALL_DATASET_BYTES = (50 * _GB, 100 * _GB)
#: Files of this size and less are small.
SMALL_FILE_BYTES = 50 * _MB
#: What small files are best packed into.
CONTAINER_BYTES = 150 * _MB


class Node(StrEnum):
    """A box of the chart: a question, or a source to try."""

    STORED = "stored"
    EFS_ENOUGH = "efs enough"
    DATASET = "dataset"
    FILES = "files"
    PACK = "pack"
    TRY_EFS = "try efs"
    TRY_FILE = "try file"
    TRY_FAST_FILE = "try fastfile"
    TRY_PACKED = "try packed"
    TRY_LUSTRE = "try lustre"


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """An arrow of the chart: an answer, and where it leads."""

    start: Node
    answer: str
    end: Node


QUESTIONS = {
    Node.STORED: "Where is the dataset stored?",
    Node.EFS_ENOUGH: "Try Amazon EFS. Good enough performance?",
    Node.DATASET: "How big is the dataset?",
    Node.FILES: "How big are your files?",
    Node.PACK: "Can you concatenate files?",
}

#: Where the chart ends. One FastFile is reached with large files, the other by packing small ones.
ENDS = {
    Node.TRY_EFS: SourceKind.EFS,
    Node.TRY_FILE: SourceKind.S3_FILE,
    Node.TRY_FAST_FILE: SourceKind.S3_FAST_FILE,
    Node.TRY_PACKED: SourceKind.S3_FAST_FILE,
    Node.TRY_LUSTRE: SourceKind.LUSTRE,
}

_ON_EFS = Edge(start=Node.STORED, answer="Amazon EFS", end=Node.EFS_ENOUGH)
_ON_S3 = Edge(start=Node.STORED, answer="Amazon S3", end=Node.DATASET)
_ENOUGH = Edge(start=Node.EFS_ENOUGH, answer="Yes", end=Node.TRY_EFS)
_TOO_SLOW = Edge(start=Node.EFS_ENOUGH, answer="No", end=Node.DATASET)
_SMALL = Edge(start=Node.DATASET, answer="Less than 50 GB-100 GB", end=Node.TRY_FILE)
_LARGE = Edge(start=Node.DATASET, answer="More than 50 GB-100 GB", end=Node.FILES)
_LARGE_FILES = Edge(start=Node.FILES, answer="More than 50 MB", end=Node.TRY_FAST_FILE)
_SMALL_FILES = Edge(start=Node.FILES, answer="Less than 50 MB", end=Node.PACK)
_PACKABLE = Edge(start=Node.PACK, answer="Yes", end=Node.TRY_PACKED)
_NOT_PACKABLE = Edge(start=Node.PACK, answer="No", end=Node.TRY_LUSTRE)

EDGES = (
    _ON_EFS,
    _ON_S3,
    _ENOUGH,
    _TOO_SLOW,
    _SMALL,
    _LARGE,
    _LARGE_FILES,
    _SMALL_FILES,
    _PACKABLE,
    _NOT_PACKABLE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A question of the chart, answered.

    Attributes:
        node: which question.
        question: as the chart puts it.
        answer: what this workload answers.
        threshold: what the answer was held against; empty where nothing was measured.
        why: what the question is for, or how the answer was come by.
        taken: the arrows that follow; two where the answer lies within the chart's own range.
    """

    node: Node
    question: str
    answer: str
    threshold: str
    why: str
    taken: tuple[Edge, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EfsTrial:
    """What came of trying EFS on the estimate.

    Attributes:
        enough: it keeps up.
        why: against what it was held.
    """

    enough: bool
    why: str


def walk(workload: Workload, efs: EfsTrial | None) -> tuple[Step, ...]:
    """The way of a workload through the chart.

    Args:
        workload: what is asked about.
        efs: the trial of EFS, for data that lives there.
    """
    path = [_stored(workload)]
    if workload.location is Location.EFS:
        trial = efs or EfsTrial(enough=False, why="EFS is ruled out for this job")
        path.append(_efs_enough(trial))
        if trial.enough:
            return tuple(path)
    size = _dataset(workload)
    path.append(size)
    if _LARGE not in size.taken:
        return tuple(path)
    files = _files(workload)
    path.append(files)
    if _SMALL_FILES in files.taken:
        path.append(_pack(workload))
    return tuple(path)


def ends(path: tuple[Step, ...]) -> tuple[Node, ...]:
    """Where a path ends: one box, or two where the chart leaves it open."""
    return tuple(edge.end for step in path for edge in step.taken if edge.end in ENDS)


def _step(node: Node, answer: str, why: str, *taken: Edge, threshold: str = "") -> Step:
    return Step(node=node, question=QUESTIONS[node], answer=answer, threshold=threshold, why=why, taken=taken)


def _stored(workload: Workload) -> Step:
    match workload.location:
        case Location.S3:
            return _step(Node.STORED, "Amazon S3", "three of the five sources read S3 directly", _ON_S3)
        case Location.EFS:
            return _step(
                Node.STORED, "Amazon EFS", "data that is on EFS already is tried there first", _ON_EFS
            )
        case Location.ELSEWHERE:
            return _step(
                Node.STORED,
                "elsewhere",
                "the chart knows S3 and EFS alone, so it goes on as if the data had been copied to S3 first",
                _ON_S3,
            )


def _efs_enough(trial: EfsTrial) -> Step:
    answer, edge = ("yes", _ENOUGH) if trial.enough else ("no", _TOO_SLOW)
    return _step(Node.EFS_ENOUGH, answer, trial.why, edge)


def _dataset(workload: Workload) -> Step:
    low, high = SMALL_DATASET_BYTES
    size = workload.size_bytes
    if size < low:
        taken, why = (_SMALL,), "a small dataset is soon copied to the instance"
    elif size > high:
        taken, why = (_LARGE,), "a large dataset takes long to copy to the instance"
    else:
        taken, why = (
            (_SMALL, _LARGE),
            "within the chart's own range, so both ways are followed and the estimate decides",
        )
    return _step(Node.DATASET, si_bytes(size), why, *taken, threshold="50 GB to 100 GB")


def _files(workload: Workload) -> Step:
    mean = workload.mean_file_bytes
    answer = f"{si_bytes(mean)} on average ({count(workload.files)} files)"
    if mean > SMALL_FILE_BYTES:
        taken, why = _LARGE_FILES, "large files stream well"
    else:
        taken, why = _SMALL_FILES, "each file costs a request, so many small ones stream slowly"
    return _step(Node.FILES, answer, why, taken, threshold="50 MB")


def _pack(workload: Workload) -> Step:
    match workload.packable:
        case True:
            why = f"packed into files of about {si_bytes(CONTAINER_BYTES)}, they stream well"
            return _step(Node.PACK, "yes", why, _PACKABLE)
        case False:
            return _step(Node.PACK, "no", "a file system serves many small files well", _NOT_PACKABLE)
        case None:
            why = "taken as no; if they can be packed, the chart says FastFile mode"
            return _step(Node.PACK, "not said", why, _NOT_PACKABLE)

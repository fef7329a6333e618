"""The flow chart of AWS as a drawing, with the way a workload took lit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainfeed.decide.chart import EDGES, ENDS, QUESTIONS, Edge, Node, Step
from trainfeed.report.page.markup import Markup, element

_WIDTH, _HEIGHT = 520, 652
_LEFT, _RIGHT, _TOP = 40, 366, 8
_QUESTION_WIDTH, _END_WIDTH, _BOX, _ROW = 204, 152, 58, 116
_LINE = 19


@dataclass(frozen=True, kw_only=True, slots=True)
class _Box:
    x: float
    y: float
    width: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + _BOX / 2


def _box(column: int, row: int) -> _Box:
    width = _END_WIDTH if column else _QUESTION_WIDTH
    return _Box(x=_RIGHT if column else _LEFT, y=_TOP + row * _ROW, width=width)


# Questions stand on the left, one below the other, and what they end in on the right of them.
_PLACES = {
    Node.STORED: _box(0, 0),
    Node.EFS_ENOUGH: _box(0, 1),
    Node.DATASET: _box(0, 2),
    Node.FILES: _box(0, 3),
    Node.PACK: _box(0, 4),
    Node.TRY_EFS: _box(1, 1),
    Node.TRY_FILE: _box(1, 2),
    Node.TRY_FAST_FILE: _box(1, 3),
    Node.TRY_PACKED: _box(1, 4),
    Node.TRY_LUSTRE: _box(0, 5),
}

_LINES = {
    Node.STORED: ("Where is the", "dataset stored?"),
    Node.EFS_ENOUGH: ("Try Amazon EFS. Good", "enough performance?"),
    Node.DATASET: ("How big is", "the dataset?"),
    Node.FILES: ("How big are", "your files?"),
    Node.PACK: ("Can you", "concatenate files?"),
    Node.TRY_EFS: ("Amazon EFS",),
    Node.TRY_FILE: ("Try File", "mode"),
    Node.TRY_FAST_FILE: ("Try FastFile", "mode"),
    Node.TRY_PACKED: ("Try FastFile", "mode"),
    Node.TRY_LUSTRE: ("Try Amazon", "FSx for Lustre"),
}


def flow_chart(path: Sequence[Step], end: Node) -> Markup:
    """The chart; boxes and arrows on the path are of the class `lit`.

    Args:
        path: the way that is lit.
        end: where it ends; another end that is lit too was left open by the chart.
    """
    taken = {edge for step in path for edge in step.taken}
    lit = {step.node for step in path} | {edge.end for edge in taken}
    # What is lit is drawn last, over the rest.
    edges = sorted(EDGES, key=lambda edge: edge in taken)
    return element(
        "svg",
        element("title", "The flow chart, with the way of this workload"),
        element("defs", _arrow("plain"), _arrow("lit")),
        *(_edge(edge, lit=edge in taken) for edge in edges),
        *(_node(node, lit=node in lit, open_=node in ENDS and node is not end) for node in Node),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        class_="flow",
        role="img",
    )


def _arrow(kind: str) -> Markup:
    tip = element("path", d="M0 0 L10 5 L0 10 z", class_=f"tip {kind}")
    return element(
        "marker",
        tip,
        id=f"tip-{kind}",
        viewBox="0 0 10 10",
        refX=9,
        refY=5,
        markerWidth=9,
        markerHeight=9,
        markerUnits="userSpaceOnUse",
        orient="auto",
    )


def _node(node: Node, *, lit: bool, open_: bool) -> Markup:
    box = _PLACES[node]
    kind = "end" if node in ENDS else "question"
    rounded = _BOX / 2 if node in ENDS else 10
    x, y = box.middle
    first = y + 5.5 - (len(_LINES[node]) - 1) * _LINE / 2
    text = (
        element("text", line, x=x, y=first + index * _LINE, text_anchor="middle")
        for index, line in enumerate(_LINES[node])
    )
    named = "" if node in ENDS else QUESTIONS[node]
    return element(
        "g",
        *([element("title", named)] if named else []),
        element("rect", x=box.x, y=box.y, width=box.width, height=_BOX, rx=rounded),
        *text,
        class_=f"node {kind}{' lit' if lit else ''}{' open' if lit and open_ else ''}",
    )


def _edge(edge: Edge, *, lit: bool) -> Markup:
    kind = "lit" if lit else "plain"
    line = element("path", d=_route(edge), marker_end=f"url(#tip-{kind})")
    return element("g", line, *_label(edge), class_=f"edge{' lit' if lit else ''}")


def _bypasses(edge: Edge) -> bool:
    return (edge.start, edge.end) == (Node.STORED, Node.DATASET)


def _route(edge: Edge) -> str:
    start, end = _PLACES[edge.start], _PLACES[edge.end]
    x, y = start.middle
    if _bypasses(edge):
        # Data in S3 passes by the question about EFS, on its left.
        aside, down = _LEFT - 20, end.middle[1]
        return (
            f"M{start.x} {y} H{aside + 10} Q{aside} {y} {aside} {y + 10} "
            f"V{down - 10} Q{aside} {down} {aside + 10} {down} H{end.x - 1}"
        )
    if end.x > start.x:
        return f"M{start.x + start.width} {y} H{end.x - 1}"
    return f"M{x} {start.y + _BOX} V{end.y - 1}"


def _label(edge: Edge) -> Iterator[Markup]:
    start, end = _PLACES[edge.start], _PLACES[edge.end]
    if _bypasses(edge):
        x, y = _LEFT - 26, (start.y + end.y + _BOX) / 2
        yield element("text", edge.answer, x=x, y=y, text_anchor="middle", transform=f"rotate(-90 {x} {y})")
    elif end.x > start.x:
        x, y = (start.x + start.width + end.x) / 2, start.middle[1]
        for index, line in enumerate(_wrapped(edge.answer)):
            yield element("text", line, x=x, y=y - 9 + index * 25, text_anchor="middle")
    else:
        yield element("text", edge.answer, x=start.middle[0] + 10, y=(start.y + _BOX + end.y) / 2 + 4)


def _wrapped(answer: str) -> tuple[str, ...]:
    """A long answer in two lines, one above its arrow and one below."""
    for head in ("Less than ", "More than "):
        if answer.startswith(head):
            return head.strip(), answer.removeprefix(head).replace(" GB-", "-")
    return (answer,)

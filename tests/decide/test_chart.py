"""The way through the flow chart."""

from itertools import pairwise

import pytest

from trainfeed.decide.chart import EDGES, ENDS, QUESTIONS, EfsTrial, Node, ends, walk
from trainfeed.sources import SourceKind
from trainfeed.workload import Location, Workload

GB, MB, KB = 10**9, 10**6, 10**3
ENOUGH, TOO_SLOW = EfsTrial(enough=True, why="it keeps up"), EfsTrial(enough=False, why="it does not")


def workload(size=200 * GB, file=100 * KB, **stated):
    return Workload(size_bytes=size, files=size // file, instance_type="ml.g5.xlarge", **stated)


ON_EFS = {"location": Location.EFS}
SMALL = [Node.STORED, Node.DATASET]
LARGE = [*SMALL, Node.FILES]
CASES = [
    (workload(size=GB), None, SMALL, [Node.TRY_FILE]),
    (workload(size=50 * GB - 100 * KB), None, SMALL, [Node.TRY_FILE]),
    # Within the chart's own range, both ways are followed.
    (workload(size=50 * GB, file=60 * MB), None, LARGE, [Node.TRY_FILE, Node.TRY_FAST_FILE]),
    (workload(size=100 * GB), None, [*LARGE, Node.PACK], [Node.TRY_FILE, Node.TRY_LUSTRE]),
    (workload(size=100 * GB + MB, file=100 * MB), None, LARGE, [Node.TRY_FAST_FILE]),
    (workload(file=50 * MB + 1), None, LARGE, [Node.TRY_FAST_FILE]),
    (workload(file=50 * MB), None, [*LARGE, Node.PACK], [Node.TRY_LUSTRE]),
    (workload(packable=True), None, [*LARGE, Node.PACK], [Node.TRY_PACKED]),
    (workload(packable=False), None, [*LARGE, Node.PACK], [Node.TRY_LUSTRE]),
    (workload(file=100 * MB, packable=True), None, LARGE, [Node.TRY_FAST_FILE]),
    (workload(**ON_EFS), ENOUGH, [Node.STORED, Node.EFS_ENOUGH], [Node.TRY_EFS]),
    (workload(size=GB, **ON_EFS), TOO_SLOW, [Node.STORED, Node.EFS_ENOUGH, Node.DATASET], [Node.TRY_FILE]),
    (workload(size=GB, **ON_EFS), None, [Node.STORED, Node.EFS_ENOUGH, Node.DATASET], [Node.TRY_FILE]),
    (workload(location=Location.ELSEWHERE, size=GB), None, SMALL, [Node.TRY_FILE]),
]


@pytest.mark.parametrize(("value", "efs", "nodes", "reached"), CASES)
def test_a_workload_takes_its_way(value, efs, nodes, reached):
    path = walk(value, efs)
    assert [step.node for step in path] == nodes
    assert list(ends(path)) == reached
    assert all(step.question == QUESTIONS[step.node] and step.answer and step.why for step in path)


def test_a_path_is_unbroken():
    for value, efs, _, _ in CASES:
        path = walk(value, efs)
        for step, following in pairwise(path):
            assert following.node in {edge.end for edge in step.taken}
            assert {edge.start for edge in step.taken} == {step.node}


def test_the_tables_take_every_arrow():
    taken = {edge for value, efs, _, _ in CASES for step in walk(value, efs) for edge in step.taken}
    assert taken == set(EDGES)


def test_the_chart_asks_for_the_thresholds_of_its_source():
    path = walk(workload(), None)
    assert [step.threshold for step in path] == ["", "50 GB to 100 GB", "50 MB", ""]


def test_the_chart_knows_no_pipe_mode():
    assert set(ENDS.values()) == set(SourceKind) - {SourceKind.S3_PIPE}

"""What holds for every workload that can be stated."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from trainfeed.decide import Dimension, Prefer, recommend, vary
from trainfeed.decide.chart import ENDS
from trainfeed.decide.option import EVEN, LUSTRE_PLANS
from trainfeed.estimate import LustrePlan, estimate
from trainfeed.estimate.cost import cost
from trainfeed.prices import PriceBook
from trainfeed.report.document import document
from trainfeed.rules.choice import LONGEST_JOB, RULES
from trainfeed.sources import SourceKind
from trainfeed.workload import (
    Access,
    BytesPerSecond,
    EfsState,
    EfsThroughput,
    Location,
    S3DataType,
    SamplesPerSecond,
    SecondsPerEpoch,
    SizeClass,
    Workload,
    parse,
    stated,
    units,
)

BOOK, ON = PriceBook.shipped(), date(2026, 12, 1)
#: Room for rounding, of seconds and of money.
NEARLY = 1 - 1e-9
steady = settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)

rates = st.floats(min_value=0.01, max_value=1e10)
consumptions = st.one_of(
    st.none(),
    st.builds(SecondsPerEpoch, seconds=st.floats(min_value=0.1, max_value=1e7)),
    st.builds(BytesPerSecond, rate=st.floats(min_value=1e3, max_value=1e11)),
    st.builds(SamplesPerSecond, rate=rates, samples=st.integers(1, 10**10)),
)


@st.composite
def workloads(draw) -> Workload:
    size = draw(st.integers(1, 10**15))
    files = draw(st.integers(1, min(size, 10**9)))
    sizes: tuple[SizeClass, ...] = ()
    if draw(st.booleans()):
        classes = st.builds(SizeClass, bytes_each=st.integers(1, 10**11), count=st.integers(1, 10**7))
        sizes = tuple(draw(st.lists(classes, min_size=1, max_size=4)))
        size = sum(each.bytes_each * each.count for each in sizes)
        files = sum(each.count for each in sizes)
    location = draw(st.sampled_from(Location))
    efs = None
    if location is Location.EFS:
        mode = draw(st.sampled_from(EfsThroughput))
        efs = EfsState(
            stored_bytes=size + draw(st.integers(0, 10**15)),
            throughput=mode,
            provisioned_mib_per_second=draw(st.floats(1, 3414))
            if mode is EfsThroughput.PROVISIONED
            else None,
        )
    spot = draw(st.booleans())
    return Workload(
        location=location,
        size_bytes=size,
        files=files,
        sizes=sizes,
        packable=draw(st.sampled_from([None, True, False])),
        access=draw(st.sampled_from(Access)),
        epochs=draw(st.integers(1, 2000)),
        instance_type=draw(
            st.sampled_from(["ml.p3.2xlarge", "ml.g5.xlarge", "ml.p4d.24xlarge", "ml.x9.new"])
        ),
        instance_count=draw(st.integers(1, 64)),
        consumption=draw(consumptions),
        spot=spot,
        restarts=draw(st.floats(0, 20)) if spot else 0.0,
        runs_per_month=draw(st.floats(0.1, 5000)),
        region=draw(st.sampled_from(["us-east-1", "us-west-2", "eu-west-1", "mx-central-1", "xx-new-1"])),
        volume_size_gib=draw(st.one_of(st.none(), st.integers(1, 16384))),
        s3_data_type=draw(st.sampled_from(S3DataType)),
        vpc=draw(st.booleans()),
        efs=efs,
        loaders=draw(st.one_of(st.none(), st.integers(1, 256))),
        sharded=draw(st.booleans()),
    )


def ways(workload):
    """Every source with every plan, eligible or not, that can be estimated."""
    for source in SourceKind:
        if source is SourceKind.EFS and workload.efs is None:
            continue
        for plan in LUSTRE_PLANS if source is SourceKind.LUSTRE else (LUSTRE_PLANS[0],):
            yield source, plan


@steady
@given(workloads(), st.sampled_from(Prefer))
def test_every_workload_gets_an_answer_or_named_reasons(workload, prefer):
    answer = recommend(workload, BOOK, prefer=prefer, on=ON, flips=False)
    assert [verdict.source for verdict in answer.verdicts] == list(SourceKind)
    for verdict in answer.verdicts:
        assert bool(verdict.ruled_out) != bool(verdict.option)
        assert all(found.message for found in verdict.ruled_out)
    assert all(option.estimate.billable_seconds <= LONGEST_JOB for option in answer.ranking)
    assert answer.chosen is (answer.ranking[0] if answer.ranking else None)
    assert answer.chart in ENDS.values()
    assert document(answer)["headline"]


@steady
@given(workloads(), st.sampled_from(Prefer))
def test_no_recommendation_breaks_a_rule(workload, prefer):
    answer = recommend(workload, BOOK, prefer=prefer, on=ON, flips=False)
    ruled_out = {verdict.source for verdict in answer.verdicts if verdict.ruled_out}
    assert not ruled_out & {option.source for option in answer.ranking if not option.packed}
    named = {found.rule.id for verdict in answer.verdicts for found in verdict.ruled_out}
    assert named <= {rule.id for rule in RULES}


@steady
@given(workloads(), st.integers(1, 2000))
def test_more_epochs_never_cost_or_take_less(workload, more):
    longer = replace(workload, epochs=workload.epochs + more)
    for source, plan in ways(workload):
        short, long = (estimate(each, source, plan=plan) for each in (workload, longer))
        assert long.total_seconds >= short.total_seconds * NEARLY
        cheap, dear = (cost(each.usage, BOOK, region=workload.region, on=ON).total for each in (short, long))
        assert float(dear) >= float(cheap) * NEARLY


@steady
@given(workloads(), st.floats(1, 20))
def test_more_data_never_takes_less_time(workload, factor):
    # At fixed capacity, volume and throughput: larger ones are faster, and more data may ask for them.
    fixed = replace(workload, volume_size_gib=workload.volume_size_gib or 16384)
    larger = replace(vary(fixed, Dimension.DATASET, fixed.size_bytes * factor), efs=fixed.efs)
    assume(larger.files >= fixed.files)
    for source, plan in ways(fixed):
        held = replace(plan, capacity_gib=2400) if source is SourceKind.LUSTRE else plan
        short, long = (estimate(each, source, plan=held) for each in (fixed, larger))
        assert long.total_seconds >= short.total_seconds * NEARLY, source


@settings(steady, max_examples=8)
@given(workloads(), st.sampled_from(Prefer))
def test_a_turning_point_is_one(workload, prefer):
    answer = recommend(workload, BOOK, prefer=prefer, on=ON)
    for flip in answer.flips:
        there = recommend(vary(workload, flip.dimension, flip.at), BOOK, prefer=prefer, on=ON, flips=False)
        assert there.chosen is not None
        assert there.chosen.title == flip.title
        assert there.chosen.way != answer.chosen.way


@steady
@given(st.integers(1, 10**18))
def test_sizes_are_read_as_they_are_written(size):
    assert units.size(units.write_size(size)) == size


@steady
@given(workloads())
def test_a_workload_is_read_as_it_is_written(workload):
    # Rates are written with six decimals.
    tidy = replace(
        workload,
        consumption=SecondsPerEpoch(seconds=80.25) if workload.consumption else None,
        efs=replace(workload.efs, provisioned_mib_per_second=300.0)
        if workload.efs and workload.efs.provisioned_mib_per_second
        else workload.efs,
    )
    assert parse(stated(tidy)) == tidy


@pytest.mark.parametrize("capacity", [1200, 2400, 4800])
@settings(steady, max_examples=50)
@given(workload=workloads())
def test_a_larger_file_system_is_never_slower(capacity, workload):
    small, large = (
        estimate(workload, SourceKind.LUSTRE, plan=LustrePlan(capacity_gib=gib, kept=True))
        for gib in (capacity, 2 * capacity)
    )
    assert large.total_seconds <= small.total_seconds / NEARLY


@settings(steady, max_examples=150)
@given(workloads(), st.sampled_from([Prefer.COST, Prefer.TIME]))
def test_nothing_beats_what_is_chosen(workload, prefer):
    answer = recommend(workload, BOOK, prefer=prefer, on=ON, flips=False)
    for place, option in enumerate(answer.ranking):
        price, time = float(option.price) * option.handicap, option.estimate.total_seconds * option.handicap
        for other in answer.ranking[place + 1 :]:
            dear = float(other.price) * other.handicap
            late = other.estimate.total_seconds * other.handicap
            better = dear < price / EVEN or late < time / EVEN
            assert not (dear <= price and late <= time and better), (option.title, other.title)

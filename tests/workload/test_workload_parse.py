"""Workloads as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    WorkloadError,
    parse,
    read,
    stated,
)

LEAST = {"size": "54 GB", "files": "1,000", "instance_type": "ml.g5.2xlarge"}


def test_size_and_files_and_an_instance_type_are_enough():
    assert parse(LEAST) == Workload(size_bytes=54_000_000_000, files=1000, instance_type="ml.g5.2xlarge")


def test_what_is_none_counts_as_not_stated():
    assert parse({**LEAST, "epochs": None, "spot": None}) == parse(LEAST)


@pytest.mark.parametrize(
    ("fields", "size", "files"),
    [
        ({"size": "1 GB", "file_size": "40 KB"}, 10**9, 25_000),
        ({"files": 25_000, "file_size": "40 KB"}, 10**9, 25_000),
        ({"sizes": [{"size": "1 MB", "files": 3}, {"size": "2 MB", "files": "1"}]}, 5 * 10**6, 4),
    ],
)
def test_the_dataset_may_be_stated_in_several_ways(fields, size, files):
    workload = parse({"instance_type": "ml.g5.2xlarge", **fields})
    assert (workload.size_bytes, workload.files) == (size, files)


@pytest.mark.parametrize(
    ("text", "samples", "expected"),
    [
        ("330 images/s", None, SamplesPerSecond(rate=330, samples=1000)),
        ("330 images / s", "1,530,350", SamplesPerSecond(rate=330, samples=1_530_350)),
        ("1,200 samples per minute", None, SamplesPerSecond(rate=20, samples=1000)),
        ("330images/s", None, SamplesPerSecond(rate=330, samples=1000)),
        ("12 MB/s", None, BytesPerSecond(rate=12e6)),
        ("1.5 MiB a second", None, BytesPerSecond(rate=1.5 * 2**20)),
        ("80 min/epoch", None, SecondsPerEpoch(seconds=4800)),
        ("1 h 20 min per epoch", None, SecondsPerEpoch(seconds=4800)),
        ("100 s an epoch", None, SecondsPerEpoch(seconds=100)),
    ],
)
def test_a_consumption_is_read(text, samples, expected):
    assert parse({**LEAST, "consumption": text, "samples": samples}).consumption == expected


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"epoch": 3}, "epoch: unknown field. Did you mean `epochs`?"),
        ({"colour": "red"}, "colour: unknown field. Known: location,"),
        ({"epochs": 0}, "epochs: 0 is not allowed: write more than 0."),
        ({"epochs": 1.5}, "epochs: 1.5 is not allowed: write a whole number from 1 on."),
        ({"epochs": True}, "epochs: True is not allowed: write a text."),
        ({"size": "54"}, "size: '54' is not allowed: write a size with its unit"),
        ({"size": "2000 PB"}, "size: '2000 PB' is not allowed: that is more than an exabyte."),
        (
            {"access": "randomly"},
            "access: 'randomly' is not allowed: write sequential or random; did you mean",
        ),
        ({"instance_type": "g5.2xlarge"}, "like ml.g5.2xlarge."),
        ({"instance_type": None}, "instance_type: is missing."),
        ({"region": "Virginia"}, "region: 'Virginia' is not allowed: write a Region like us-east-1."),
        ({"files": None}, "size: size alone does not say how much data there is."),
        ({"file_size": "1 KB"}, "size: all three were stated."),
        ({"size": None, "files": None}, "size: nothing was stated."),
        ({"sizes": [{"size": "1 KB", "files": 1}]}, "sizes: says it all; leave out size and files."),
        ({"size": None, "files": None, "sizes": [{"size": "1 KB"}]}, "each entry has size and files"),
        ({"size": None, "files": None, "sizes": []}, "write a list of"),
        ({"restarts": 2}, "restarts: only spot training is interrupted."),
        ({"efs_stored": "1 TB"}, "efs_stored: the data is not on EFS."),
        ({"location": "efs", "efs_stored": "1 GB"}, "efs_stored: 1 GB is less than the dataset's 54 GB."),
        ({"location": "efs", "efs_throughput": "provisioned"}, "efs_provisioned: goes with"),
        ({"location": "efs", "efs_provisioned": "300 MiB/s"}, "efs_provisioned: goes with"),
        ({"consumption": "330"}, "write a rate, like 330 images/s"),
        ({"consumption": "330/s"}, "write what is consumed"),
        ({"consumption": "330 images/fortnight"}, "'fortnight' is no unit of time"),
        ({"consumption": "0 MB/s"}, "write more than 0"),
        ({"consumption": "12 MB/s", "samples": 5}, "samples: only a consumption in samples needs it."),
        ({"packable": "maybe"}, "packable: 'maybe' is not allowed: write true or false."),
    ],
)
def test_a_fault_is_named_with_what_to_do(fields, fault):
    with pytest.raises(WorkloadError) as found:
        parse({**LEAST, **fields})
    assert len(found.value.faults) == 1, found.value.faults
    assert fault in str(found.value)


def test_all_faults_are_named_at_once():
    with pytest.raises(WorkloadError) as found:
        parse({"siz": "1 GB", "files": -3, "epochs": "many", "vpc": "perhaps"})
    told = [fault.partition(":")[0] for fault in found.value.faults]
    assert sorted(told) == ["epochs", "files", "instance_type", "siz", "size", "vpc"]


def test_a_file_is_read(tmp_path):
    path = tmp_path / "workload.yaml"
    path.write_text("size: 54 GB\nfiles: 1000\ninstance_type: ml.g5.2xlarge\npackable: no\nspot: true\n")
    assert parse(read(path)) == Workload(
        size_bytes=54 * 10**9, files=1000, instance_type="ml.g5.2xlarge", packable=False, spot=True
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [("a: b: c", ":1: not valid YAML."), ("- 1", "write one field a line"), ("", "write one")],
)
def test_a_file_that_states_no_fields_is_refused(tmp_path, text, fault):
    path = tmp_path / "workload.yaml"
    path.write_text(text)
    with pytest.raises(WorkloadError, match=fault):
        read(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(WorkloadError, match=r"none\.yaml: cannot be read: No such file"):
        read(tmp_path / "none.yaml")


positive = st.floats(1e-6, 1e12)
consumptions = st.one_of(
    st.none(),
    st.builds(SecondsPerEpoch, seconds=positive),
    st.builds(BytesPerSecond, rate=positive),
    st.builds(SamplesPerSecond, rate=positive, samples=st.integers(1, 10**12)),
)
efs = st.one_of(
    st.builds(
        EfsState,
        stored_bytes=st.integers(10**15, 10**16),
        throughput=st.sampled_from([EfsThroughput.ELASTIC, EfsThroughput.BURSTING]),
    ),
    st.builds(
        EfsState,
        stored_bytes=st.integers(10**15, 10**16),
        throughput=st.just(EfsThroughput.PROVISIONED),
        provisioned_mib_per_second=st.integers(1, 3414).map(float),
    ),
)


@st.composite
def workloads(draw):
    sizes = draw(
        st.lists(st.builds(SizeClass, bytes_each=st.integers(1, 10**9), count=st.integers(1, 10**5)))
    )
    state = draw(st.none() | efs)
    place = Location.EFS if state else draw(st.sampled_from([Location.S3, Location.ELSEWHERE]))
    spot = draw(st.booleans())
    return Workload(
        location=place,
        efs=state,
        sizes=tuple(sizes),
        size_bytes=sum(each.bytes_each * each.count for each in sizes) or draw(st.integers(1, 10**15)),
        files=sum(each.count for each in sizes) or draw(st.integers(1, 10**9)),
        file_format=draw(st.sampled_from([None, "jpg", "tfrecord"])),
        packable=draw(st.none() | st.booleans()),
        access=draw(st.sampled_from(Access)),
        epochs=draw(st.integers(1, 10**6)),
        instance_type="ml.p4d.24xlarge",
        instance_count=draw(st.integers(1, 100)),
        consumption=draw(consumptions),
        spot=spot,
        restarts=draw(st.floats(0, 100)) if spot else 0.0,
        runs_per_month=draw(positive),
        region=draw(st.sampled_from(["us-east-1", "ap-northeast-1", "us-gov-west-1"])),
        volume_size_gib=draw(st.none() | st.integers(1, 16384)),
        s3_data_type=draw(st.sampled_from(S3DataType)),
        vpc=draw(st.booleans()),
        loaders=draw(st.none() | st.integers(1, 512)),
        sharded=draw(st.booleans()),
    )


@given(workloads())
def test_a_workload_reads_back_as_it_was_stated(workload):
    assert parse(stated(workload)) == workload

"""How long each source takes, against figures worked out by hand."""

from dataclasses import replace

import pytest

from trainfeed.estimate import (
    LOCAL_MODE,
    LustrePlan,
    PhaseName,
    constants,
    estimate,
    lustre_capacity_gib,
    lustre_feeding_gib,
    room_gib,
)
from trainfeed.estimate.instances import find, known
from trainfeed.estimate.rates import FITTED
from trainfeed.estimate.share import volume_rate
from trainfeed.sources import SourceKind
from trainfeed.workload import (
    Access,
    BytesPerSecond,
    EfsState,
    EfsThroughput,
    Location,
    SamplesPerSecond,
    SecondsPerEpoch,
    Workload,
)

GIB, TIB = 2**30, 2**40
LARGE = Workload(
    size_bytes=5 * 10**12,
    files=33_333,
    instance_type="ml.p4d.24xlarge",
    consumption=SecondsPerEpoch(seconds=3600),
)
SMALL = Workload(
    size_bytes=54 * GIB,
    files=1_500_000,
    instance_type="ml.p3.2xlarge",
    volume_size_gib=500,
    consumption=SamplesPerSecond(rate=330, samples=1_500_000),
)
KEPT = LustrePlan(kept=True)


def seconds(workload, source, name, **plan):
    return sum(phase.seconds for phase in estimate(workload, source, **plan).phases if phase.name is name)


def test_phases_add_up():
    for source in SourceKind:
        found = estimate(SMALL, source)
        assert found.total_seconds == pytest.approx(sum(phase.seconds for phase in found.phases))
        assert found.billable_seconds == pytest.approx(
            sum(phase.seconds for phase in found.phases if phase.billed)
        )
        assert found.usage.instance_seconds == found.billable_seconds


def test_phases_come_in_their_order():
    order = list(PhaseName)
    for source in SourceKind:
        for plan in (LustrePlan(), LustrePlan(preload=True), KEPT):
            names = [phase.name for phase in estimate(replace(SMALL, epochs=3), source, plan=plan).phases]
            assert names == sorted(names, key=order.index)


def test_several_terabytes_of_large_files_stream_hours_sooner_than_they_are_copied():
    copied, streamed = (
        estimate(LARGE, source).billable_seconds for source in (SourceKind.S3_FILE, SourceKind.S3_FAST_FILE)
    )
    assert copied - streamed > 5 * 3600


def test_many_readers_stream_large_files_at_more_than_a_gigabyte_a_second():
    fast = replace(LARGE, consumption=None)
    assert LARGE.size_bytes / seconds(fast, SourceKind.S3_FAST_FILE, PhaseName.FIRST_EPOCH) > 1e9


def test_a_long_download_hides_the_pulling_of_the_image():
    assert seconds(SMALL, SourceKind.S3_FILE, PhaseName.SETUP) == pytest.approx(FITTED.framework)
    tiny = replace(SMALL, size_bytes=10**6, files=1)
    assert seconds(tiny, SourceKind.S3_FILE, PhaseName.SETUP) > 2 * FITTED.framework


@pytest.mark.parametrize(
    ("gib", "mib_per_second"), [(30, 128), (170, 128), (250, 187.5), (334, 250), (500, 250), (16384, 250)]
)
def test_a_volume_is_as_fast_as_its_size_lets(gib, mib_per_second):
    assert volume_rate(gib) == pytest.approx(mib_per_second * 2**20, rel=0.005)


def test_a_small_volume_slows_the_download():
    large_files = replace(SMALL, files=500)
    small, large = (
        seconds(replace(large_files, volume_size_gib=gib), SourceKind.S3_FILE, PhaseName.DOWNLOAD)
        for gib in (100, 500)
    )
    assert small == pytest.approx(13.6 + 500 * 0.00702 + 54 * GIB / (128 * 2**20))
    assert large < 0.85 * small


def test_a_model_waits_for_the_slower_of_data_and_itself():
    training = seconds(SMALL, SourceKind.S3_FAST_FILE, PhaseName.FIRST_EPOCH)
    assert training > 1.5 * SMALL.compute_seconds
    heavy = replace(SMALL, consumption=SamplesPerSecond(rate=100, samples=1_500_000))
    assert seconds(heavy, SourceKind.S3_FAST_FILE, PhaseName.FIRST_EPOCH) == heavy.compute_seconds


def test_random_reads_cost_fast_file_a_request_each():
    packed = replace(SMALL, files=360, loaders=8)
    random = replace(packed, access=Access.RANDOM)
    in_order, at_random = (
        seconds(each, SourceKind.S3_FAST_FILE, PhaseName.FIRST_EPOCH) for each in (packed, random)
    )
    assert in_order == packed.compute_seconds
    assert at_random > 1.9 * in_order
    # Lustre makes no such difference.
    assert seconds(random, SourceKind.LUSTRE, PhaseName.FIRST_EPOCH, plan=KEPT) == packed.compute_seconds


def test_sharding_spares_each_instance_the_files_of_the_others():
    all_files = replace(SMALL, instance_count=4)
    whole = seconds(all_files, SourceKind.S3_FILE, PhaseName.DOWNLOAD)
    part = seconds(replace(all_files, sharded=True), SourceKind.S3_FILE, PhaseName.DOWNLOAD)
    assert part < 0.26 * whole


def test_a_restart_downloads_again():
    calm, restless = (
        estimate(replace(SMALL, spot=True, restarts=restarts), SourceKind.S3_FILE) for restarts in (0, 2)
    )
    download = seconds(SMALL, SourceKind.S3_FILE, PhaseName.DOWNLOAD)
    assert restless.billable_seconds - calm.billable_seconds > 2 * download
    assert restless.usage.s3_tier2_requests == pytest.approx(3 * calm.usage.s3_tier2_requests)


def test_importing_two_million_objects_takes_an_hour():
    assert seconds(replace(SMALL, files=2_000_000), SourceKind.LUSTRE, PhaseName.IMPORT) == pytest.approx(
        3600
    )


def test_a_preload_makes_the_first_epoch_a_later_one():
    fast = replace(SMALL, consumption=SamplesPerSecond(rate=3000, samples=1_500_000), epochs=2)
    cold, warm = (
        seconds(fast, SourceKind.LUSTRE, PhaseName.FIRST_EPOCH, plan=LustrePlan(preload=preload))
        for preload in (False, True)
    )
    assert cold > 5 * warm
    assert warm == seconds(fast, SourceKind.LUSTRE, PhaseName.LATER_EPOCHS, plan=LustrePlan(preload=True))
    assert seconds(fast, SourceKind.LUSTRE, PhaseName.PRELOAD, plan=LustrePlan(preload=True)) > 0


def test_a_file_system_bills_from_creation_to_deletion_and_a_kept_one_all_month():
    made = estimate(SMALL, SourceKind.LUSTRE)
    assert made.usage.lustre.seconds == pytest.approx(made.total_seconds)
    assert estimate(SMALL, SourceKind.LUSTRE, plan=KEPT).usage.lustre.seconds is None
    assert estimate(SMALL, SourceKind.S3_FILE).usage.lustre is None


@pytest.mark.parametrize(
    ("size", "gib"),
    [(1, 1200), (1000 * GIB, 1200), (1100 * GIB, 2400), (2200 * GIB, 4800), (5 * TIB, 7200)],
)
def test_the_smallest_file_system_that_holds_the_data(size, gib):
    assert lustre_capacity_gib(size) == gib


def test_a_larger_file_system_reads_faster():
    large = replace(LARGE, consumption=None)
    small, big = (
        seconds(large, SourceKind.LUSTRE, PhaseName.FIRST_EPOCH, plan=LustrePlan(kept=True, capacity_gib=gib))
        for gib in (7200, 14400)
    )
    assert small == pytest.approx(2 * big)
    assert small == pytest.approx(LARGE.size_bytes / (200e6 * 7200 / 1024))


@pytest.mark.parametrize(
    ("megabytes_per_second", "instances", "gib"),
    [
        (None, 1, 1200),
        (100, 1, 1200),
        (300, 1, 2400),  # 200 MB/s for each TiB
        (900, 1, 4800),
        (10**6, 1, 24_000),
    ],
)
def test_the_smallest_file_system_that_feeds_the_model(megabytes_per_second, instances, gib):
    speed = BytesPerSecond(rate=megabytes_per_second * 1e6) if megabytes_per_second else None
    workload = replace(SMALL, consumption=speed, instance_count=instances)
    assert lustre_feeding_gib(workload) == gib
    if gib < 24_000:
        plan = LustrePlan(kept=True, capacity_gib=gib)
        files = replace(workload, files=500, instance_type="ml.p4d.24xlarge")
        epoch = seconds(files, SourceKind.LUSTRE, PhaseName.FIRST_EPOCH, plan=plan)
        assert epoch == workload.compute_seconds or speed is None


def test_what_the_servers_keep_in_memory_needs_no_more_disks():
    small = replace(SMALL, size_bytes=5 * GIB, consumption=BytesPerSecond(rate=500e6))
    assert lustre_feeding_gib(small) == 1200


def on_efs(state, size=54 * GIB):
    return Workload(
        location=Location.EFS, efs=state, size_bytes=size, files=500, instance_type="ml.p4d.24xlarge"
    )


@pytest.mark.parametrize(
    ("state", "mib_per_second"),
    [
        # 1 TiB stored: reads at 300 MiB/s while credits last.
        (EfsState(stored_bytes=TIB, throughput=EfsThroughput.BURSTING), 300),
        (EfsState(stored_bytes=TIB, throughput=EfsThroughput.ELASTIC), 500),
        (
            EfsState(stored_bytes=TIB, throughput=EfsThroughput.PROVISIONED, provisioned_mib_per_second=100),
            300,
        ),
        (
            EfsState(stored_bytes=TIB, throughput=EfsThroughput.PROVISIONED, provisioned_mib_per_second=1000),
            500,
        ),
    ],
)
def test_efs_reads_as_fast_as_its_mode_lets(state, mib_per_second):
    workload = on_efs(state, size=100 * GIB)
    epoch = seconds(workload, SourceKind.EFS, PhaseName.FIRST_EPOCH)
    assert epoch == pytest.approx(100 * 1024 / mib_per_second)


def test_efs_falls_to_its_baseline_when_credits_are_spent():
    # A day earns 1 TiB stored 150 MiB/s of reading for 24 hours, which the burst spends in 12.
    state = EfsState(stored_bytes=20 * TIB, throughput=EfsThroughput.BURSTING)
    small = EfsState(stored_bytes=TIB, throughput=EfsThroughput.BURSTING)
    workload = on_efs(state, size=20 * TIB)
    assert seconds(workload, SourceKind.EFS, PhaseName.FIRST_EPOCH) == pytest.approx(20 * TIB / (500 * 2**20))
    day = 150 * 2**20 * 86_400
    slow = seconds(replace(workload, efs=small), SourceKind.EFS, PhaseName.FIRST_EPOCH)
    assert slow == pytest.approx(43_200 + (20 * TIB - day) / (150 * 2**20))


def test_data_on_efs_is_stored_there_whatever_reads_it():
    workload = replace(on_efs(EfsState(stored_bytes=10**12)), runs_per_month=4, epochs=3)
    file, efs = (estimate(workload, source).usage.efs for source in (SourceKind.S3_FILE, SourceKind.EFS))
    assert file is not None
    assert efs is not None
    assert file.stored_bytes == efs.stored_bytes == 10**12
    # Read once for the copy of all four runs.
    assert file.read_bytes == workload.size_bytes / 4


def test_data_on_efs_is_copied_before_it_is_read_from_s3():
    state = EfsState(stored_bytes=TIB)
    assert seconds(on_efs(state), SourceKind.S3_FILE, PhaseName.COPY) > 60
    assert seconds(on_efs(state), SourceKind.EFS, PhaseName.COPY) == 0


def test_an_unknown_instance_is_said_to_be_unknown():
    found = estimate(replace(SMALL, instance_type="ml.x9.huge"), SourceKind.S3_FILE)
    assert any("not in the data" in sentence for sentence in found.assumptions)
    assert not any("not in the data" in sentence for sentence in estimate(SMALL, SourceKind.EFS).assumptions)


def test_the_instances_of_the_post_have_their_figures():
    assert find("ml.p3.2xlarge").ebs == 218.75e6
    assert find("ml.p3.2xlarge").nvme_bytes == 0
    assert find("ml.p4d.24xlarge").nvme_bytes == 8e12
    assert find("ml.p4d.24xlarge").network == 100e9 / 8
    assert len(known()) > 200
    assert all(name.startswith("ml.") and find(name).source for name in known())


def test_room_for_data():
    assert room_gib(SMALL) == 500
    assert room_gib(replace(SMALL, volume_size_gib=None)) == 16384
    assert room_gib(LARGE) == pytest.approx(7450.6, abs=0.1)


def test_every_constant_says_what_it_is_and_where_from():
    found = constants()
    assert len({each.name for each in found}) == len(found)
    assert sum(each.fitted for each in found) == 8
    for each in found:
        assert each.value > 0
        assert each.unit
        assert each.meaning.endswith(".")
        assert each.source.startswith("https://") or "Assumed" in each.meaning, each.name


def test_every_source_says_what_local_mode_makes_of_it():
    assert set(LOCAL_MODE) == set(SourceKind)

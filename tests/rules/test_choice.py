"""What rules a source out."""

import pytest

from trainfeed.rules.choice import LUSTRE_QUOTA_GIB, RULES, Candidate
from trainfeed.sources import SourceKind
from trainfeed.workload import Access, EfsState, Location, S3DataType, Workload

TB, GIB = 10**12, 2**30
FILE, FAST_FILE, PIPE, LUSTRE, EFS = SourceKind
MANIFEST, AUGMENTED = S3DataType.MANIFEST, S3DataType.AUGMENTED_MANIFEST


def candidate(source, *, room_gib=16384, lustre_gib=1200, job_seconds=0.0, size_bytes=TB, **stated):
    if source is EFS and "location" not in stated:
        stated |= {"location": Location.EFS, "efs": EfsState(stored_bytes=TB)}
    workload = Workload(size_bytes=size_bytes, files=1000, instance_type="ml.g5.xlarge", **stated)
    return Candidate(
        workload=workload, source=source, room_gib=room_gib, lustre_gib=lustre_gib, job_seconds=job_seconds
    )


CASES = [
    *((candidate(source), {}) for source in SourceKind),
    (candidate(FAST_FILE, s3_data_type=MANIFEST), {"SOURCE-PREFIX": "not a manifest"}),
    (candidate(FAST_FILE, s3_data_type=AUGMENTED), {"SOURCE-PREFIX": "not an augmented manifest"}),
    (candidate(FILE, s3_data_type=MANIFEST), {}),
    (candidate(PIPE, s3_data_type=MANIFEST), {}),
    (candidate(FILE, s3_data_type=AUGMENTED), {"SOURCE-AUGMENTED": "Only Pipe mode"}),
    (candidate(PIPE, s3_data_type=AUGMENTED), {}),
    (candidate(LUSTRE, s3_data_type=MANIFEST), {"SOURCE-FOLDER": "a manifest lists S3 objects"}),
    (candidate(EFS, s3_data_type=AUGMENTED), {"SOURCE-FOLDER": "an augmented manifest lists"}),
    (candidate(PIPE, access=Access.RANDOM), {"SOURCE-PIPE-ORDER": "reads at random"}),
    (candidate(FAST_FILE, access=Access.RANDOM), {}),
    (candidate(FILE, size_bytes=100 * GIB, room_gib=100), {}),
    (candidate(FILE, size_bytes=101 * GIB, room_gib=100), {"SOURCE-VOLUME": "copies 101 GiB"}),
    (candidate(FILE, size_bytes=200 * GIB, room_gib=100, instance_count=2, sharded=True), {}),
    (candidate(FILE, size_bytes=200 * GIB, room_gib=100, instance_count=2), {"SOURCE-VOLUME": "200 GiB"}),
    (candidate(FILE, size_bytes=200 * GIB, room_gib=100, sharded=True), {"SOURCE-VOLUME": "200 GiB"}),
    (candidate(FAST_FILE, size_bytes=200 * GIB, room_gib=100), {}),
    (candidate(LUSTRE, vpc=False), {"SOURCE-VPC": "FSx for Lustre is reached through a VPC"}),
    (candidate(EFS, vpc=False), {"SOURCE-VPC": "EFS is reached through a VPC"}),
    (candidate(FILE, vpc=False), {}),
    (candidate(LUSTRE, region="mx-central-1"), {"SOURCE-LUSTRE-REGION": "mx-central-1 has no Scratch 2"}),
    (candidate(LUSTRE, region="eu-west-1"), {}),
    # A Region that the page does not list may have them.
    (candidate(LUSTRE, region="xx-new-9"), {}),
    (candidate(FILE, region="mx-central-1"), {}),
    (candidate(LUSTRE, lustre_gib=LUSTRE_QUOTA_GIB), {}),
    (candidate(LUSTRE, lustre_gib=LUSTRE_QUOTA_GIB + 2400), {"SOURCE-LUSTRE-QUOTA": "103,200 GiB"}),
    (candidate(FILE, job_seconds=28 * 86_400), {}),
    (candidate(FILE, job_seconds=28 * 86_400 + 1), {"SOURCE-RUNTIME": "stops any job after 28"}),
    (candidate(EFS, location=Location.S3), {"SOURCE-EFS-DATA": "is in S3"}),
    (candidate(EFS, location=Location.ELSEWHERE), {"SOURCE-EFS-DATA": "neither EFS nor S3"}),
]


@pytest.mark.parametrize(("value", "expected"), CASES)
def test_a_source_is_judged(value, expected, assert_findings):
    assert_findings(RULES, value, expected)


def test_every_rule_of_choice_fires_in_the_table():
    assert {rule for _, expected in CASES for rule in expected} == {rule.id for rule in RULES}

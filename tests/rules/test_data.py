"""What the data itself means for the way it is read."""

from dataclasses import replace

import pytest

from trainfeed.rules.data import CHANNEL_RULES, LINK_RULES, ChannelData, DatasetFacts, LinkedData
from trainfeed.rules.rule import UNRESOLVED
from trainfeed.rules.s3 import key_fault
from trainfeed.sources import DataEvent, S3Link, S3Source, S3Uri

DATA = DatasetFacts(objects=10, bytes=1000, region="us-east-1", storage_classes={"STANDARD": 10})
URI = S3Uri("bucket", "data")


def behind_link(*, auto_import=(), import_on_create=True, region="us-east-1", bucket="bucket", **found):
    linked = S3Link(
        uri=S3Uri(bucket, "data"), path="/data", auto_import=auto_import, import_on_create=import_on_create
    )
    return LinkedData(link=linked, region=region, data=replace(DATA, **found))


def behind_channel(*, region="us-east-1", **found):
    return ChannelData(source=S3Source(uri=URI), region=region, data=replace(DATA, **found))


LINK_CASES = [
    (behind_link(), {}),
    (behind_link(auto_import=tuple(DataEvent)), {}),
    (behind_link(region=UNRESOLVED, auto_import=tuple(DataEvent)), {}),
    (behind_link(region="eu-west-1"), {"DATA-LINK-REGION": "us-east-1 and the file system in eu-west-1"}),
    (
        behind_link(region="eu-west-1", auto_import=tuple(DataEvent)),
        {"DATA-AUTO-IMPORT-REGION": "is in us-east-1 and the file system in eu-west-1"},
    ),
    (behind_link(bucket=UNRESOLVED, region="eu-west-1"), {}),
    (behind_link(storage_classes={"STANDARD_IA": 4, "GLACIER_IR": 3, "INTELLIGENT_TIERING": 3}), {}),
    (
        behind_link(storage_classes={"STANDARD": 9, "GLACIER": 1}),
        {"DATA-LINK-ARCHIVED": "1 of class GLACIER, of 10 objects"},
    ),
    (
        behind_link(storage_classes={"GLACIER": 2, "DEEP_ARCHIVE": 8}),
        {"DATA-LINK-ARCHIVED": "2 of class GLACIER, 8 of class DEEP_ARCHIVE"},
    ),
    (behind_link(illegal_keys=("data//x",)), {"DATA-LINK-KEYS": "cannot be paths: 'data//x'. They are not"}),
    (behind_link(illegal_keys=tuple("abcd")), {"DATA-LINK-KEYS": "'a', 'b', 'c' and more"}),
    (behind_link(objects=0, storage_classes={}), {"DATA-LINK-EMPTY": "under s3://bucket/data/"}),
    (behind_link(objects=0, import_on_create=False), {}),
]

CHANNEL_CASES = [
    (behind_channel(), {}),
    (behind_channel(region="eu-west-1"), {"DATA-CHANNEL-REGION": "run the job in us-east-1"}),
    (
        behind_channel(storage_classes={"DEEP_ARCHIVE": 1}),
        {"DATA-CHANNEL-ARCHIVED": "1 of class DEEP_ARCHIVE, of 10 objects. To read it fails"},
    ),
    (behind_channel(storage_classes={"ONEZONE_IA": 10}), {}),
    (behind_channel(objects=0), {"DATA-CHANNEL-EMPTY": "nothing under s3://bucket/data/"}),
]


@pytest.mark.parametrize(("value", "expected"), LINK_CASES)
def test_data_behind_a_link_is_judged(value, expected, assert_findings):
    assert_findings(LINK_RULES, value, expected)


@pytest.mark.parametrize(("value", "expected"), CHANNEL_CASES)
def test_data_behind_a_channel_is_judged(value, expected, assert_findings):
    assert_findings(CHANNEL_RULES, value, expected)


def test_every_rule_fires_in_a_table():
    fired = {rule for _, expected in [*LINK_CASES, *CHANNEL_CASES] for rule in expected}
    assert fired == {rule.id for rule in (*LINK_RULES, *CHANNEL_RULES)}


def test_the_bucket_of_an_unknown_region_is_not_judged(assert_findings):
    value = ChannelData(source=S3Source(uri=URI), region="eu-west-1", data=replace(DATA, region=None))
    assert_findings(CHANNEL_RULES, value, {})


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("a/b.png", None),
        ("folder/", None),
        ("a b/ü.png", None),
        ("a/.hidden", None),
        ("a/...", None),
        ("x" * 255, None),
        ("/a", "empty name"),
        ("a//b", "empty name"),
        ("folder//", "empty name"),
        ("/", "empty name"),
        ("a/./b", "'.' or '..'"),
        ("../b", "'.' or '..'"),
        ("a\0b", "zero byte"),
        ("x" * 256, "255 bytes"),
        ("ü" * 128, "255 bytes"),
    ],
)
def test_a_key_is_a_path_or_says_why_not(key, fault):
    found = key_fault(key)
    assert found is None if fault is None else found is not None and fault in found

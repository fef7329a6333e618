"""What FSx accepts of the links between a file system and S3."""

from dataclasses import replace

import pytest

from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.rules.rule import UNRESOLVED, Unresolved, refusal
from trainfeed.rules.s3_link import APP_RULES, RULES, AppLinks
from trainfeed.sources import DataEvent, S3Link, S3Uri


def link(path="/data", prefix="data", bucket="bucket", **given):
    return S3Link(uri=S3Uri(bucket, prefix), path=path, **given)


def linked(*links, **given):
    return LustreConfiguration(storage_capacity_gib=1200, links=links, **given)


def many(count):
    return linked(*(link(f"/data{number}", f"data{number}") for number in range(count)))


OUTPUT = link("/out", "outputs", import_on_create=False, auto_export=tuple(DataEvent))

CASES = [
    (linked(), {}),
    (linked(link(), OUTPUT), {}),
    (linked(link("/", "")), {}),
    # The file system
    (linked(link(), file_system_type_version="2.12"), {}),
    (linked(file_system_type_version="2.10"), {}),
    (
        linked(link(), file_system_type_version="2.10"),
        {"LINK-SUPPORTED": "Lustre 2.10 has no data repository"},
    ),
    (
        linked(link(), file_system_type_version=None),
        {"LINK-SUPPORTED": "2.10, the default of AWS where none is given, has"},
    ),
    (
        linked(link(), deployment_type="PERSISTENT_2", file_system_type_version=None),
        {},
    ),
    (linked(link(), deployment_type="SCRATCH_1"), {"LINK-SUPPORTED": "Choose SCRATCH_2."}),
    (
        linked(link(), deployment_type="PERSISTENT_2", storage_type="INTELLIGENT_TIERING"),
        {"LINK-SUPPORTED": "Choose SSD."},
    ),
    (many(8), {}),
    (many(9), {"LINK-COUNT": "at most 8 data repository associations; 9 were given"}),
    # Buckets
    (linked(link(bucket="abc")), {}),
    (linked(link(bucket="a.b-c.0")), {}),
    (linked(link(bucket="b" * 63)), {}),
    (linked(link(bucket="")), {"LINK-BUCKET": "No bucket is named."}),
    (
        linked(link(bucket="MyBucket")),
        {"LINK-BUCKET": "upper-case letters. Bucket names are lower-case, such as"},
    ),
    (linked(link(bucket="my_bucket")), {"LINK-BUCKET": "'my_bucket' is no name of a bucket"}),
    (linked(link(bucket="ab")), {"LINK-BUCKET": "3 to 63"}),
    (linked(link(bucket="b" * 64)), {"LINK-BUCKET": "3 to 63"}),
    (linked(link(bucket="-bucket")), {"LINK-BUCKET": "beginning and ending"}),
    (linked(link(bucket="bucket.")), {"LINK-BUCKET": "beginning and ending"}),
    (linked(link(bucket="my..bucket")), {"LINK-BUCKET": "single dots"}),
    (linked(link(bucket="192.168.5.4")), {"LINK-BUCKET": "no IP address"}),
    (linked(link(bucket="192.168.5.x")), {}),
    (linked(link(bucket="xn--bucket")), {"LINK-BUCKET": "reserved"}),
    (linked(link(bucket="sthree-data")), {"LINK-BUCKET": "reserved"}),
    *(
        (linked(link(bucket=f"mine{suffix}")), {"LINK-BUCKET": "no general purpose bucket"})
        for suffix in ("-s3alias", "--ol-s3", ".mrap", "--use1-az4--x-s3", "--table-s3")
    ),
    (linked(link(bucket="s3alias")), {}),
    (linked(link(bucket="my bucket")), {"LINK-BUCKET": "no name of a bucket"}),
    (linked(link(bucket="arn:aws:s3:::bucket")), {"LINK-BUCKET": "no name of a bucket"}),
    (linked(link(bucket=UNRESOLVED)), {}),
    # Prefixes
    (linked(link(prefix="a/b/c d")), {}),
    (linked(link(prefix="a//b")), {"LINK-PREFIX": "empty name between two slashes"}),
    (linked(link(prefix="a/../b")), {"LINK-PREFIX": "'.' or '..'"}),
    (linked(link(prefix="a\nb")), {"LINK-PREFIX": "line break"}),
    (linked(link(prefix="a" * 256)), {"LINK-PREFIX": "longer than 255 bytes"}),
    (linked(link(prefix="é" * 128)), {"LINK-PREFIX": "longer than 255 bytes"}),
    (linked(link(prefix="a" * 255)), {}),
    (linked(link(prefix="ab/" * 1365 + "c")), {"LINK-PREFIX": "longer than 4095 bytes"}),
    (linked(link(prefix="ab/" * 1500 + "c")), {"LINK-PREFIX": "Allowed: 4357"}),
    # Paths
    (linked(link("/data/2024 set")), {}),
    (linked(link("/data/")), {}),
    (linked(link("")), {"LINK-PATH": "has no path on the file system. Give it one, such as /data."}),
    (linked(link("data")), {"LINK-PATH": "Write it as '/data'."}),
    (linked(link("/data//x")), {"LINK-PATH": "The path '/data//x' cannot be a folder"}),
    (linked(link("/data/../x")), {"LINK-PATH": "'.' or '..'"}),
    (linked(link("/data\r")), {"LINK-PATH": "line break"}),
    # Overlap of paths
    (linked(link("/ns1", "a"), link("/ns10", "b")), {}),
    (linked(link("/ns/1", "a"), link("/ns/2", "b")), {}),
    (linked(link("/ns1", "a"), link("/ns1/ns2", "b")), {"LINK-PATH-OVERLAP": "/ns1 and /ns1/ns2 overlap"}),
    (linked(link("/ns1/ns2", "a"), link("/ns1/", "b")), {"LINK-PATH-OVERLAP": "such as /data and /out"}),
    (linked(link("/ns1", "a"), link("/ns1/", "b")), {"LINK-PATH-OVERLAP": "/ns1 and /ns1/"}),
    (linked(link("/", "a"), link("/out", "b")), {"LINK-PATH-OVERLAP": "root can only be linked alone"}),
    (linked(link("/out", "a"), link("/", "b")), {"LINK-PATH-OVERLAP": "root can only be linked alone"}),
    (
        linked(link("/a", "a", UNRESOLVED), link("/a/b", "b", UNRESOLVED)),
        {"LINK-PATH-OVERLAP": "/a and /a/b"},
    ),
    # Overlap in S3
    (linked(link("/a", "data/run1"), link("/b", "data/run10")), {}),
    (linked(link("/a", "data"), link("/b", "data", "other")), {}),
    (
        linked(link("/a", "data"), link("/b", "data/x")),
        {"LINK-S3-OVERLAP": "s3://bucket/data and s3://bucket/data/x"},
    ),
    (linked(link("/a", "data"), link("/b", "")), {"LINK-S3-OVERLAP": "outside the other's"}),
    (linked(link("/a", "data", UNRESOLVED), link("/b", "data", UNRESOLVED)), {}),
    (linked(link("/a", "data", Unresolved("one")), link("/b", "data", Unresolved("two"))), {}),
    (
        linked(link("/a", "data", Unresolved("one")), link("/b", "data", Unresolved("one"))),
        {"LINK-S3-OVERLAP": "s3://(known at deployment)/data"},
    ),
    # Export over the source
    (linked(link(auto_export=(DataEvent.NEW,))), {"LINK-EXPORT-OVERWRITES": "export_overwrites_source"}),
    (linked(link(auto_export=tuple(DataEvent), export_overwrites_source=True)), {}),
    (
        linked(replace(OUTPUT, auto_import=(DataEvent.CHANGED,))),
        {"LINK-EXPORT-OVERWRITES": "The link at /out imports from s3://bucket/outputs"},
    ),
    (linked(link(auto_import=tuple(DataEvent))), {}),
    # Chunks
    *((linked(link(imported_file_chunk_size_mib=size)), {}) for size in (1, 1024, 512_000)),
    *(
        (
            linked(link(imported_file_chunk_size_mib=size)),
            {"LINK-CHUNK-SIZE": f"{size} MiB. Allowed: 1 to 512000"},
        )
        for size in (0, -1, 512_001)
    ),
    # What is not known yet hides nothing else
    (linked(link("/a", "a", UNRESOLVED), link("/b", "b", "B")), {"LINK-BUCKET": "The link at /b"}),
    (linked(link("/a", UNRESOLVED), link("/b", "b//c")), {"LINK-PREFIX": "The link at /b"}),
    (linked(link(UNRESOLVED, "a"), link("b", "b")), {"LINK-PATH": "'/b'"}),
    # Several at once
    (
        linked(link("", "a", "B"), link("x", "b", "")),
        {"LINK-BUCKET": "No bucket is named.", "LINK-PATH": "Write it as '/x'."},
    ),
]


@pytest.mark.parametrize(("value", "expected"), CASES)
def test_links_are_judged(value, expected, assert_findings):
    assert_findings(RULES, value, expected)


def test_every_rule_fires_in_the_table():
    assert {rule for _, expected in CASES for rule in expected} == {rule.id for rule in RULES}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (linked(link(""), link("/b", "b")), "BadRequest"),
        (linked(link("/a", "a"), link("/a/b", "b")), "BadRequest"),
        (many(9), "ServiceLimitExceeded"),
        (linked(link(auto_export=tuple(DataEvent))), None),
        (linked(link()), None),
    ],
)
def test_aws_refuses_with_its_own_code(value, code):
    refused = refusal(RULES, value, "fsx:CreateDataRepositoryAssociation")
    assert (refused and refused[0].code) == code


def export(prefix="outputs", bucket="bucket", **given):
    given = {"path": "/out", "import_on_create": False, "auto_export": (DataEvent.NEW,), **given}
    return link(prefix=prefix, bucket=bucket, **given)


def app(*data, **links):
    return AppLinks(links=links, data=tuple(S3Uri("bucket", prefix) for prefix in data))


APART = "LINK-EXPORT-APART"
APP_CASES = [
    (app(), {}),
    (app("data", one=(link(), export())), {}),
    (app("data", one=(link(), export()), two=(export("outputs2"),)), {}),
    (app("data", one=(export("database"),)), {}),
    (app("data", one=(export("data", bucket="other"),)), {}),
    (app("data", one=(export("data", bucket=UNRESOLVED),)), {}),
    (app("data", one=(export("data", auto_export=()),)), {}),
    (app("data", one=(export("data", export_overwrites_source=True),)), {}),
    (app(one=(link(),), two=(link(),)), {}),  # two may read the same
    (app("data", one=(link(auto_export=tuple(DataEvent)),)), {}),  # LINK-EXPORT-OVERWRITES tells of it
    (
        app("data", one=(export("data"),)),
        {APART: "/out of one exports to s3://bucket/data, over the data at s3://bucket/data. Give"},
    ),
    (app("data", one=(export("data/deep"),)), {APART: "over the data at s3://bucket/data."}),
    (app("data", one=(export(""),)), {APART: "exports to s3://bucket, over"}),
    (
        app(one=(export("in"),), two=(link("/d", "in/deep"),)),
        {APART: "over what /d of two imports from s3://bucket/in/deep."},
    ),
    (
        app(one=(export(),), two=(export(path="/o"),)),
        {APART: "where /o of two exports to too, s3://bucket/outputs."},
    ),
    (
        app(one=(export(bucket=Unresolved("a")),), two=(export(bucket=Unresolved("a")),)),
        {APART: "of one exports to"},
    ),
    (app(one=(export(bucket=Unresolved("a")),), two=(export(bucket=Unresolved("b")),)), {}),
]


@pytest.mark.parametrize(("value", "expected"), APP_CASES)
def test_the_links_of_an_app_are_judged_together(value, expected, assert_findings):
    assert_findings(APP_RULES, value, expected)

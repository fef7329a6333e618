"""The data sources as typed values."""

import pytest

from trainfeed.sources import S3Link, S3Uri


@pytest.mark.parametrize(
    ("text", "bucket", "prefix", "folder", "written"),
    [
        ("s3://bucket", "bucket", "", "", "s3://bucket"),
        ("s3://bucket/", "bucket", "", "", "s3://bucket"),
        ("s3://bucket/data", "bucket", "data", "data/", "s3://bucket/data"),
        ("s3://bucket/data/", "bucket", "data", "data/", "s3://bucket/data"),
        ("s3://bucket/a b/é/", "bucket", "a b/é", "a b/é/", "s3://bucket/a b/é"),
    ],
)
def test_an_address_is_read_as_a_bucket_and_a_folder(text, bucket, prefix, folder, written):
    uri = S3Uri.parse(text)
    assert (uri.bucket, uri.prefix, uri.folder, str(uri)) == (bucket, prefix, folder, written)
    assert S3Uri.parse(str(uri)) == uri


@pytest.mark.parametrize(
    "text", ["", "bucket", "/bucket/data", "s3://", "s3:///data", "s3:/bucket", "http://b/d"]
)
def test_what_is_no_address_is_refused_with_the_way_to_write_one(text):
    with pytest.raises(ValueError, match=r"is not an S3 address\. Write it as s3://BUCKET/PREFIX\.$"):
        S3Uri.parse(text)


def test_a_dataset_does_not_change_under_a_running_job_by_default():
    link = S3Link(uri=S3Uri("bucket", "data"), path="/data")
    assert link.import_on_create
    assert link.auto_import == ()
    assert link.auto_export == ()
    assert not link.export_overwrites_source

"""Sending packed code to S3."""

from pathlib import Path
from typing import Any

from trainfeed.run import code
from trainfeed.sources import S3Uri


def keys(aws: Any) -> dict[str, str]:
    found = aws.client("s3").list_objects_v2(Bucket="out").get("Contents", [])
    return {item["Key"]: item["ETag"] for item in found}


def test_code_arrives_under_its_hash_and_only_what_is_missing_is_sent(aws: Any, tmp_path: Path) -> None:
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="out")
    (tmp_path / "lib").mkdir()
    (tmp_path / "train.py").write_text("import lib.model\n")
    (tmp_path / "lib" / "model.py").write_text("size = 3\n")
    pack = code.pack(tmp_path)
    address = code.upload(aws.client, pack, S3Uri("out", "code"))

    folder = f"code/{pack.digest}"
    assert address == S3Uri("out", folder)
    assert set(keys(aws)) == {f"{folder}/{name}" for name in ("train.py", "lib/model.py", code.DRIVER)}

    # What is there is not sent again; what is missing is.
    s3.put_object(Bucket="out", Key=f"{folder}/train.py", Body=b"marked")
    s3.delete_object(Bucket="out", Key=f"{folder}/lib/model.py")
    before = keys(aws)
    assert code.upload(aws.client, pack, S3Uri("out", "code")) == address
    after = keys(aws)
    assert {key: tag for key, tag in after.items() if key in before} == before
    assert set(after) - set(before) == {f"{folder}/lib/model.py"}

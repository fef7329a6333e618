"""The `trainfeed` command as people type it."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trainfeed import names
from trainfeed.cli import main

ROOT = Path(__file__).parents[1]
TRAINFEED = [sys.executable, "-c", "from trainfeed.cli import main; main(prog_name='trainfeed')"]

Command = Callable[..., Result]


@pytest.fixture
def trainfeed(aws: Any, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a subcommand against the local AWS."""
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    return lambda *arguments, **more: CliRunner().invoke(main, arguments, **more)


def outcome(result: Result) -> tuple[int, str]:
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_help_is_there_at_once_and_names_every_command() -> None:
    code = (
        "import sys; from trainfeed.cli import main\n"
        "try: main(['--help'], prog_name='trainfeed')\n"
        "finally: print(sorted({'boto3', 'rich', 'aws_cdk', 'pydantic', 'ministack'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    for command in ("check", "delete-bucket", "follow", "local", "logs", "ls", "run", "stop"):
        assert re.search(rf"^  {command} ", said, re.MULTILINE)
    assert "..." not in said.partition("Commands:")[2]
    assert said.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "training"], "Missing option '--script'"),
        (["run", "training", "--script", "nowhere.py"], "There is no script at nowhere.py."),
        (["run", "training", "--script", __file__, "-p", "epochs"], "'epochs' is not a hyperparameter."),
        (["run", "training", "--script", __file__], "The job 'training' is not deployed in us-east-1"),
        (["run", "eval", "--script", __file__], "No job template is deployed in us-east-1"),
        (["run", "training", "--script", "s3://mine/train.py"], "s3://mine/train.py is in S3."),
        (["logs", "training"], "'training' names no run."),
        (["logs", "training-20261201-161500-ab12"], "training-20261201-161500-ab12 has no log"),
        (["follow", "training"], "'training' names no run."),
        (["stop", "training-20261201-161500-ab12"], "No job template is deployed"),
        (["delete-bucket"], "Missing argument 'NAME...'"),
        (["delete-bucket", "nowhere"], "There is no bucket named nowhere."),
        (["delete-bucket", "Not A Bucket"], "'Not A Bucket' cannot be a bucket's name, which"),
        (["delete-bucket", "s3://mine/data"], "'s3://mine/data' cannot be a bucket's name, which"),
        (["check", "nowhere.yaml"], "nowhere.yaml"),
        (["fly"], "No such command 'fly'"),
    ],
)
def test_bad_input_is_told_without_a_traceback(trainfeed: Command, arguments: list[str], says: str) -> None:
    code, said = outcome(trainfeed(*arguments))
    assert code != 0
    assert says in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"AWS_REGION": "", "AWS_DEFAULT_REGION": ""}, "No AWS Region is set."),
        ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "No AWS credentials were found."),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "No local AWS answers at http://127.0.0.1:9,"),
        ({"AWS_PROFILE": "nobody"}, "The config profile (nobody) could not be found"),
    ],
)
def test_an_environment_that_leads_nowhere_is_told(
    trainfeed: Command, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], says: str
) -> None:
    for name, value in variables.items():
        if value:
            monkeypatch.setenv(name, value)
        else:
            monkeypatch.delenv(name)
    code, said = outcome(trainfeed("ls"))
    assert code == 1
    assert says in said


def test_check_tells_all_it_finds_and_fails_on_errors(trainfeed: Command, tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text(
        "network: {zone_id: use1-az99}\n"
        "dataset: {data_bucket: no-such-bucket}\n"
        "sources: {fsx-lustre: {}}\n"
        "jobs: {}\n"
    )
    code, said = outcome(trainfeed("check", str(settings)))
    assert code == 1
    for rule in ("ACCOUNT-BOOTSTRAP", "ACCOUNT-ZONE", "ACCOUNT-BUCKET"):
        assert rule in said
    assert "There is no bucket named no-such-bucket" in said
    settings.write_text("network: {zone: use1-az1}\n")
    code, said = outcome(trainfeed("check", str(settings)))
    assert (code, "zone_id" in said) == (1, True)


@pytest.fixture
def check(trainfeed: Command, aws: Any, tmp_path: Path) -> Callable[[str], tuple[int, str]]:
    """Runs `trainfeed check` on settings, in an account that is ready for them, with data in `mine`."""
    aws.client("ssm").put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String")
    iam, role = aws.client("iam"), "cdk-hnb659fds-cfn-exec-role-123456789012-us-east-1"
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": "cloudformation.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    policy = {"Version": "2012-10-17", "Statement": [trust]}
    iam.create_role(RoleName=role, AssumeRolePolicyDocument=json.dumps(policy))
    iam.attach_role_policy(RoleName=role, PolicyArn="arn:aws:iam::aws:policy/AdministratorAccess")
    aws.client("s3").create_bucket(Bucket="mine")
    elsewhere = {"LocationConstraint": "eu-west-1"}
    aws.client("s3").create_bucket(Bucket="far", CreateBucketConfiguration=elsewhere)
    for bucket, key in (("mine", "data/1.png"), ("mine", "data/deep/2.png"), ("far", "data/1.png")):
        aws.client("s3").put_object(Bucket=bucket, Key=key, Body=b"x")

    def run(text: str) -> tuple[int, str]:
        settings = tmp_path / "settings.yaml"
        settings.write_text(text)
        return outcome(trainfeed("check", str(settings)))

    return run


def source(*lines: str) -> str:
    return "".join(("sources:\n  fsx-lustre:\n    type: fsx-lustre\n", *(f"    {line}\n" for line in lines)))


PERSISTENT = ("deployment_type: PERSISTENT_2", "per_unit_storage_throughput: 1000")
DEPLOYABLE = [
    "dataset: {data_bucket: mine}\n" + source(),
    "dataset: {data_bucket: mine}\nsources: {fsx-lustre: {}}\njobs: {}\n",
    source(),  # whose buckets are still to be made
    source(
        "deployment_type: PERSISTENT_1",
        "storage_type: HDD",
        "storage_capacity_gib: 1800",
        "per_unit_storage_throughput: 40",
        "drive_cache_type: READ",
    ),
    source(*PERSISTENT, "metadata_iops: 1500", "kms_key_id: alias/ours"),
    source(*PERSISTENT, "efa_enabled: true", "storage_capacity_gib: 4800"),
    "jobs: {j: {channels: {c: {source: s3}}}}\n",
]
REFUSED = [
    (source("kms_key_id: alias/ours"), ["LUSTRE-KMS"]),
    (source(*PERSISTENT, "efa_enabled: true"), ["LUSTRE-EFA"]),
    (source(*PERSISTENT, "metadata_iops: 1234"), ["LUSTRE-METADATA"]),
    (
        source(
            "links: [{path: /d, uri: 's3://mine/data'}, {path: /d/deep, uri: 's3://mine/data/deep'}]",
        ),
        ["LINK-PATH-OVERLAP", "LINK-S3-OVERLAP"],
    ),
    (source("links: [{path: /d, uri: 's3://mine/data', auto_export: [NEW]}]"), ["LINK-EXPORT-OVERWRITES"]),
    (source("links: [{path: /d, uri: 's3://Mine/data'}]"), ["LINK-BUCKET"]),
    (
        source("links: [{path: /o, uri: dataset, import_on_create: false, auto_export: [NEW]}]"),
        ["LINK-EXPORT-APART"],
    ),
    ("dataset: {access_log_bucket: no-such-logs}\n" + source(), ["ACCOUNT-BUCKET"]),
    (
        "dataset: {data_bucket: mine, output_bucket: far}\n" + source(),
        ["ACCOUNT-BUCKET-REGION", "DATA-LINK-REGION"],
    ),
    ("dataset: {data_bucket: far}\njobs: {j: {channels: {c: {source: s3}}}}\n", ["DATA-CHANNEL-REGION"]),
    (source("links: [{path: /d, uri: 's3://far/data', auto_import: [NEW]}]"), ["DATA-AUTO-IMPORT-REGION"]),
    (
        "jobs: {j: {channels: {" + ", ".join(f"c{n}: {{source: s3}}" for n in range(20)) + "}}}\n",
        ["JOB-CHANNELS"],
    ),
]


@pytest.mark.parametrize("settings", DEPLOYABLE)
def test_check_passes_what_can_be_deployed(
    check: Callable[[str], tuple[int, str]], settings: str, tmp_path: Path
) -> None:
    assert check(settings) == (
        0,
        "arn:aws:iam::123456789012:root in us-east-1\n"
        f"This can be deployed: cdk deploy --all -c config={tmp_path / 'settings.yaml'}\n",
    )


@pytest.mark.parametrize(("settings", "rules"), REFUSED)
def test_check_refuses_what_aws_would_refuse(
    check: Callable[[str], tuple[int, str]], settings: str, rules: list[str]
) -> None:
    code, said = check(settings)
    assert code == 1
    assert re.findall(r"^ +([A-Z0-9-]+), https:", said, re.MULTILINE) == rules, said


def test_what_is_left_is_listed_and_deleted_by_name(trainfeed: Command, aws: Any) -> None:
    assert outcome(trainfeed("ls")) == (
        0,
        "No file system: nothing of trainfeed's bills by the hour.\nNo bucket.\n",
    )
    s3 = aws.client("s3")
    for name in ("kept-1", "kept-2"):
        s3.create_bucket(Bucket=name)
        s3.put_bucket_tagging(
            Bucket=name, Tagging={"TagSet": [{"Key": names.STACK_TAG, "Value": "DatasetStack"}]}
        )
    s3.put_object(Bucket="kept-1", Key="data/1", Body=b"12345")
    assert "kept-1  kept from DatasetStack, which is gone" in outcome(trainfeed("ls"))[1]

    code, said = outcome(trainfeed("delete-bucket", "kept-1", "kept-2", input="n\n"))
    assert code == 1
    assert "kept-1: 1 object versions, 5 bytes\nkept-2: 0 object versions, 0 bytes\n" in said
    assert len(s3.list_buckets()["Buckets"]) == 2

    code, said = outcome(trainfeed("delete-bucket", "kept-1", "kept-2", "s3://kept-1/", "--yes"))
    assert (code, said.count("Deleted")) == (0, 2)
    assert s3.list_buckets()["Buckets"] == []


def test_one_bad_name_spares_all(trainfeed: Command, aws: Any) -> None:
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="kept")
    s3.put_bucket_tagging(Bucket="kept", Tagging={"TagSet": [{"Key": names.STACK_TAG, "Value": "Gone"}]})
    s3.create_bucket(Bucket="theirs")
    code, said = outcome(trainfeed("delete-bucket", "kept", "theirs", "--yes"))
    assert code == 1
    assert "The bucket theirs was not made by trainfeed" in said
    assert {bucket["Name"] for bucket in s3.list_buckets()["Buckets"]} == {"kept", "theirs"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that has no local AWS running when the test ends."""
    yield tmp_path
    subprocess.run(
        [*TRAINFEED, "local", "stop"], cwd=tmp_path, env=_environment(), check=False, capture_output=True
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def call(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*TRAINFEED, *arguments],
        cwd=folder,
        env=_environment(),
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def test_the_local_aws_from_start_to_stop(folder: Path) -> None:
    assert call(folder, "local", "status") == (
        1,
        f"Error: No local AWS runs for {folder}. Start one: trainfeed local start\n",
    )
    code, said = call(folder, "local", "start")
    assert code == 0
    assert call(folder, "local", "start") == (0, said.replace("runs at", "runs already at"))
    url = re.findall(r"http://127\.0\.0\.1:\d+", said)[0]
    assert url in call(folder, "local", "status")[1]

    # The environment it prints works in a shell, whatever was set there before.
    command = shlex.join(TRAINFEED)
    shell = f'export AWS_PROFILE=nobody; eval "$({command} local env)" && {command} ls'
    listed = subprocess.run(
        ["bash", "-c", shell], cwd=folder, env=_environment(), check=True, capture_output=True, text=True
    )
    assert "No bucket." in listed.stdout

    assert call(folder, "local", "stop") == (0, f"Stopped the local AWS at {url}.\n")
    code, said = call(folder, "local", "env")
    assert code == 1
    assert "trainfeed local start" in said

"""How the data of a job arrives, and how a job fails whose data does not."""

import io
import json
import tarfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import boto3
import pytest

from trainfeed.local.sagemaker.container import can_seal
from trainfeed.local.sagemaker.storage import RoleStorage, relative_path
from trainfeed.run import container_entry


@pytest.mark.parametrize(
    ("prefix", "key", "path"),
    [
        ("", "a/b", "a/b"),
        ("data", "data/a/b", "a/b"),
        ("data/", "data/a/b", "a/b"),
        ("data/train", "data/train/a", "a"),
        ("data/train", "data/train-2/a", "train-2/a"),
        ("data/train", "data/train.csv", "train.csv"),
        ("data/train.csv", "data/train.csv", "train.csv"),
        ("train.csv", "train.csv", "train.csv"),
        ("data/tr", "data/train/a", "train/a"),
    ],
)
def test_where_a_key_belongs(prefix, key, path):
    assert relative_path(prefix, key) == path


FIND = "cd /opt/ml/input/data/train && find * -type f | sort"


@pytest.mark.parametrize(
    ("prefix", "seen"),
    [
        ("run1", ["0.txt", "a/b", "run10/x"]),
        ("run1/", ["0.txt", "a/b"]),
        ("run1/a/b", ["b"]),
    ],
)
def test_an_address_is_a_prefix_of_keys(desk, prefix, seen):
    desk.put(**{"run1/0.txt": "x", "run1/a/b": "x", "run1/10/": "", "run10/x": "x", "other": "x"})
    if prefix == "run1":
        seen = ["0.txt", "a/b", "run10/x"]
    assert (
        desk.run(FIND, InputDataConfig=[desk.s3_channel("train", prefix)])["TrainingJobStatus"] == "Completed"
    )
    assert desk.log() == seen


def test_a_manifest_names_its_objects(desk):
    manifest = [{"prefix": "s3://my-bucket/data/"}, "a.txt", "deep/b.txt"]
    desk.put(**{"data/a.txt": "x", "data/deep/b.txt": "x", "data/c.txt": "x", "list": json.dumps(manifest)})
    desk.run(FIND, InputDataConfig=[desk.s3_channel("train", "list", S3DataType="ManifestFile")])
    assert desk.log() == ["a.txt", "deep/b.txt"]


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("[{", "The manifest is not of the form"),
        ("[]", "The manifest is not of the form"),
        ('[{"prefix": "s3://my-bucket/data/"}, "missing"]', "404"),
        ('[{"prefix": "s3://my-bucket/data/"}]', "No S3 objects found"),
    ],
)
def test_a_broken_manifest_fails_the_job(desk, manifest, said):
    desk.put(list=manifest)
    job = desk.run(InputDataConfig=[desk.s3_channel("train", "list", S3DataType="ManifestFile")])
    assert job["FailureReason"].startswith("ClientError: Data download failed:")
    assert said in job["FailureReason"]


def test_the_role_may_read_the_data(desk):
    desk.put(**{"data/a": "x", "data/secret/b": "x"})
    role = desk.make_role(
        "reader",
        [
            {"Effect": "Allow", "Action": "*", "Resource": "*"},
            {"Effect": "Deny", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::my-bucket/data/secret/*"},
        ],
    )
    job = desk.run(RoleArn=role, InputDataConfig=[desk.s3_channel("train", "data/")])
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Failed", "Failed")
    assert job["FailureReason"].startswith("ClientError: Data download failed:Failed to download data.")
    assert "not authorized to perform: s3:GetObject" in job["FailureReason"]
    assert [each["Status"] for each in job["SecondaryStatusTransitions"]][-2:] == ["Downloading", "Failed"]
    assert desk.run(TrainingJobName="open", RoleArn=role)["TrainingJobStatus"] == "Completed"


def test_the_role_may_write_the_model(desk):
    role = desk.make_role(
        "reader", [{"Effect": "Allow", "Action": ["s3:GetObject", "ecr:*"], "Resource": "*"}]
    )
    job = desk.run("echo > /opt/ml/model/m", RoleArn=role)
    assert job["FailureReason"].startswith("ClientError: Artifact upload failed:AccessDenied (403)")
    assert "not authorized to perform: s3:PutObject" in job["FailureReason"]


def test_a_missing_output_bucket_fails_the_upload(desk):
    job = desk.run("echo > /opt/ml/model/m", OutputDataConfig={"S3OutputPath": "s3://no-such-bucket-here"})
    assert job["FailureReason"].startswith("ClientError: Artifact upload failed:")
    assert "NoSuchBucket" in job["FailureReason"]


def test_a_key_that_leads_out_of_the_channel_is_not_followed(desk):
    desk.put(**{"data/../../../model/evil": "x"})
    job = desk.run(InputDataConfig=[desk.s3_channel("train", "data/")])
    assert "leads out of the channel's folder" in job["FailureReason"]


def test_a_file_and_a_folder_of_one_name_do_not_fit(desk):
    desk.put(**{"data/a": "x", "data/a/b": "x"})
    job = desk.run(InputDataConfig=[desk.s3_channel("train", "data/")])
    assert "both a file and a folder" in job["FailureReason"]


@pytest.mark.parametrize(
    ("instance_type", "volume", "fits"),
    [("ml.m5.large", 1, False), ("ml.m5.large", 2, True), ("ml.g5.xlarge", 1, True)],
)
def test_the_volume_must_hold_the_data(desk, monkeypatch, instance_type, volume, fits):
    listed = RoleStorage.objects

    def enormous(storage, address):
        for item in listed(storage, address):
            yield replace(item, size=item.size * 2**30)

    monkeypatch.setattr(RoleStorage, "objects", enormous)
    desk.put(**{"data/a": "x", "data/b": "x"})
    job = desk.run(
        InputDataConfig=[desk.s3_channel("train", "data/")],
        ResourceConfig={"InstanceType": instance_type, "VolumeSizeInGB": volume},
    )
    if fits:
        assert job["TrainingJobStatus"] == "Completed"
    else:
        reason = job["FailureReason"]
        assert reason.startswith("ClientError: Data download failed:Insufficient disk space")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ({"Action": "ecr:BatchGetImage", "Resource": "*"}, "ecr:BatchGetImage"),
        ({"Action": "ecr:GetAuthorizationToken", "Resource": "*"}, "ecr:GetAuthorizationToken"),
        ({"Action": "ecr:*", "Resource": "arn:aws:ecr:us-east-1:123456789012:repository/other"}, None),
    ],
)
def test_the_role_may_pull_the_image(desk, statement, said):
    role = desk.make_role(
        "other", [{"Effect": "Allow", "Action": "*", "Resource": "*"}, {"Effect": "Deny", **statement}]
    )
    job = desk.run(RoleArn=role)
    if said is None:
        assert job["TrainingJobStatus"] == "Completed"
    else:
        assert job["FailureReason"].startswith("ClientError: Cannot pull algorithm container.")
        assert said in job["FailureReason"]


def test_without_the_right_to_log_a_job_runs_unheard(desk):
    role = desk.make_role(
        "silent",
        [
            {"Effect": "Allow", "Action": "*", "Resource": "*"},
            {"Effect": "Deny", "Action": "logs:*", "Resource": "*"},
        ],
    )
    assert desk.run("echo hello", RoleArn=role)["TrainingJobStatus"] == "Completed"
    assert desk.log() == []


def test_logs_arrive_line_by_line_and_whole(desk):
    desk.run("printf 'one\\n\\ntwo\\r\\nthr'; sleep 0.05; printf 'ee\\nlast'; printf ' \\377' >&2")
    assert desk.log() == ["one", "two", "three", "last \ufffd"]


def test_the_credentials_are_those_of_the_role(desk):
    desk.run("env | grep -E '^(AWS_|TRAINING)' | sort", Environment={"MINE": "1"})
    seen = dict(line.split("=", 1) for line in desk.log())
    assert seen["AWS_ENDPOINT_URL"] == desk.aws.url
    assert seen["AWS_REGION"] == "us-east-1"
    assert seen["TRAINING_JOB_NAME"] == "my-job"
    assert seen["TRAINING_JOB_ARN"].endswith(":training-job/my-job")
    sts = boto3.client(
        "sts",
        endpoint_url=desk.aws.url,
        region_name="us-east-1",
        aws_access_key_id=seen["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=seen["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=seen["AWS_SESSION_TOKEN"],
    )
    with closing(sts):
        identity = sts.get_caller_identity()
    assert identity["Arn"] == "arn:aws:sts::123456789012:assumed-role/job/SageMaker"


def test_network_isolation_takes_credentials_and_endpoint(desk):
    desk.put(**{"data/a": "x"})
    desk.run(
        "env | grep -E '^AWS_' | sort; ls /opt/ml/input/data/train",
        EnableNetworkIsolation=True,
        InputDataConfig=[desk.s3_channel("train", "data/")],
    )
    assert desk.log() == ["AWS_DEFAULT_REGION=us-east-1", "AWS_REGION=us-east-1", "a"]


def test_the_configuration_is_that_of_the_request(desk):
    desk.put(**{"data/a": "x"})
    desk.run(
        "cd /opt/ml/input/config; python3 -c 'import json; "
        "[print(json.dumps(json.load(open(name)), sort_keys=True)) for name in "
        '("hyperparameters.json", "inputdataconfig.json", "resourceconfig.json")]\'',
        HyperParameters={"epochs": "3"},
        InputDataConfig=[desk.s3_channel("train", "data/") | {"ContentType": "text/plain"}],
    )
    hyperparameters, inputs, resources = map(json.loads, desk.log())
    assert hyperparameters == {"epochs": "3"}
    assert inputs == {
        "train": {
            "ContentType": "text/plain",
            "RecordWrapperType": "None",
            "S3DistributionType": "FullyReplicated",
            "TrainingInputMode": "File",
        }
    }
    assert (resources["current_host"], resources["hosts"]) == ("algo-1", ["algo-1"])
    assert resources["current_instance_type"] == "ml.m5.large"


def test_what_a_job_had_on_disk_goes_and_its_log_stays(desk):
    desk.put(**{"data/a": "x"})
    desk.run("echo kept", InputDataConfig=[desk.s3_channel("train", "data/")])
    folder = desk.aws._state / "sagemaker" / "123456789012" / "us-east-1" / "my-job"
    left = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    assert left == ["algo-1/output.log"]
    assert (folder / left[0]).read_text() == "kept\n"


@pytest.mark.parametrize(
    "sealed",
    [
        pytest.param(True, marks=pytest.mark.skipif(not can_seal(), reason="no mount namespaces here")),
        False,
    ],
)
def test_a_script_is_started_by_the_driver_wherever_opt_ml_is(desk, monkeypatch, sealed):
    monkeypatch.setattr(desk.aws.sagemaker, "_sealed", sealed)
    script = """
import argparse, os, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--keep")
keep = pathlib.Path(parser.parse_args().keep)
data = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"])
assert keep == pathlib.Path(os.environ["SM_MODEL_DIR"])
(keep / "m").write_text((data / "a").read_text())
print(keep)
raise SystemExit(pathlib.Path("/opt/ml/model/m").exists() != (str(keep) == "/opt/ml/model"))
"""
    driver = Path(container_entry.__file__).read_bytes()
    desk.put(**{"data/a": "learned", "code/trainfeed_entry.py": driver, "code/train.py": script})
    job = desk.run(
        AlgorithmSpecification={
            "ContainerEntrypoint": ["python3", "/opt/ml/input/data/code/trainfeed_entry.py"],
            "ContainerArguments": ["train.py"],
        },
        HyperParameters={"keep": "/opt/ml/model"},
        InputDataConfig=[desk.s3_channel("train", "data/"), desk.s3_channel("code", "code/")],
    )
    assert job["TrainingJobStatus"] == "Completed", (job.get("FailureReason"), desk.log())
    assert (desk.log() == ["/opt/ml/model"]) == sealed
    body = desk.s3.get_object(Bucket="my-bucket", Key="out/my-job/output/model.tar.gz")["Body"].read()
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        assert archive.extractfile("m").read() == b"learned"

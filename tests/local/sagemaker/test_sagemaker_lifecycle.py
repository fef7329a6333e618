"""A job from Starting to its end: statuses, times, events, stopping."""

import io
import json
import tarfile
from datetime import timedelta
from itertools import pairwise

import pytest


def statuses(job):
    return [transition["Status"] for transition in job["SecondaryStatusTransitions"]]


def test_a_job_goes_through_the_phases_of_sagemaker(desk):
    job = desk.run()
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Completed", "Completed")
    assert statuses(job) == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
    transitions = job["SecondaryStatusTransitions"]
    for before, after in pairwise(transitions):
        assert before["EndTime"] == after["StartTime"]
    assert transitions[1]["StatusMessage"] == "Downloading input data"
    assert "FailureReason" not in job


def test_starting_is_not_billed_and_download_and_upload_are(desk):
    job = desk.run("sleep 0.1")
    phases = {each["Status"]: each for each in job["SecondaryStatusTransitions"]}
    assert job["TrainingStartTime"] == phases["Downloading"]["StartTime"] > job["CreationTime"]
    assert job["TrainingEndTime"] == phases["Uploading"]["EndTime"]
    lasted = job["TrainingEndTime"] - job["TrainingStartTime"]
    assert timedelta(seconds=job["BillableTimeInSeconds"] - 1) < lasted
    assert lasted <= timedelta(seconds=job["BillableTimeInSeconds"])
    assert job["TrainingTimeInSeconds"] == job["BillableTimeInSeconds"] >= 1


def test_model_and_output_arrive_in_s3(desk):
    job = desk.run(
        "echo weights > /opt/ml/model/net; mkdir /opt/ml/output/data/a; echo x > /opt/ml/output/data/a/b"
    )
    assert job["ModelArtifacts"]["S3ModelArtifacts"] == "s3://my-bucket/out/my-job/output/model.tar.gz"
    assert desk.keys("out/my-job/output/") == ["model.tar.gz", "output.tar.gz"]
    body = desk.s3.get_object(Bucket="my-bucket", Key="out/my-job/output/model.tar.gz")["Body"].read()
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        assert archive.extractfile("net").read() == b"weights\n"


def test_an_empty_model_is_not_uploaded_but_named(desk):
    job = desk.run()
    assert job["ModelArtifacts"]["S3ModelArtifacts"].endswith("/out/my-job/output/model.tar.gz")
    assert desk.keys("out/") == []


def test_a_model_without_compression_is_uploaded_file_by_file(desk):
    job = desk.run(
        "echo 1 > /opt/ml/model/a; mkdir /opt/ml/model/b; echo 2 > /opt/ml/model/b/c",
        OutputDataConfig={"CompressionType": "NONE"},
    )
    assert job["ModelArtifacts"]["S3ModelArtifacts"] == "s3://my-bucket/out/my-job/output/model/"
    assert desk.keys("out/my-job/output/") == ["model/a", "model/b/c"]


@pytest.mark.parametrize(
    ("shell", "reason"),
    [
        ("exit 1", "AlgorithmError: , exit code: 1"),
        (
            "echo the disk is square > /opt/ml/output/failure; exit 3",
            "AlgorithmError: the disk is square, exit code: 3",
        ),
        ("kill -9 $$", "AlgorithmError: , exit code: 137"),
        ("no-such-program", "AlgorithmError: , exit code: 127"),
    ],
)
def test_a_script_that_fails_fails_the_job(desk, shell, reason):
    job = desk.run(shell)
    assert (job["TrainingJobStatus"], job["FailureReason"]) == ("Failed", reason)
    assert statuses(job) == ["Starting", "Downloading", "Training", "Uploading", "Failed"]
    assert job["SecondaryStatusTransitions"][-1]["StatusMessage"] == reason


def test_a_long_failure_file_is_cut_and_keeps_its_exit_code(desk):
    job = desk.run("head -c 5000 /dev/zero | tr '\\0' x > /opt/ml/output/failure; exit 9")
    assert len(job["FailureReason"]) == 1024
    assert job["FailureReason"].endswith("xxx, exit code: 9")


def test_what_a_failed_job_had_written_is_uploaded(desk):
    desk.run("echo half > /opt/ml/output/data/log; exit 1")
    assert desk.keys("out/my-job/output/") == ["output.tar.gz"]


def test_a_program_that_is_not_there_fails_as_in_a_container(desk):
    job = desk.run(AlgorithmSpecification={"ContainerEntrypoint": ["train"]})
    assert job["FailureReason"] == "AlgorithmError: , exit code: 127"
    assert desk.log() == ['exec: "train": executable file not found in $PATH']


def test_stopping_lets_the_script_save_its_model(desk):
    desk.aws.durations.job_stopping = 10
    desk.create("trap 'echo saved > /opt/ml/model/m; exit 0' TERM; echo up; while :; do sleep 0.02; done")
    desk.wait_for_line("up")
    desk.sagemaker.stop_training_job(TrainingJobName="my-job")
    assert desk.describe()["TrainingJobStatus"] in ("Stopping", "Stopped")
    job = desk.wait()
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Stopped", "Stopped")
    assert statuses(job) == ["Starting", "Downloading", "Training", "Stopping", "Uploading", "Stopped"]
    assert desk.keys("out/my-job/output/") == ["model.tar.gz"]
    assert "FailureReason" not in job


def test_a_script_that_ignores_the_signal_is_killed(desk):
    desk.create("trap '' TERM; echo up; while :; do sleep 0.02; done; echo never")
    desk.wait_for_line("up")
    desk.sagemaker.stop_training_job(TrainingJobName="my-job")
    assert desk.wait()["TrainingJobStatus"] == "Stopped"
    assert desk.log() == ["up"]


def test_a_job_stopped_while_starting_never_trains(desk):
    desk.aws.durations.job_starting = 30
    desk.create("touch /opt/ml/model/m")
    desk.sagemaker.stop_training_job(TrainingJobName="my-job")
    job = desk.wait()
    assert statuses(job) == ["Starting", "Stopping", "Stopped"]
    assert "BillableTimeInSeconds" not in job


def test_stopping_twice_is_no_error_and_stopping_an_ended_job_is(desk):
    desk.aws.durations.job_stopping = 0.5
    desk.create("trap '' TERM; echo up; while :; do sleep 0.02; done")
    desk.wait_for_line("up")
    desk.sagemaker.stop_training_job(TrainingJobName="my-job")
    desk.sagemaker.stop_training_job(TrainingJobName="my-job")
    desk.wait()
    with pytest.raises(desk.sagemaker.exceptions.ClientError, match="the training job is in status Stopped"):
        desk.sagemaker.stop_training_job(TrainingJobName="my-job")


def test_the_longest_runtime_ends_a_job(desk):
    job = desk.run("echo m > /opt/ml/model/m; sleep 60", StoppingCondition={"MaxRuntimeInSeconds": 1})
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Stopped", "MaxRuntimeExceeded")
    assert statuses(job)[-3:] == ["Stopping", "Uploading", "MaxRuntimeExceeded"]
    assert desk.keys("out/my-job/output/") == ["model.tar.gz"]


def test_each_change_is_an_event(desk):
    events, sqs = desk.aws.client("events"), desk.aws.client("sqs")
    queue = sqs.create_queue(QueueName="seen")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(
        Name="jobs",
        EventPattern=json.dumps(
            {
                "source": ["aws.sagemaker"],
                "detail-type": ["SageMaker Training Job State Change"],
                "detail": {"TrainingJobName": ["my-job"]},
            }
        ),
    )
    events.put_targets(Rule="jobs", Targets=[{"Id": "queue", "Arn": arn}])
    job = desk.run("exit 1", Tags=[{"Key": "team", "Value": "blue"}])
    seen = []
    while len(seen) < 5:
        for message in sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", []):
            seen.append(json.loads(message["Body"]))
            sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    seen.sort(key=lambda event: len(event["detail"]["SecondaryStatusTransitions"]))
    assert [event["detail"]["SecondaryStatus"] for event in seen] == statuses(job)
    last = seen[-1]
    assert last["resources"] == [job["TrainingJobArn"]]
    assert last["detail"]["TrainingJobStatus"] == "Failed"
    assert last["detail"]["FailureReason"] == "AlgorithmError: , exit code: 1"
    assert last["detail"]["CreationTime"] == int(job["CreationTime"].timestamp() * 1000)
    assert last["detail"]["Tags"] == {"team": "blue"}


def test_several_instances_know_each_other_and_share_their_output(desk):
    desk.put(**{f"data/{number}": "x" for number in range(5)})
    job = desk.run(
        "ls /opt/ml/input/data/all /opt/ml/input/data/some | tr '\\n' ' '; echo; "
        'me=$(sed -n \'s/.*"current_host": "\\(.*\\)".*/\\1/p\' /opt/ml/input/config/resourceconfig.json); '
        "echo 1 > /opt/ml/model/$me",
        ResourceConfig={"InstanceCount": 2},
        InputDataConfig=[
            desk.s3_channel("all", "data/"),
            desk.s3_channel("some", "data/", S3DataDistributionType="ShardedByS3Key"),
        ],
    )
    assert job["TrainingJobStatus"] == "Completed"
    for host, shard in (("algo-1", "0 2 4"), ("algo-2", "1 3")):
        assert desk.log(host=host) == [
            f"/opt/ml/input/data/all: 0 1 2 3 4  /opt/ml/input/data/some: {shard} "
        ]
    body = desk.s3.get_object(Bucket="my-bucket", Key="out/my-job/output/model.tar.gz")["Body"].read()
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        assert sorted(archive.getnames()) == ["algo-1", "algo-2"]


def test_one_instance_that_fails_ends_the_others(desk):
    job = desk.run(
        "grep -q 'current_host.*algo-2' /opt/ml/input/config/resourceconfig.json && exit 4; sleep 60",
        ResourceConfig={"InstanceCount": 2},
    )
    assert job["FailureReason"] == "AlgorithmError: , exit code: 4"


def test_checkpoints_come_back_to_the_next_job(desk):
    shell = "cat /opt/ml/checkpoints/step || true; echo 7 > /opt/ml/checkpoints/step"
    checkpoints = {"S3Uri": "s3://my-bucket/saved"}
    for name in ("first", "second"):
        assert (
            desk.run(shell, TrainingJobName=name, CheckpointConfig=checkpoints)["TrainingJobStatus"]
            == "Completed"
        )
    assert "7" not in desk.log("first")
    assert desk.log("second") == ["7"]
    assert desk.keys("saved/") == ["step"]

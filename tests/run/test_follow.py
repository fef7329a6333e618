"""Runs of a real job on the local AWS, followed to their end."""

import json
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from trainfeed.run import code, launch, logs, templates
from trainfeed.run.follow import Ending, Progress, follow, observe
from trainfeed.run.launch import Run

Script = Callable[[str], Path]

LEAVES_A_MODEL = """
import argparse, os, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--word")
word = parser.parse_args().word
files = sorted(path.name for path in pathlib.Path(os.environ["SM_CHANNEL_TRAIN"]).iterdir())
pathlib.Path(os.environ["SM_MODEL_DIR"], "model.txt").write_text(f"{word} {files}")
"""
FAILS = "import sys\nprint('looking for labels.csv')\nsys.exit('no labels.csv')\n"
LASTS = "import time\ntime.sleep(600)\n"


def start(aws: Any, script: Path, *, dry_run: bool = False, **values: str) -> Run:
    template = templates.find(aws.client, "training")
    pack = code.pack(script)
    address = code.upload(aws.client, pack, template.code)
    return launch.start(
        aws.client, template, code=address, script=pack.script, hyperparameters=values, dry_run=dry_run
    )


def finish(aws: Any, run: Run) -> Progress:
    for progress in follow(aws.client, run):
        last = progress
    return last


@pytest.mark.usefixtures("training")
def test_a_run_is_followed_from_first_step_to_model(aws: Any, script: Script) -> None:
    run = start(aws, script(LEAVES_A_MODEL), word="hello")
    end = finish(aws, run)

    assert [phase.name for phase in end.phases] == [
        "Preparing",
        "Starting",
        "Downloading",
        "Training",
        "Uploading",
    ]
    assert all(phase.ended and phase.started <= phase.ended for phase in end.phases)
    assert end.result is not None
    job = end.result.job
    assert (end.result.ending, end.result.reason) == (Ending.SUCCEEDED, "")
    assert job is not None
    assert job.billable_seconds is not None
    assert (job.name, job.status, job.instances) == (run.name, "Completed", "1 x ml.m5.xlarge")
    assert job.model == f"s3://outputs/outputs/{run.name}/output/model.tar.gz"
    archive = aws.client("s3").get_object(Bucket="outputs", Key=job.model.removeprefix("s3://outputs/"))
    with tarfile.open(fileobj=BytesIO(archive["Body"].read())) as model:
        text = model.extractfile("model.txt")
        assert text is not None
        assert text.read() == b"hello ['one.txt']"


@pytest.mark.usefixtures("training")
def test_a_failed_job_tells_its_reason_and_its_log(aws: Any, script: Script) -> None:
    run = start(aws, script(FAILS))
    result = finish(aws, run).result
    assert result is not None
    assert result.ending is Ending.FAILED
    assert "no labels.csv" in result.reason
    assert result.job is not None

    log = logs.tail(aws.client, log_group=result.job.log_group, job=run.name)
    assert "looking for labels.csv" in log
    assert logs.tail(aws.client, log_group=result.job.log_group, job=run.name, lines=1) == log[-1:]
    assert logs.tail(aws.client, log_group="/aws/sagemaker/None", job=run.name) == ()


@pytest.mark.usefixtures("training")
def test_a_run_whose_job_is_refused_tells_why(aws: Any, script: Script) -> None:
    run = start(aws, script(LASTS), **{f"p{number}": "x" for number in range(101)})
    end = finish(aws, run)
    assert end.result is not None
    assert (end.result.ending, end.result.job) == (Ending.FAILED, None)
    assert "100" in end.result.reason
    assert [phase.name for phase in end.phases] == ["Preparing"]


@pytest.mark.usefixtures("training")
def test_a_run_is_found_again_and_stopped_with_its_job(aws: Any, script: Script) -> None:
    run = start(aws, script(LASTS))
    for progress in follow(aws.client, run):
        if progress.phases[-1].name == "Training":
            break
    found = launch.find(aws.client, run.name)
    assert found == run

    launch.stop(aws.client, found)
    end = finish(aws, found)
    assert end.result is not None
    assert (end.result.ending, end.result.reason) == (Ending.STOPPED, "Stopped by hand")
    assert (
        aws.client("sagemaker").describe_training_job(TrainingJobName=run.name)["TrainingJobStatus"]
        == "Stopped"
    )
    assert observe(aws.client, run) == end


@pytest.mark.usefixtures("training")
def test_a_dry_run_ends_with_the_request_and_no_job(aws: Any, script: Script) -> None:
    run = start(aws, script(LASTS), dry_run=True, word="hello")
    result = finish(aws, run).result
    assert result is not None
    assert (result.ending, result.job) == (Ending.SUCCEEDED, None)
    assert result.output["TrainingJobName"] == run.name
    assert result.output["HyperParameters"] == {"word": "hello"}
    assert aws.client("sagemaker").list_training_jobs()["TrainingJobSummaries"] == []


FILE_SYSTEM = {"FileSystems": [{"FileSystemId": "fs-1", "Lifecycle": "CREATING"}]}
LINKS = [
    {"FileSystemPath": "/data", "Lifecycle": "CREATING"},
    {"FileSystemPath": "/out", "Lifecycle": "AVAILABLE"},
]
TASK = {"Type": "IMPORT_METADATA_FROM_REPOSITORY", "Lifecycle": "PENDING", "Paths": ["/data"], "Status": {}}
COUNTS = {"Lifecycle": "EXECUTING", "Status": {"TotalCount": 1797, "SucceededCount": 898, "FailedCount": 0}}
EXPORT = {"Type": "EXPORT_TO_REPOSITORY", "Lifecycle": "EXECUTING", "Paths": [], "Status": {}}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], ""),
        ([{"Parameter": {"Value": "{}"}}], ""),
        ([FILE_SYSTEM], "file system fs-1 is CREATING"),
        ([{"Associations": LINKS}, FILE_SYSTEM], "S3 link /data is CREATING"),
        ([{"Associations": LINKS[1:]}], "the S3 links are there"),
        ([{"DataRepositoryTasks": [TASK]}, {"Associations": LINKS}], "import of /data is PENDING"),
        (
            [{"DataRepositoryTasks": [EXPORT, TASK | COUNTS]}],
            "import of /data is EXECUTING: 898 of 1,797 files",
        ),
        (
            [{"DataRepositoryTasks": [TASK | {"Lifecycle": "SUCCEEDED", "Status": {"TotalCount": 0}}]}],
            "import of /data has succeeded: 0 of 0 files",
        ),
        ([{"DataRepositoryTasks": [EXPORT]}, {"Associations": LINKS[1:]}], "the S3 links are there"),
    ],
)
def test_what_a_run_waits_for(aws: Any, answers: list[dict[str, Any]], message: str) -> None:
    """The newest answer comes first, as GetExecutionHistory gives them in reverse order."""
    events = [{"type": "WaitStateEntered"}]
    events += [{"taskSucceededEventDetails": {"output": json.dumps(answer)}} for answer in answers]

    class States:
        def describe_execution(self, **_: Any) -> Any:
            return {"status": "RUNNING", "startDate": datetime.now(UTC)}

        def get_execution_history(self, **_: Any) -> Any:
            return {"events": events}

    def client(service: str) -> Any:
        return States() if service == "stepfunctions" else aws.client(service)

    (phase,) = observe(client, Run(name="training-1", execution_arn="arn")).phases
    assert (phase.name, phase.message) == ("Preparing", message)


def test_pauses_grow_as_a_run_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    run, pauses = Run(name="training", execution_arn="arn"), []
    monkeypatch.setattr("trainfeed.run.follow.observe", lambda *_: Progress(run=run, phases=()))
    watching = follow(lambda _: None, run, pause=pauses.append)
    for _ in range(400):
        next(watching)
    assert pauses[0] == 0.5
    assert pauses == sorted(pauses)
    assert pauses[-1] == 15

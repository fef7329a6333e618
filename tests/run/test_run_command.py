"""`trainfeed run`, `follow` and `stop`, as people type them, with a real job."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from trainfeed.cli import main

ROOT = Path(__file__).parents[2]
TRAINFEED = [sys.executable, "-c", "from trainfeed.cli import main; main(prog_name='trainfeed')"]


def call(aws: Any, *arguments: str) -> Result:
    result = CliRunner(env=aws.environment()).invoke(main, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_ctrl_c_leaves_the_job_running_and_says_how_to_go_on(
    aws: Any, training: str, script: Callable[[str], Path]
) -> None:
    path = script("import time\ntime.sleep(600)\n")
    with subprocess.Popen(
        [*TRAINFEED, "run", training, "--script", str(path)],
        env={**os.environ, **aws.environment(), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        assert child.stdout is not None
        said = ""
        for line in child.stdout:
            said += line
            if line.startswith("Training ..."):
                child.send_signal(signal.SIGINT)
        assert child.wait() == 130
    name = said.splitlines()[0]
    assert f"trainfeed follow {name}" in said
    assert f"trainfeed stop {name}" in said
    describe = aws.client("sagemaker").describe_training_job
    assert describe(TrainingJobName=name)["TrainingJobStatus"] == "InProgress"

    stopped = call(aws, "stop", name)
    assert (stopped.exit_code, stopped.output) == (0, f"Stopped {name}.\n")
    again = call(aws, "stop", name)
    assert (again.exit_code, again.output) == (0, f"{name} has ended already: it was stopped.\n")
    followed = call(aws, "follow", name)
    assert followed.exit_code == 1
    assert "Stopped after" in followed.output
    assert describe(TrainingJobName=name)["TrainingJobStatus"] == "Stopped"


def test_a_run_ends_with_its_model_or_its_reason(
    aws: Any, training: str, script: Callable[[str], Path]
) -> None:
    fine = call(aws, "run", training, "--script", str(script("print('fine')\n")))
    assert fine.exit_code == 0
    assert "Succeeded in" in fine.output
    assert "Model     s3://outputs/outputs/training-" in fine.output

    path = script("import sys\nprint('looking')\nsys.exit('no labels.csv')\n")
    failed = call(aws, "run", training, "--script", str(path))
    assert failed.exit_code == 1
    assert re.search(r"Failed after .*no labels\.csv", failed.output, re.DOTALL)
    assert "  looking" in failed.output
    name = failed.output.splitlines()[0]
    assert f"Log       trainfeed logs {name}\n" in failed.output
    assert "looking\n" in call(aws, "logs", name).output


def test_a_traceback_is_shown_once(aws: Any, training: str, script: Callable[[str], Path]) -> None:
    failed = call(aws, "run", training, "--script", str(script("raise ValueError('no labels.csv')\n")))
    assert re.search(r"Failed after \S+ s: ValueError: no labels\.csv, exit code: 1\n", failed.output)
    assert failed.output.count("Traceback") == 1


def test_a_dry_run_prints_the_request_alone(aws: Any, training: str, script: Callable[[str], Path]) -> None:
    path = script("print('fine')\n")
    result = call(aws, "run", training, "--script", str(path), "-p", "epochs=3", "-p", "rate=1", "--dry-run")
    assert result.exit_code == 0
    request = json.loads(result.stdout)
    assert request["HyperParameters"] == {"epochs": "3", "rate": "1"}
    assert request["InputDataConfig"][0]["ChannelName"] == "train"
    assert aws.client("s3").list_objects_v2(Bucket="outputs").get("Contents", []) == []

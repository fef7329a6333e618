"""The steps of scripts/quickstart: each command is shown before it runs, as you would type it.

Whatever happens, the local AWS is stopped at the end, and with it all that ran on it.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import boto3
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from trainfeed.report import units
from trainfeed.run import follow

STATE = Path(".trainfeed/quickstart")
OUTPUTS = STATE / "outputs.json"
TRAIN = "examples/digits/train.py"
#: Enough of a failed command's output to see why.
LAST_LINES = 40

console = Console(highlight=False)


def main() -> None:
    """Start a local AWS, deploy, train twice, destroy, and show that nothing is left."""
    began = time.monotonic()
    prepare()
    console.print(
        Panel(
            "A training job that reads through FSx for Lustre, deployed by the real CDK:\n"
            "on this machine, with no AWS account and at no cost.",
            title="trainfeed quickstart",
            title_align="left",
            box=box.ROUNDED,
        )
    )
    with local_aws():
        deploy()
        jobs = train()
        destroy()
    shutil.rmtree(STATE)
    console.print(compare(jobs))
    console.print(f"Done in {units.seconds(time.monotonic() - began)}.\n")
    console.print(Text(AFTERWARDS))


def prepare() -> None:
    """Make a folder for all that is written, after whatever an earlier quickstart left there."""
    os.environ["TRAINFEED_LOCAL"] = str(STATE)
    if STATE.exists():
        subprocess.run(["trainfeed", "local", "stop"], capture_output=True, check=False)
        shutil.rmtree(STATE)
    temporary = STATE.absolute() / "tmp"
    temporary.mkdir(parents=True)
    os.environ["TMPDIR"] = str(temporary)


AFTERWARDS = """\
The same on AWS. The file system costs about 0.23 USD an hour while it exists.

  source .venv/bin/activate
  aws sso login                    or any other way to AWS credentials
  cdk bootstrap                    once an account and Region
  cdk deploy DatasetStack          names the bucket; put your data below data/
  trainfeed check                  asks AWS whether the rest can be deployed
  cdk deploy FsxLustreStack TrainingJobStack
  trainfeed run training --script YOUR/train.py
  cdk destroy --all                ends the billing; your buckets stay

More in README.md."""


@contextmanager
def local_aws() -> Iterator[None]:
    """An AWS on 127.0.0.1 that ends with this block, however it ends."""
    step("Start an AWS on this machine")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: sys.exit(128 + got))
    try:
        command("trainfeed local start")
        console.print(Text('  $ eval "$(trainfeed local env)"', style="bold"))
        environment = run(["bash", "-c", 'eval "$(trainfeed local env)" && env -0'], quiet=True)
        os.environ.clear()
        for variable in environment.split("\0"):
            name, _, value = variable.partition("=")
            if name:
                os.environ[name] = value
        yield
        step("Stop the local AWS")
        command("trainfeed local stop")
    except BaseException:
        # A second Ctrl-C must not leave it running.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        subprocess.run(["trainfeed", "local", "stop"], capture_output=True, check=False)
        raise


def deploy() -> None:
    """Buckets first, then the data, then the file system that imports it, and the job templates."""
    step("Make the buckets, and put 1,797 pictures of handwritten digits there")
    command("cdk bootstrap")
    command(f"cdk deploy DatasetStack --require-approval never --outputs-file {OUTPUTS}")
    command(f"python examples/digits/data.py s3://{outputs('DatasetStack')['DataBucket']}/data")

    step("Make an FSx for Lustre file system linked to that bucket, and two job templates")
    command("cdk deploy FsxLustreStack TrainingJobStack --require-approval never")
    command("cdk deploy TrainingFileJobStack --require-approval never")


def train() -> dict[str, dict[str, Any]]:
    """Train the same script twice, and return both training jobs by their source."""
    step("Train with S3 File mode: the data is copied to the instance first")
    command(f"trainfeed run training-file --script {TRAIN}", show=True)
    step("Train through FSx for Lustre: the data is read where it is")
    command(f"trainfeed run training --script {TRAIN}", show=True)
    sagemaker = boto3.client("sagemaker")
    newest = sagemaker.list_training_jobs(SortBy="CreationTime", SortOrder="Descending")[
        "TrainingJobSummaries"
    ]
    through_fsx, file_mode = (
        sagemaker.describe_training_job(TrainingJobName=job["TrainingJobName"]) for job in newest[:2]
    )
    return {"S3 File mode": measured(file_mode), "FSx for Lustre": measured(through_fsx)}


def destroy() -> None:
    """Take everything down, and show what is left."""
    step("Take it all down")
    command("cdk destroy --all --force")
    command("trainfeed ls", show=True)
    buckets = (outputs("DatasetStack")[name] for name in ("DataBucket", "OutputBucket"))
    step("Buckets outlive their stacks, as they hold your data; these go by name")
    command(f"trainfeed delete-bucket {' '.join(buckets)} --yes", show=True)


def compare(jobs: dict[str, dict[str, Any]]) -> Table:
    """Both jobs side by side."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    for source in jobs:
        table.add_column(source, justify="right")
    rows = dict.fromkeys(row for job in jobs.values() for row in job)
    for row in rows:
        table.add_row(row, *(job.get(row, "") for job in jobs.values()))
    return table


def measured(job: dict[str, Any]) -> dict[str, str]:
    """Phases, billable time and accuracy of a training job."""
    now = datetime.now(UTC)
    rows = {phase.name: units.seconds(phase.seconds(now)) for phase in follow.job_phases(job)}
    rows["Billable"] = units.seconds(job["BillableTimeInSeconds"])
    rows["Accuracy"] = f"{accuracy(job['ModelArtifacts']['S3ModelArtifacts']):.3f}"
    return rows


def accuracy(model: str) -> float:
    """What the script left in metrics.json beside its model."""
    bucket, _, key = model.removeprefix("s3://").partition("/")
    archive = boto3.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        metrics = files.extractfile("metrics.json")
        if metrics is None:
            raise SystemExit(f"There is no metrics.json in {model}.")
        return json.load(metrics)["accuracy"]


def outputs(stack: str) -> dict[str, str]:
    """What a stack put out when it was deployed."""
    return json.loads(OUTPUTS.read_text())[stack]


def step(title: str) -> None:
    """Announce the next step."""
    console.print(Text(f"\n{title}", style="bold cyan"))


def command(line: str, *, show: bool = False) -> None:
    """Show a command, run it, and say how long it took; its output only where it is worth reading."""
    console.print(Text(f"  $ {line}", style="bold"), soft_wrap=True)
    began = time.monotonic()
    if show:
        run(shlex.split(line), show=True)
        return
    with console.status("  ..."):
        run(shlex.split(line))
    console.print(Text(f"    {units.seconds(time.monotonic() - began)}", style="dim"))


def run(arguments: list[str], *, show: bool = False, quiet: bool = False) -> str:
    """Run a command to its end, or end it, and all it started, if this ends first."""
    log = STATE / "last-command.log"
    with log.open("w+") as output:
        child = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=None if show else output,
            stderr=None if show else (subprocess.DEVNULL if quiet else output),
            process_group=0,
        )
        try:
            code = child.wait()
        except BaseException:
            end(child)
            raise
        output.seek(0)
        said = output.read()
    if code != 0:
        fail(arguments, code, said)
    return said


def end(child: subprocess.Popen[bytes]) -> None:
    """End a command with its whole process group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is None:
            os.killpg(child.pid, number)
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                continue


def fail(arguments: list[str], code: int, said: str) -> NoReturn:
    """Show why a command failed, and end."""
    for line in said.splitlines()[-LAST_LINES:]:
        console.print(Text(f"    {line}", style="dim"), soft_wrap=True)
    console.print(Text(f"  {shlex.join(arguments)} ended with {code}.", style="bold red"), soft_wrap=True)
    raise SystemExit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        console.print("\nStopped; nothing is left running.")
        raise SystemExit(130) from None

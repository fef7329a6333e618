"""A project's whole life with the real CDK CLI, against the local AWS of this process."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from trainfeed.local.durations import Durations
from trainfeed.local.server import LocalAws

ROOT = Path(__file__).parents[2]


@dataclass
class Project:
    """The checkout as its user has it: a settings file, the CDK CLI and the trainfeed command."""

    aws: LocalAws
    folder: Path

    def settings(self, change: Callable[[Any], None]) -> None:
        """Edit the project's trainfeed.yaml."""
        yaml, file = YAML(), self.folder / "trainfeed.yaml"
        content = yaml.load(file)
        change(content)
        yaml.dump(content, file)

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command as the user would from a shell."""
        variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK"))
        }
        return subprocess.run(
            [str(word) for word in command],
            cwd=ROOT,
            env={
                **variables,
                **self.aws.environment(),
                "CDK_VALIDATION": "false",
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}",
                "TRAINFEED_CONFIG": str(self.folder / "trainfeed.yaml"),
                "NO_COLOR": "1",
            },
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=240,
            check=False,
        )

    def cdk(self, verb: str, *arguments: str, fails: bool = False) -> str:
        """Run the CDK CLI; its output. It must end well, or badly where `fails` says so."""
        asked = {"deploy": ("--require-approval", "never"), "destroy": ("--force",)}.get(verb, ())
        done = self.run("cdk", verb, *arguments, *asked, "--output", self.folder / "cdk.out")
        assert (done.returncode != 0) is fails, done.stdout
        return done.stdout

    def upload(self, objects: dict[str, bytes]) -> None:
        """Put objects into the folder of the dataset."""
        (bucket,) = self.outputs("DatasetStack", "DataBucket")
        for key, body in objects.items():
            self.aws.client("s3").put_object(Bucket=bucket, Key=f"data/{key}", Body=body)

    def outputs(self, stack: str, *names: str) -> list[str]:
        """Outputs of a stack, by name."""
        described = self.aws.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
        values = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
        return [values[name] for name in names]

    def listing(self, job: str) -> set[str]:
        """What a training job of this template sees in its channel `train`, told by the job itself."""
        before = self._models()
        done = self.run("trainfeed", "run", job, "--script", self.folder / "list.py")
        assert done.returncode == 0, done.stdout
        (made,) = self._models() - before
        (bucket,) = self.outputs("DatasetStack", "OutputBucket")
        body = self.aws.client("s3").get_object(Bucket=bucket, Key=made)["Body"].read()
        with tarfile.open(fileobj=BytesIO(body)) as archive:
            member = archive.extractfile("listing.txt")
            assert member is not None
            return set(member.read().decode().split())

    def file_systems(self) -> list[dict[str, Any]]:
        """Every file system there is, whatever its state."""
        return self.aws.client("fsx").describe_file_systems()["FileSystems"]

    def _models(self) -> set[str]:
        (bucket,) = self.outputs("DatasetStack", "OutputBucket")
        listed = self.aws.client("s3").list_objects_v2(Bucket=bucket, Prefix="outputs/").get("Contents", [])
        return {entry["Key"] for entry in listed if entry["Key"].endswith("model.tar.gz")}


_LIST = """\
import os, pathlib
train, model = pathlib.Path(os.environ["SM_CHANNEL_TRAIN"]), pathlib.Path(os.environ["SM_MODEL_DIR"])
found = sorted(f"{file.relative_to(train)}={file.read_text()}" for file in train.rglob("*") if file.is_file())
(model / "listing.txt").write_text("\\n".join(found))
"""


@pytest.fixture(scope="module")
def project(running_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """An account that is bootstrapped and empty, and a project with the settings that ship."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "trainfeed.yaml").write_text((ROOT / "trainfeed.yaml").read_text())
    (folder / "list.py").write_text(_LIST)
    running_aws.reset()
    durations = vars(running_aws.durations).copy()
    vars(running_aws.durations).update(vars(Durations()))
    project = Project(running_aws, folder)
    project.cdk("bootstrap")
    yield project
    vars(running_aws.durations).update(durations)
    running_aws.reset()

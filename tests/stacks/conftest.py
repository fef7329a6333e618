"""The app as settings make it, synthesised once for each set of settings."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App
from ruamel.yaml import YAML

from stacks.main import build
from stacks.settings import read

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Assembly:
    """What a synth wrote.

    Attributes:
        folder: where.
        templates: by stack.
        dependencies: the stacks that each stack needs, by stack.
        messages: the warnings and notes of each stack, by stack.
    """

    folder: Path
    templates: dict[str, dict[str, Any]]
    dependencies: dict[str, set[str]]
    messages: dict[str, list[str]]

    @classmethod
    def read(cls, folder: Path) -> "Assembly":
        """Read a cloud assembly."""
        stacks = {path.name.split(".")[0]: path for path in folder.glob("*.template.json")}
        artifacts = json.loads((folder / "manifest.json").read_text())["artifacts"]
        return cls(
            folder=folder,
            templates={name: json.loads(path.read_text()) for name, path in stacks.items()},
            dependencies={
                name: set(artifacts[name].get("dependencies", ())) & set(stacks) for name in stacks
            },
            messages={name: list(_messages(folder, artifacts[name])) for name in stacks},
        )

    def resources(self, stack: str, type_: str) -> dict[str, Any]:
        """The resources of a type in a stack, by logical id."""
        found = self.templates[stack]["Resources"].items()
        return {id_: body for id_, body in found if body["Type"] == type_}

    def outputs(self, stack: str) -> dict[str, Any]:
        """The values of a stack's outputs, by name."""
        return {name: output["Value"] for name, output in self.templates[stack].get("Outputs", {}).items()}


def _messages(folder: Path, artifact: dict[str, Any]) -> Any:
    metadata = json.loads((folder / artifact["additionalMetadataFile"]).read_text())
    for entries in metadata.values():
        for entry in entries:
            if entry["type"] in ("aws:cdk:info", "aws:cdk:warning", "aws:cdk:error"):
                yield entry["data"]


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Callable[[Any], None] | str], Path]:
    """Writes settings: the text given, or the project's own with a change made to them."""

    def to_file(change: Callable[[Any], None] | str) -> Path:
        path = tmp_path_factory.mktemp("settings") / "trainfeed.yaml"
        if isinstance(change, str):
            path.write_text(change)
            return path
        yaml = YAML()
        content = yaml.load(ROOT / "trainfeed.yaml")
        change(content)
        yaml.dump(content, path)
        return path

    return to_file


@pytest.fixture(scope="session")
def flags() -> dict[str, Any]:
    """The context that the CDK CLI takes from cdk.json."""
    return json.loads((ROOT / "cdk.json").read_text())["context"]


@pytest.fixture(scope="session")
def synth(
    write: Callable[..., Path], flags: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Assembly]:
    """Synthesises the app from settings, as the CDK CLI would in a Region."""

    def run(change: Callable[[Any], None] | str, *, region: str | None = "us-east-1") -> Assembly:
        app = App(context=flags, analytics_reporting=False, outdir=str(tmp_path_factory.mktemp("cdk.out")))
        with pytest.MonkeyPatch.context() as environment:
            environment.delenv("CDK_DEFAULT_ACCOUNT", raising=False)
            environment.delenv("CDK_DEFAULT_REGION", raising=False)
            if region:
                environment.setenv("CDK_DEFAULT_ACCOUNT", "123456789012")
                environment.setenv("CDK_DEFAULT_REGION", region)
            build(app, read(write(change)))
        return Assembly.read(Path(app.synth().directory))

    return run


@pytest.fixture(scope="session")
def app_as_shipped(synth: Callable[..., Assembly]) -> Assembly:
    """The app as trainfeed.yaml is shipped."""
    return synth(lambda _: None)

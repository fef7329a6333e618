"""What every test shares."""

import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import app  # noqa: F401  says where Node and the constructs are, before the CDK is imported

# The CDK's own validation costs four seconds a synth; one test of the whole app turns it on.
os.environ.setdefault("CDK_VALIDATION", "false")

# No test may find credentials, a profile or a region of the person who runs it.
for _name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[_name]
os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"


@pytest.fixture(scope="session")
def running_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator["LocalAws"]:  # noqa: F821
    """The local AWS of this test process, on a free port."""
    from trainfeed.local.server import LocalAws

    with LocalAws(state=Path(tmp_path_factory.mktemp("local-aws"))) as aws:
        yield aws


@pytest.fixture
def aws(running_aws: "LocalAws") -> Iterator["LocalAws"]:  # noqa: F821
    """An empty local AWS, with lifecycles short enough to wait for; a test may change its durations."""
    durations = running_aws.durations
    before = {field.name: getattr(durations, field.name) for field in fields(durations)}
    for name in before:
        setattr(durations, name, 0.05)
    yield running_aws
    running_aws.reset()
    for name, seconds in before.items():
        setattr(durations, name, seconds)

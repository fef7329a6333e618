import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run_app(tmp_path):
    """Runs `python app.py` as the CDK CLI does, with more of its environment."""

    def run(*, context=None, folder=ROOT, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CDK_", "JSII_"))}
        context = {**json.loads((ROOT / "cdk.json").read_text())["context"], **(context or {})}
        # Where an environment is not active, `node` is not on the PATH, or is another one.
        cdk = {
            "CDK_OUTDIR": str(tmp_path / "cdk.out"),
            "CDK_CONTEXT_JSON": json.dumps(context),
            "PATH": "/usr/bin:/bin",
        }
        return subprocess.run(
            [sys.executable, ROOT / "app.py"],
            cwd=folder,
            env={**kept, **cdk, **variables},
            text=True,
            capture_output=True,
            check=False,
        )

    return run


def test_the_whole_app_passes_the_cdks_own_validation_without_a_word(run_app, tmp_path):
    done = run_app(CDK_DEFAULT_ACCOUNT="123456789012", CDK_DEFAULT_REGION="us-east-1")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    report = json.loads((tmp_path / "cdk.out" / "validation-report.json").read_text())
    assert report["pluginReports"] == []


def test_the_app_synthesises_without_a_word_where_account_and_region_are_open(run_app):
    done = run_app(CDK_VALIDATION="false")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_wrong_settings_are_lines_and_no_traceback(run_app, write):
    def change(content):
        content["sources"]["fsx-lustre"]["storage_capacity_gib"] = 3600
        content["jobs"]["training"]["instance_type"] = "m5.large"

    path = write(change)
    done = run_app(TRAINFEED_CONFIG=str(path), CDK_VALIDATION="false")

    assert done.returncode == 1
    assert done.stdout == ""
    told = done.stderr.splitlines()
    assert len(told) == 2
    assert all(line.startswith(f"{path}:") for line in told)
    assert "LUSTRE-CAPACITY" in told[0]
    assert "JOB-INSTANCE-TYPE" in told[1]


@pytest.mark.parametrize("how", ["environment", "context"])
def test_other_settings_can_be_named(run_app, write, tmp_path, how):
    path = str(write("jobs: {mine: {channels: {train: {source: s3}}}}"))
    if how == "environment":
        done = run_app(TRAINFEED_CONFIG=path, CDK_VALIDATION="false")
    else:
        done = run_app(context={"config": path}, CDK_VALIDATION="false")

    assert (done.returncode, done.stderr) == (0, "")
    templates = {file.name for file in (tmp_path / "cdk.out").glob("*.template.json")}
    assert templates == {"DatasetStack.template.json", "MineJobStack.template.json"}


def test_a_missing_settings_file_says_how_to_name_one(run_app, tmp_path):
    done = run_app(folder=tmp_path)

    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert told.startswith("trainfeed.yaml: there is no such file.")
    assert "TRAINFEED_CONFIG=PATH" in told

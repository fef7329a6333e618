"""`trainfeed recommend` from the shell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from trainfeed.cli import main

_ROOT = Path(__file__).parents[1]
STATED = ("--size", "54 GB", "--files", "1,530,350", "--instance-type", "ml.g5.2xlarge", "--epochs", "3")
ON_EFS = (
    "--location",
    "efs",
    "--efs-stored",
    "2 TB",
    "--efs-throughput",
    "bursting",
    "--file-size",
    "110 MB",
    "--consumption",
    "12 MB/s",
)
FILE = """\
size: 54 GB
files: 490
instance_type: ml.g5.2xlarge
consumption: 12 MB/s
"""


@pytest.fixture(autouse=True)
def own_book(monkeypatch, tmp_path):
    """No price book of whoever runs the tests, and no credentials."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)


def invoke(*arguments):
    return CliRunner().invoke(main, ["recommend", *map(str, arguments)])


def test_options_alone_get_an_answer():
    result = invoke(*STATED)
    assert result.exit_code == 0
    assert result.output.startswith("Use ")
    assert "The flow chart of AWS" in result.output


def test_a_file_gets_an_answer_and_options_go_before_it(tmp_path):
    file = tmp_path / "workload.yaml"
    file.write_text(FILE)
    result = invoke(file, "--epochs", "7", "--json", "--on", "2026-10-01")
    assert result.exit_code == 0
    said = json.loads(result.output)
    assert said["workload"]["epochs"] == 7
    assert said["workload"]["files"] == 490
    assert said["prices_on"] == "2026-10-01"
    assert said["version"] == 1


def test_a_page_and_settings_are_written(tmp_path):
    page, settings = tmp_path / "report.html", tmp_path / "job.yaml"
    result = invoke(*STATED, "--html", page, "--write", settings)
    assert result.exit_code == 0
    assert page.read_text().startswith("<!doctype html>")
    assert "instance_type: ml.g5.2xlarge" in settings.read_text()
    assert f"Wrote {page}." in result.output


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_cannot_be_deployed_is_an_answer_without_settings(tmp_path, form):
    page, settings = tmp_path / "report.html", tmp_path / "job.yaml"
    result = invoke(*STATED[:2], *STATED[4:], *ON_EFS, "--html", page, "--write", settings, *form)
    assert result.exit_code == 0
    assert result.stderr.startswith("no settings written: EFS was chosen")
    assert page.read_text().startswith("<!doctype html>")
    assert not settings.exists()
    if form:
        assert json.loads(result.stdout)["chosen"]["source"] == "EFS"
    else:
        assert result.stdout.startswith("Use EFS: ")
        assert f"Wrote {page}." in result.stdout
        assert f"Wrote {settings}." not in result.stdout


def test_no_source_is_an_answer_too():
    result = invoke(*STATED, "--s3-data-type", "AugmentedManifestFile", "--access", "random")
    assert result.exit_code == 0
    assert result.output.startswith("None of the five sources")


BAD = [
    ((), "size: nothing was stated"),
    (("--size", "54 GB"), "size: size alone does not say"),
    ((*STATED, "--epochs", "some"), "epochs: 'some' is not allowed"),
    ((*STATED, "--access", "randum"), "did you mean random"),
    ((*STATED, "--html", "/no/such/folder/report.html"), "/no/such/folder/report.html"),
    ((*STATED, "--write", "/no/such/folder/job.yaml"), "/no/such/folder/job.yaml"),
    ((*STATED, "--on", "2000-01-01"), "--on: the first price known is of 20"),
    (("no-such-file.yaml",), "no-such-file.yaml"),
    ((*STATED, "--prefer", "beauty"), "'beauty' is not one of"),
    ((*STATED, "--colour", "red"), "No such option"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD)
def test_bad_input_is_named_and_ends_with_2(arguments, said):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


def test_every_fault_of_a_file_is_named(tmp_path):
    file = tmp_path / "workload.yaml"
    file.write_text("size: 54 G\nfilez: 490\nepochs: 0\n")
    result = invoke(file)
    assert result.exit_code == 2
    for said in (
        "size: '54 G'",
        "filez: unknown field. Did you mean `files`?",
        "epochs: 0",
        "instance_type: is missing",
    ):
        assert said in result.output


def test_a_broken_price_book_is_named(tmp_path):
    folder = tmp_path / "config" / "trainfeed" / "prices"
    folder.mkdir(parents=True)
    (folder / "us-east-1.json").write_text("{")
    result = invoke(*STATED)
    assert result.exit_code == 2
    assert "us-east-1.json" in result.output


def test_the_answer_is_quick_for_it_imports_little():
    heavy = ("aws_cdk", "boto3", "botocore", "ministack", "pydantic", "rich")
    program = (
        "import sys; from trainfeed.cli import main; main(sys.argv[1:], standalone_mode=False); "
        f"print('imported', *sorted(set({heavy!r}) & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, "recommend", *STATED],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines()[-1] == "imported"

"""The scripts, as far as they can be tried without installing anything."""

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted([*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"])
BASH = [path for path in SCRIPTS if path.read_text().startswith("#!/usr/bin/env bash\n")]
SETUP = ("pyproject.toml", "requirements.txt", "package-lock.json", "scripts/setup")


@pytest.mark.parametrize("script", BASH, ids=lambda path: path.name)
def test_a_script_can_be_run_and_is_sound(script: Path) -> None:
    assert script.stat().st_mode & stat.S_IXUSR
    subprocess.run(["bash", "-n", str(script)], check=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files that set-up reads, in a folder of their own."""
    for name in SETUP:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(project: Path, *arguments: str, python: str) -> subprocess.CompletedProcess[str]:
    """Run set-up with no Python but a stand-in, from another folder."""
    tools = project / "tools"
    tools.mkdir()
    for name in ("bash", "cat", "cksum", "dirname", "env", "grep", "rm"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    (tools / "python3").write_text(f"#!/bin/sh\n{python}\n")
    (tools / "python3").chmod(0o755)
    return subprocess.run(
        [str(project / "scripts" / "setup"), *arguments],
        env={"PATH": str(tools), "HOME": str(project)},
        cwd="/",
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_python_that_is_too_old_is_told(project: Path) -> None:
    old = 'if [ "$1" = --version ]; then echo Python 3.9.2; else exit 1; fi'
    done = run(project, python=old)
    assert done.returncode == 1
    assert done.stderr.startswith("trainfeed needs Python 3.11, 3.12 or 3.13 with venv and pip")
    assert "python3 here is Python 3.9.2" in done.stderr
    assert not (project / ".venv").exists()


def stamp(project: Path, what: str) -> None:
    """Leave the sign that set-up has been through."""
    sums = b"".join((project / name).read_bytes() for name in SETUP)
    count = subprocess.run(["cksum"], input=sums, capture_output=True, check=True).stdout.decode().strip()
    (project / ".venv").mkdir()
    (project / ".venv" / f"{what}.stamp").write_text(f"{project} {count}\n")


@pytest.mark.parametrize(("made", "asked"), [("runtime", "runtime"), ("all", "all"), ("all", "runtime")])
def test_a_second_run_does_nothing(project: Path, made: str, asked: str) -> None:
    stamp(project, made)
    done = run(project, asked, python="exit 1")
    ready = "Ready. Use it in this shell:  source .venv/bin/activate\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, ready, "")


@pytest.mark.parametrize("change", ["requirements.txt", "package-lock.json", "pyproject.toml"])
def test_a_changed_lock_sets_up_again(project: Path, change: str) -> None:
    stamp(project, "all")
    with (project / change).open("a") as file:
        file.write("\n")
    assert run(project, python="exit 1").returncode == 1


def test_the_tests_set_up_what_a_quickstart_left_out(project: Path) -> None:
    stamp(project, "runtime")
    assert run(project, "all", python="exit 1").returncode == 1

"""What `eval "$(trainfeed local env)"` does to a shell where no local AWS runs."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRAINFEED = [sys.executable, "-c", "from trainfeed.cli import main; main(prog_name='trainfeed')"]


def test_it_fails_and_changes_nothing(tmp_path: Path) -> None:
    command = shlex.join(TRAINFEED)
    shell = f'export AWS_PROFILE=mine; eval "$({command} local env)" && echo deployed; echo $AWS_PROFILE'
    done = subprocess.run(
        ["bash", "-c", shell],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "mine\n"
    assert "trainfeed local start" in done.stderr

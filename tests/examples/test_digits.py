"""The example: its data is real, and its script learns from it."""

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

DIGITS = Path(__file__).parents[2] / "examples" / "digits"


def run(script: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, str(DIGITS / script), *arguments],
        env={**os.environ, **environment},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_digits_are_written_and_learnt(tmp_path: Path) -> None:
    data, model = tmp_path / "digits", tmp_path / "model"
    model.mkdir()
    assert run("data.py", str(data)) == f"1,797 pictures written to {data}\n"
    parts = Counter(path.parent.parent.name for path in data.rglob("*.png"))
    assert parts == {"train": 1438, "test": 359}
    with Image.open(next(data.rglob("*.png"))) as picture:
        assert (picture.size, picture.mode) == ((8, 8), "L")

    said = run("train.py", SM_CHANNEL_TRAIN=str(data), SM_MODEL_DIR=str(model))
    accuracy = json.loads((model / "metrics.json").read_text())["accuracy"]
    assert accuracy > 0.9
    assert f"accuracy={accuracy:.4f}" in said
    assert (model / "model.pkl").stat().st_size > 0


def test_a_channel_without_pictures_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DIGITS / "train.py")],
        env={**os.environ, "SM_CHANNEL_TRAIN": str(tmp_path), "SM_MODEL_DIR": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == f"There is no LABEL/*.png below {tmp_path / 'train'}.\n"


@pytest.mark.parametrize(("prefix", "folder"), [("/data", "data/"), ("/data/", "data/"), ("", "")])
def test_the_digits_go_to_s3(aws: Any, monkeypatch: pytest.MonkeyPatch, prefix: str, folder: str) -> None:
    spec = importlib.util.spec_from_file_location("digits_data", DIGITS / "data.py")
    assert spec is not None
    assert spec.loader is not None
    data = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(data)
    monkeypatch.setattr(data.boto3, "client", aws.client)
    monkeypatch.setattr(
        data, "pngs", lambda: iter([("train/0/0000.png", b"one"), ("test/4/0004.png", b"two")])
    )
    aws.client("s3").create_bucket(Bucket="digits")
    assert data.write(f"s3://digits{prefix}") == 2
    keys = [item["Key"] for item in aws.client("s3").list_objects_v2(Bucket="digits")["Contents"]]
    assert keys == [f"{folder}test/4/0004.png", f"{folder}train/0/0000.png"]

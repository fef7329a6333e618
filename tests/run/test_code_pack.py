"""Packing a script or a folder for the code channel."""

import os
from pathlib import Path

import pytest

from trainfeed.run import code
from trainfeed.run.aws import UserError
from trainfeed.sources import S3Uri


def write(folder: Path, *names: str, text: str = "print('hi')\n") -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("names", "script"),
    [
        (["train.py"], "train.py"),
        (["train.py", "model.py", "data/labels.txt"], "train.py"),
        (["fit.py"], "fit.py"),
        (["fit.py", "package/train.py"], "fit.py"),
    ],
)
def test_a_folder_starts_with_train_py_or_its_only_script(
    tmp_path: Path, names: list[str], script: str
) -> None:
    pack = code.pack(write(tmp_path, *names))
    assert pack.script == script
    assert set(pack.files) == {*names, code.DRIVER}


@pytest.mark.parametrize("script", ["fit.py", "fit.sh"])
def test_a_file_travels_alone(tmp_path: Path, script: str) -> None:
    pack = code.pack(write(tmp_path, script, "other.py") / script)
    assert pack.script == script
    assert set(pack.files) == {script, code.DRIVER}


def test_what_is_not_code_stays_behind(tmp_path: Path) -> None:
    write(
        tmp_path,
        "train.py",
        ".git/config",
        ".env",
        "__pycache__/train.pyc",
        "old.pyc",
        "lib/__pycache__/x.pyc",
    )
    os.symlink(tmp_path, tmp_path / "circle")
    assert set(code.pack(tmp_path).files) == {"train.py", code.DRIVER}


def test_the_same_code_has_the_same_address_and_other_code_another(tmp_path: Path) -> None:
    one = code.pack(write(tmp_path / "one", "train.py", "b.py"))
    same = code.pack(write(tmp_path / "same", "b.py", "train.py"))
    renamed = code.pack(write(tmp_path / "renamed", "train.py", "c.py"))
    changed = code.pack(write(tmp_path / "changed", "train.py", "b.py", text="print('ho')\n"))
    prefix = S3Uri.parse("s3://bucket/code")
    assert one.address(prefix) == same.address(prefix)
    assert len({pack.address(prefix) for pack in (one, renamed, changed)}) == 3
    assert str(one.address(prefix)) == f"s3://bucket/code/{one.digest}"


@pytest.mark.parametrize(
    ("names", "path", "says"),
    [
        ([], "nothing.py", "There is no script at"),
        ([], ".", "holds no Python file at its top"),
        (["a.py", "b.py"], ".", "holds 2 Python files and none is train.py"),
        (["readme.md"], "readme.md", "is neither a .py nor a .sh script"),
        (["train.py", "trainfeed_entry.py"], ".", "trainfeed's own starter"),
    ],
)
def test_what_cannot_be_started_is_refused(tmp_path: Path, names: list[str], path: str, says: str) -> None:
    write(tmp_path, *names)
    with pytest.raises(UserError, match=says):
        code.pack(tmp_path / path)


def test_an_empty_script_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"train\.py is empty"):
        code.pack(write(tmp_path, "train.py", text=" \n"))


def test_a_folder_of_data_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "train.py", "a.txt")
    monkeypatch.setattr(code, "MOST_FILES", 2)
    assert code.pack(tmp_path).script == "train.py"
    write(tmp_path, "b.txt")
    with pytest.raises(UserError, match=r"holds 3 files .* Data belongs in the dataset bucket"):
        code.pack(tmp_path)

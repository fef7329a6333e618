"""The user's code, packed by content hash and sent to S3, from where it arrives as the channel `code`."""

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from trainfeed.run.aws import Client, UserError
from trainfeed.run.aws import code as error_code
from trainfeed.sources import S3Uri

#: The file that starts the script inside the container.
DRIVER = "trainfeed_entry.py"
#: More than this is data or an environment, not code.
MOST_FILES = 1_000
MOST_BYTES = 250 * 1024**2

_WANTED = "Give a script, or a folder with a train.py in it."


@dataclass(frozen=True, kw_only=True)
class CodePack:
    """Code ready to be sent.

    Attributes:
        files: the bytes of each file, by its path inside the channel.
        script: the file to start, a key of `files`.
    """

    files: Mapping[str, bytes]
    script: str

    @property
    def digest(self) -> str:
        """SHA-256 over names and contents: the same code has the same address."""
        total = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            total.update(f"{name}\0{len(content)}\0".encode())
            total.update(content)
        return total.hexdigest()

    def address(self, code: S3Uri) -> S3Uri:
        """Where this pack lives below the code prefix of a job template."""
        return S3Uri.parse(f"{code}/{self.digest}")


def pack(path: Path) -> CodePack:
    """Pack one .py or .sh script, or a folder that holds `train.py` or a single Python file at its top.

    Hidden files, `__pycache__` and compiled files stay behind.

    Raises:
        UserError: nothing is there, nothing can be started, or there is too much of it.
    """
    if path.is_file():
        found, script = {path.name: path}, path.name
    elif path.is_dir():
        found = dict(_walk(path))
        script = _entry(path, found)
    else:
        raise UserError(f"There is no script at {path}. {_WANTED}")
    if not script.endswith((".py", ".sh")):
        raise UserError(f"{path} is neither a .py nor a .sh script. {_WANTED}")
    if DRIVER in found:
        raise UserError(f"{path} holds a {DRIVER}, which is the name of trainfeed's own starter. Rename it.")
    _check_size(path, found)
    contents = {name: file.read_bytes() for name, file in found.items()}
    if not contents[script].strip():
        raise UserError(f"{script} is empty.")
    contents[DRIVER] = files("trainfeed.run").joinpath("container_entry.py").read_bytes()
    return CodePack(files=contents, script=script)


def upload(client: Client, code: CodePack, to: S3Uri) -> S3Uri:
    """Send what S3 does not hold yet, and return the address of the pack.

    Args:
        client: makes AWS clients.
        code: the pack.
        to: the code prefix of a job template; the pack goes into a folder named by its hash.
    """
    s3, address = client("s3"), code.address(to)

    def send(name: str) -> None:
        place = {"Bucket": address.bucket, "Key": address.folder + name}
        if not _exists(s3, place):
            s3.put_object(**place, Body=code.files[name])

    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(send, code.files):
            pass  # asking for each result raises what its sending raised
    return address


def _exists(s3: Any, place: Mapping[str, str]) -> bool:
    try:
        s3.head_object(**place)
    except ClientError as error:
        # Without the right to list a bucket, what is not there is forbidden rather than not found.
        if error_code(error) in ("404", "403"):
            return False
        raise
    return True


def _walk(folder: Path, inside: str = "") -> Iterator[tuple[str, Path]]:
    for item in sorted(folder.iterdir()):
        if item.name.startswith(".") or item.name == "__pycache__" or item.suffix == ".pyc":
            continue
        if item.is_file():
            yield inside + item.name, item
        elif item.is_dir() and not item.is_symlink():  # a link to a folder may lead round in a circle
            yield from _walk(item, f"{inside}{item.name}/")


def _entry(folder: Path, found: Mapping[str, Path]) -> str:
    scripts = [name for name in found if name.endswith(".py") and "/" not in name]
    if "train.py" in scripts:
        return "train.py"
    if len(scripts) == 1:
        return scripts[0]
    if not scripts:
        raise UserError(f"{folder} holds no Python file at its top. {_WANTED}")
    raise UserError(
        f"{folder} holds {len(scripts)} Python files and none is train.py. Name the one to start train.py."
    )


def _check_size(path: Path, found: Mapping[str, Path]) -> None:
    size = sum(file.stat().st_size for file in found.values())
    if len(found) > MOST_FILES or size > MOST_BYTES:
        raise UserError(
            f"{path} holds {len(found):,} files of {size / 1024**2:,.0f} MiB together; code has at most "
            f"{MOST_FILES:,} files and {MOST_BYTES // 1024**2} MiB. Data belongs in the dataset bucket."
        )

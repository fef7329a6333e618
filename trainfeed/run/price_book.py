"""The price book in use: the shipped one, and what `trainfeed prices refresh` wrote for this user."""

import json
from collections.abc import Iterable
from pathlib import Path

import click

from trainfeed.prices import BookError, PriceBook, PriceRecord
from trainfeed.prices.sheet import dump


def folder() -> Path:
    """Where the user's book is, by the habit of the platform.

    `~/.config/trainfeed/prices` on Linux (or below XDG_CONFIG_HOME),
    `~/Library/Application Support/trainfeed/prices` on macOS.
    """
    return Path(click.get_app_dir("trainfeed")) / "prices"


def current() -> PriceBook:
    """The shipped book and the user's: of two records the newer is taken, of two of one day the user's."""
    return PriceBook.shipped().with_(PriceBook.load(folder()))


def append(records: Iterable[PriceRecord], *, region: str) -> Path:
    """Add records to the user's book; those of earlier days stay, for estimates of earlier days.

    Returns:
        The file they are in.

    Raises:
        BookError: the file cannot be read or written.
    """
    file = folder() / f"{region}.json"
    try:
        sheets = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        sheets += [sheet for sheet in dump(records) if sheet not in sheets]
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(".new")
        unfinished.write_text(json.dumps(sheets, indent=1), encoding="utf-8")
        unfinished.replace(file)
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(f"Your price book {file} cannot be written: {error}.") from error
    except (json.JSONDecodeError, TypeError) as error:
        raise BookError(f"{file} is no price book ({error}). Delete it, then refresh again.") from error
    return file

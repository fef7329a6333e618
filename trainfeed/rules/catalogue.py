"""All the rules there are, for the page that lists them."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import trainfeed.rules
from trainfeed.rules.rule import Rule


def catalogue() -> tuple[Rule[Any], ...]:
    """Every rule of every module here, in alphabetical order of their ids.

    Raises:
        ValueError: two rules have one id.
    """
    by_id: dict[str, Rule[Any]] = {}
    for rule in _rules():
        if by_id.setdefault(rule.id, rule) is not rule:
            raise ValueError(f"Two rules are called {rule.id}.")
    return tuple(by_id[id_] for id_ in sorted(by_id))


def _rules() -> Iterator[Rule[Any]]:
    for found in iter_modules(trainfeed.rules.__path__, f"{trainfeed.rules.__name__}."):
        for value in vars(import_module(found.name)).values():
            if isinstance(value, tuple):
                yield from (item for item in value if isinstance(item, Rule))

"""Whether a value holds what its types say, so that rules may compare and count without asking."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from aws_cdk import Token

_IN_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "True, False"}


def require_types(value: Any) -> None:
    """Refuse a dataclass that was given other types than it declares; tokens pass for anything.

    Raises:
        ValueError: names every such field, what it was given and what it takes.
    """
    if faults := [*_faults(type(value).__name__, value, type(value))]:
        raise ValueError("\n".join(faults))


def _faults(name: str, value: Any, hint: Any) -> Iterator[str]:
    if get_origin(hint) is UnionType:
        # All there are is a type or None.
        if value is not None:
            yield from _faults(name, value, get_args(hint)[0])
    elif get_origin(hint) is tuple and isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _faults(f"{name}[{number}]", item, get_args(hint)[0])
    elif is_dataclass(hint) and isinstance(hint, type) and isinstance(value, hint):
        hints = get_type_hints(hint)
        for each in fields(hint):
            yield from _faults(f"{name}.{each.name}", getattr(value, each.name), hints[each.name])
    elif not _fits(value, hint) and not _is_token(value):
        yield f"{name} cannot be {value!r}. Allowed: {_in_words(hint)}. Correct it."


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is tuple or is_dataclass(hint):
        return False
    if issubclass(hint, Enum):
        # The text of a member that is a text is as good as the member.
        return any(value == member for member in hint)
    if hint is bool or isinstance(value, bool):
        return hint is bool and isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, (int, float) if hint is float else hint)


def _is_token(value: Any) -> bool:
    match value:
        case list():
            return all(isinstance(item, str) for item in value) and Token.is_unresolved(value)
        case str() | int() | float():
            return Token.is_unresolved(value)
    return hasattr(value, "creation_stack")


def _in_words(hint: Any) -> str:
    if get_origin(hint) is tuple:
        return f"a tuple, each item {_in_words(get_args(hint)[0])}"
    if issubclass(hint, Enum):
        return ", ".join(str(member.value) for member in hint)
    return _IN_WORDS.get(hint) or f"a {hint.__name__}"

"""Judge a request against the API model that botocore ships, as AWS does before it looks at the meaning.

botocore itself checks types and required members only; enums, patterns and bounds are sent as they are.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

from botocore.session import get_session

#: A botocore shape. botocore computes its attributes in a way that no type checker can follow.
Shape = Any


#: A pattern's category, escaped character, bracket or plain character.
_PATTERN_PARTS = re.compile(r"\\p\{\w+\}|\\.|.", re.DOTALL)


class MalformedRequestError(ValueError):
    """A value of the wrong type: AWS cannot read the request, and answers SerializationException."""


@cache
def operation(service: str, name: str) -> Any:
    """The botocore model of one operation; `service` is botocore's name (`fsx`, `stepfunctions`)."""
    return get_session().get_service_model(service).operation_model(name)


def violations(shape: Shape, value: Any, path: str = "") -> list[str]:
    """What a value breaks of its shape, in the words of AWS; empty when it keeps everything.

    Raises:
        MalformedRequestError: a value of the wrong type.
    """
    return list(_violations(shape, value, path))


def complaint(broken: list[str]) -> str:
    """The message of a ValidationException that holds these violations."""
    plural = "" if len(broken) == 1 else "s"
    return f"{len(broken)} validation error{plural} detected: {'; '.join(broken)}"


def unknown_members(shape: Shape, value: Any, path: str = "") -> list[str]:
    """The members of a value that its shape does not have, so that AWS never sends them."""
    match shape.type_name, value:
        case "structure", dict():
            found = [_join(path, name) for name in value if name not in shape.members]
            for name, member in shape.members.items():
                found += unknown_members(member, value.get(name), _join(path, name))
            return found
        case "list", list() | tuple():
            return [name for item in value for name in unknown_members(shape.member, item, f"{path}[]")]
        case "map", dict():
            return [name for item in value.values() for name in unknown_members(shape.value, item, path)]
        case _:
            return []


def _violations(shape: Shape, value: Any, path: str) -> Iterator[str]:
    match shape.type_name:
        case "structure":
            yield from _structure(shape, _typed(value, dict, path), path)
        case "list":
            items = _typed(value, (list, tuple), path)
            yield from _length(shape, items, path)
            for number, item in enumerate(items, 1):
                yield from _violations(shape.member, item, f"{path}.{number}.member")
        case "map":
            pairs = _typed(value, dict, path)
            yield from _length(shape, pairs, path)
            for key, item in pairs.items():
                yield from _violations(shape.key, key, f"{path}.key")
                yield from _violations(shape.value, item, f"{path}.{key}.value")
        case "string":
            yield from _string(shape, _typed(value, str, path), path)
        case "integer" | "long":
            yield from _range(shape, _number(value, int, path), path)
        case "float" | "double":
            yield from _range(shape, _number(value, (int, float), path), path)
        case "boolean":
            _typed(value, bool, path)


def _structure(shape: Shape, value: dict[str, Any], path: str) -> Iterator[str]:
    for name in shape.required_members:
        if value.get(name) is None:
            yield (
                f"Value null at '{_join(path, name)}' failed to satisfy constraint: Member must not be null"
            )
    for name, item in value.items():
        if name not in shape.members:
            known = ", ".join(shape.members)
            yield f"Value at '{_join(path, name)}' is not a member of {shape.name}; its members are [{known}]"
        elif item is not None:
            yield from _violations(shape.members[name], item, _join(path, name))


def _string(shape: Shape, value: str, path: str) -> Iterator[str]:
    if shape.enum and value not in shape.enum:
        yield f"{_at(shape, value, path)}: Member must satisfy enum value set: [{', '.join(shape.enum)}]"
    yield from _length(shape, value, path)
    pattern = shape.metadata.get("pattern")
    if pattern and not python_pattern(pattern).fullmatch(value):
        yield f"{_at(shape, value, path)}: Member must satisfy regular expression pattern: {pattern}"


def _length(shape: Shape, value: Any, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is not None and len(value) < low:
        yield f"{_at(shape, value, path)}: Member must have length greater than or equal to {low}"
    if high is not None and len(value) > high:
        yield f"{_at(shape, value, path)}: Member must have length less than or equal to {high}"


def _range(shape: Shape, value: float, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is not None and value < low:
        yield f"{_at(shape, value, path)}: Member must have value greater than or equal to {low}"
    if high is not None and value > high:
        yield f"{_at(shape, value, path)}: Member must have value less than or equal to {high}"


def _typed(value: Any, kind: type | tuple[type, ...], path: str) -> Any:
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(each.__name__ for each in kinds)
        raise MalformedRequestError(f"{type(value).__name__} at '{path}' cannot be converted to {wanted}")
    return value


def _number(value: Any, kind: type | tuple[type, ...], path: str) -> Any:
    # In Python a boolean is an integer; in JSON it is not.
    if isinstance(value, bool):
        raise MalformedRequestError(f"bool at '{path}' cannot be converted to a number")
    return _typed(value, kind, path)


def _at(shape: Shape, value: Any, path: str) -> str:
    shown = "" if shape.metadata.get("sensitive") else f" '{value}'"
    return f"Value{shown} at '{path}' failed to satisfy constraint"


def _join(path: str, name: str) -> str:
    # AWS names members in lower camel case: SubnetIds is 'subnetIds', KMSKeyId is 'kMSKeyId'.
    member = name[:1].lower() + name[1:]
    return f"{path}.{member}" if path else member


@cache
def python_pattern(pattern: str) -> re.Pattern[str]:
    r"""A pattern of an API model, which is written for Java, as a Python pattern.

    Three things differ: Unicode categories (`\p{L}`), a class before a plain hyphen (`[\w-/]`), and
    flags in mid-pattern.
    """
    in_class = False
    parts = []
    for part in _PATTERN_PARTS.findall(pattern):
        if part in "[]":
            in_class = part == "["
        category = re.fullmatch(r"\\p\{(\w+)\}", part)
        if category:
            inside = _category(category[1])
            parts.append(inside if in_class else f"[{inside}]")
        else:
            parts.append(part)
    translated = re.sub(r"(\\[wds])-(?!\])", r"\1\\-", "".join(parts))
    if "(?i)" in translated:
        translated = "(?i)" + translated.replace("(?i)", "")
    return re.compile(translated)


@cache
def _category(name: str) -> str:
    """The inside of a character class with all characters of a Unicode category, such as `L` or `Nd`."""
    if name in ("ASCII", "Alnum", "Alpha", "Digit"):
        return {"ASCII": r"\x00-\x7f", "Alnum": "a-zA-Z0-9", "Alpha": "a-zA-Z", "Digit": "0-9"}[name]
    ranges: list[list[int]] = []
    for code in range(min(sys.maxunicode, 0x1FFFF) + 1):
        if unicodedata.category(chr(code)).startswith(name):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)

"""Reads a YAML file into a typed value, and says by line what it could not use."""

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

T = TypeVar("T", bound=BaseModel)

#: The way to a value in a file: the keys, and the places in lists.
Where = tuple[str | int, ...]


class SettingsError(ValueError):
    """A settings file cannot be used; the text names every fault on a line of its own."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something wrong in a file, and where."""

    where: Where
    message: str


@dataclass(frozen=True, kw_only=True)
class YamlFile(Generic[T]):
    """A file that was read, with what it says as a typed value.

    Attributes:
        path: the file.
        content: the value, its defaults filled in.
        source: the file as YAML, which knows its own lines.
    """

    path: Path
    content: T
    source: Any

    @classmethod
    def read(cls, path: Path, model: type[T]) -> Self:
        """Read a file as a value of a model.

        Raises:
            SettingsError: there is no such file, it is no YAML, or it says what the model does not know.
        """
        source = _parse(path)
        try:
            # By way of JSON: plain values, without what YAML's carry along.
            content = model.model_validate(json.loads(json.dumps(source, default=str)))
        except ValidationError as error:
            raise SettingsError(_listing(path, source, _faults(error, model))) from None
        return cls(path=path, content=content, source=source)

    def refuse(self, faults: Iterable[Fault]) -> None:
        """Raise all faults together, if there are any.

        Raises:
            SettingsError: there are.
        """
        if faults := tuple(faults):
            raise SettingsError(self.listing(faults))

    def listing(self, faults: Iterable[Fault]) -> str:
        """The faults as text, each with file, line and setting."""
        return _listing(self.path, self.source, faults)


def suggestion(given: str, allowed: Sequence[str]) -> str:
    """The allowed names, the nearest first where one is near."""
    near = difflib.get_close_matches(given, allowed, n=1)
    return (f"Did you mean `{near[0]}`? " if near else "") + "Allowed: " + ", ".join(allowed) + "."


def _parse(path: Path) -> Any:
    try:
        with path.open(encoding="utf-8") as text:
            source = YAML().load(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise SettingsError(f"{path}: cannot be read: {reason}.") from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = str(error.problem).splitlines()[0]
        raise SettingsError(f"{path}:{line}: not valid YAML: {problem}.") from None
    except YAMLError as error:
        raise SettingsError(f"{path}: not valid YAML: {str(error).splitlines()[0]}.") from None
    return {} if source is None else source


def _listing(path: Path, source: Any, faults: Iterable[Fault]) -> str:
    placed = sorted(
        (_line(source, fault.where), ".".join(map(str, fault.where)), fault.message) for fault in faults
    )
    return "\n".join(f"{path}:{line}: {where + ': ' if where else ''}{text}" for line, where, text in placed)


def _line(source: Any, where: Where) -> int:
    """The line (from 1) of the deepest part of the way that the file holds."""
    line = 1
    for part in where:
        try:
            place = source.lc.item(part) if isinstance(part, int) else source.lc.key(part)
            source = source[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
        line = place[0] + 1
    return line


def _faults(error: ValidationError, model: type[BaseModel]) -> Iterable[Fault]:
    for detail in error.errors(include_url=False):
        where, holder = _follow(model, detail["loc"])
        yield Fault(where=where, message=_message(detail, where, holder))


def _message(detail: ErrorDetails, where: Where, holder: Any) -> str:
    given, reason = detail["input"], detail["msg"]
    match detail["type"]:
        case "extra_forbidden":
            return f"unknown setting. {suggestion(str(where[-1]), tuple(holder.model_fields))}"
        case "missing":
            return "is missing."
        case "literal_error" | "enum":
            expected = detail.get("ctx", {})["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            return f"{_as_written(given)} is not allowed. {suggestion(str(given), expected)}"
        case "value_error":
            reason = str(detail.get("ctx", {})["error"])
        case "model_type" | "dict_type" | "model_attributes_type":
            reason = "write settings below it, one a line"
        case "too_short":
            reason = "write at least one"
    return f"{_as_written(given)} is not allowed: {reason[0].lower()}{reason[1:]}."


def _as_written(given: Any) -> str:
    """A value as YAML has it: `true`, a text in quotes, and a setting with nothing behind it as `nothing`."""
    if given is None:
        return "nothing"
    return repr(given) if isinstance(given, str) else json.dumps(given)


def _follow(annotation: Any, loc: tuple[int | str, ...]) -> tuple[Where, Any]:
    """The way of an error in the file, and the model that holds its last part.

    Pydantic also names the kind it chose among several (the tag of a union) and `[key]` for a
    mapping's key; neither is in the file.
    """
    where: list[str | int] = []
    holder: Any = None
    for part in loc:
        if part == "[key]":
            break
        tags = _tags(annotation)
        if part in tags:
            annotation = tags[str(part)]
            continue
        where.append(part)
        holder, annotation = _bare(annotation), _below(annotation, part)
    return tuple(where), holder


def _below(annotation: Any, part: str | int) -> Any:
    annotation = _bare(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(part))
        if field is None:
            return None
        return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1]
    return arguments[0] if get_origin(annotation) is tuple else None


def _bare(annotation: Any) -> Any:
    """A type without what surrounds it: `Annotated`, and `| None`."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if type(None) in get_args(annotation):
        annotation = next(argument for argument in get_args(annotation) if argument is not type(None))
        return _bare(annotation)
    return annotation


def _tags(annotation: Any) -> dict[str, Any]:
    """The kinds of a tagged union."""
    return {
        note.tag: kind
        for kind in get_args(_bare(annotation))
        if get_origin(kind) is Annotated
        for note in get_args(kind)[1:]
        if hasattr(note, "tag")
    }

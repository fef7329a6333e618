"""A rule as data, and how rules are applied: every finding at once, nothing judged that is not yet known."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any, Generic, TypeVar


class Level(StrEnum):
    """How bad a finding is; only errors stop a command."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Unresolved:
    """Stands where a value is only known at deployment (a CDK token).

    Attributes:
        token: what tells one such value from another, so that two links to the same
            yet unnamed bucket can be recognised; None where nothing is known at all.
    """

    token: str | None = None

    def __str__(self) -> str:
        return "(known at deployment)"

    __repr__ = __str__


#: An unresolved value of which nothing is known. It is typed as Any so that the fields of the
#: judged values keep their plain types; rules that read such a field are skipped.
UNRESOLVED: Any = Unresolved()

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """How AWS itself refuses it: the operation (`fsx:CreateFileSystem`) and its error code."""

    operation: str
    code: str


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[T]):
    """One thing AWS, or good sense, asks of a value.

    Attributes:
        id: what a person looks up (`LUSTRE-CAPACITY`).
        level: error, warning or info.
        statement: the rule in one sentence.
        source: the address of the page that says so.
        checked: the day the source was read.
        reads: the fields without which the predicate can say nothing, a dot leading into a field's
            own fields (`links.path`); if one of them is unresolved, the rule is not judged.
        violated: the message for a value that breaks the rule (what is wrong, the value given, the
            values allowed, what to do), or None for one that keeps it.
        refused_by: the AWS operations that refuse it; empty for advice of our own.
    """

    id: str
    level: Level
    statement: str
    source: str
    checked: date
    reads: tuple[str, ...]
    violated: Callable[[T], str | None]
    refused_by: tuple[Refusal, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A rule that a value breaks, and how."""

    rule: Rule[Any]
    message: str

    def __str__(self) -> str:
        return f"{self.rule.id} ({self.rule.level}): {self.message}"


class RuleViolationError(ValueError):
    """One or more errors among the findings; the text holds them all."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


def check(rules: Iterable[Rule[T]], value: T) -> tuple[Finding, ...]:
    """Every finding of the rules on a value, in the rules' order."""
    return tuple(
        Finding(rule=rule, message=message)
        for rule in rules
        if (not rule.reads or _readable(value, rule.reads)) and (message := rule.violated(value)) is not None
    )


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that stop a command."""
    return tuple(finding for finding in findings if finding.rule.level is Level.ERROR)


def require(rules: Iterable[Rule[T]], value: T) -> tuple[Finding, ...]:
    """The findings that do not stop a command.

    Raises:
        RuleViolationError: some do; the error holds all of them.
    """
    findings = check(rules, value)
    if stopping := errors(findings):
        raise RuleViolationError(stopping)
    return findings


def refusal(rules: Iterable[Rule[T]], value: T, operation: str) -> tuple[Refusal, str] | None:
    """How an AWS operation refuses a value, and its message; None where it accepts it."""
    for rule in rules:
        for refused in rule.refused_by:
            if refused.operation == operation and (findings := check((rule,), value)):
                return refused, findings[0].message
    return None


def known(*values: Any) -> bool:
    """Whether nothing in some values is left to be known at deployment.

    A rule about each item of a list passes over the items that are not known, and judges the rest.
    """
    return not any(_unresolved(value, []) for value in values)


def defer(value: Any, unresolved: Callable[[Any], bool]) -> Any:
    """The same value with everything that is only known at deployment marked as such.

    Args:
        value: a typed value, holding others, tuples and mappings.
        unresolved: says of a single value whether it is known only at deployment
            (`aws_cdk.Token.is_unresolved`).
    """
    if isinstance(value, Unresolved) or value is None:
        return value
    if is_dataclass(value) and not isinstance(value, type):
        known = {
            item.name: defer(getattr(value, item.name), unresolved) for item in fields(value) if item.init
        }
        return replace(value, **known)
    if isinstance(value, tuple):
        return tuple(defer(item, unresolved) for item in value)
    if isinstance(value, Mapping):
        return {defer(key, unresolved): defer(item, unresolved) for key, item in value.items()}
    return Unresolved(str(value)) if unresolved(value) else value


def _readable(value: Any, reads: tuple[str, ...]) -> bool:
    return all(not _unresolved(value, name.split(".")) for name in reads)


def _unresolved(value: Any, path: list[str]) -> bool:
    """Whether something at, or anywhere below, a path into a value is not yet known."""
    if isinstance(value, Unresolved):
        return True
    if isinstance(value, tuple):
        return any(_unresolved(item, path) for item in value)
    if path:
        return value is not None and _unresolved(getattr(value, path[0]), path[1:])
    if isinstance(value, Mapping):
        return any(_unresolved(item, []) for pair in value.items() for item in pair)
    if is_dataclass(value):
        return any(_unresolved(getattr(value, item.name), []) for item in fields(value))
    return False

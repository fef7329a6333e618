"""What the rules find in a construct, told the CDK's way: errors stop, the rest is shown at synth."""

from collections.abc import Iterable
from typing import Any, TypeVar

from aws_cdk import Annotations, Token
from constructs import Construct

from trainfeed.rules.rule import Finding, Level, Rule, RuleViolationError, check, defer, errors

T = TypeVar("T")


def judge(scope: Construct, rules: Iterable[Rule[T]], value: T) -> None:
    """Apply rules to a value, leaving out what is only known at deployment.

    Args:
        scope: the construct on which warnings are shown, each of which can be acknowledged by its rule's id.
        rules: what to ask of the value.
        value: what the construct is made from; tokens anywhere in it are never judged.

    Raises:
        RuleViolationError: there are errors; it holds all of them.
    """
    settle(scope, find(rules, value))


def find(rules: Iterable[Rule[T]], value: T) -> tuple[Finding, ...]:
    """What rules find in a value; tokens anywhere in it are never judged."""
    return check(rules, defer(value, _unresolved))


def settle(scope: Construct, findings: Iterable[Finding]) -> None:
    """Stop at errors, and show the rest on a construct.

    Raises:
        RuleViolationError: there are errors; it holds all of them.
    """
    findings = tuple(findings)
    if stopping := errors(findings):
        raise RuleViolationError(stopping)
    for finding in findings:
        notes, id_ = Annotations.of(scope), f"trainfeed:{finding.rule.id}"
        add = notes.add_warning_v2 if finding.rule.level is Level.WARNING else notes.add_info_v2
        add(id_, f"{finding.rule.id}: {finding.message} See {finding.rule.source}")


def _unresolved(value: Any) -> bool:
    # What is plainly no token is settled here: asking the CDK about each word takes longer than all else.
    # A token stands as "${" in a text and as a number far below any other.
    match value:
        case str():
            return "${" in value and Token.is_unresolved(value)
        case int() | float():
            return value < -1e100 and Token.is_unresolved(value)
    return Token.is_unresolved(value)

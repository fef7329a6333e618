"""What the rules find in a construct, told the CDK's way: errors stop, the rest is shown at synth."""

from collections.abc import Iterable
from typing import Any, TypeVar

from aws_cdk import Annotations, Token
from constructs import Construct

from trainfeed.rules.rule import Level, Rule, defer, require

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
    for finding in require(rules, defer(value, _unresolved)):
        notes, id_ = Annotations.of(scope), f"trainfeed:{finding.rule.id}"
        add = notes.add_warning_v2 if finding.rule.level is Level.WARNING else notes.add_info_v2
        add(id_, f"{finding.rule.id}: {finding.message} See {finding.rule.source}")


def _unresolved(value: Any) -> bool:
    # Every token in a text begins so. To ask the CDK about each short word costs more than all else.
    if isinstance(value, bool) or (isinstance(value, str) and "${" not in value):
        return False
    return Token.is_unresolved(value)

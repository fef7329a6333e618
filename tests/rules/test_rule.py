"""The engine: what is judged, what is not yet known, what stops."""

from dataclasses import dataclass
from datetime import date

import pytest

from trainfeed.rules.rule import (
    UNRESOLVED,
    Level,
    Refusal,
    Rule,
    RuleViolationError,
    Unresolved,
    check,
    defer,
    errors,
    refusal,
    require,
)
from trainfeed.sources import S3Link, S3Uri


@dataclass(frozen=True, kw_only=True)
class Box:
    width: int
    links: tuple[S3Link, ...] = ()
    labels: dict[str, str] | None = None


def rule(id_, reads, violated, level=Level.ERROR, refused_by=()):
    return Rule(
        id=id_,
        level=level,
        statement="A box is small.",
        source="https://docs.aws.amazon.com/",
        checked=date(2026, 12, 1),
        reads=reads,
        violated=violated,
        refused_by=refused_by,
    )


def always(_):
    return "too wide"


LINK = S3Link(uri=S3Uri("bucket", "data"), path="/data")
UNNAMED = S3Link(uri=S3Uri(UNRESOLVED, "data"), path="/data")


@pytest.mark.parametrize(
    ("reads", "box", "judged"),
    [
        (("width",), Box(width=1), True),
        (("width",), Box(width=UNRESOLVED), False),
        ((), Box(width=UNRESOLVED), True),
        (("links",), Box(width=UNRESOLVED, links=(LINK,)), True),
        (("links",), Box(width=1, links=(LINK, UNNAMED)), False),
        (("links.path",), Box(width=1, links=(LINK, UNNAMED)), True),
        (("links.uri.bucket",), Box(width=1, links=(LINK, UNNAMED)), False),
        (("links.uri.bucket",), Box(width=1, links=UNRESOLVED), False),
        (("links.uri.prefix",), Box(width=1, links=(UNNAMED,)), True),
        (("labels",), Box(width=1, labels={"a": "b"}), True),
        (("labels",), Box(width=1, labels={"a": UNRESOLVED}), False),
        (("labels.a",), Box(width=1, labels=None), True),
    ],
)
def test_a_rule_is_judged_once_all_it_reads_is_known(reads, box, judged):
    assert bool(check((rule("BOX", reads, always),), box)) is judged


def test_findings_are_collected_and_only_errors_stop():
    rules = (
        rule("ONE", ("width",), always),
        rule("TWO", ("width",), lambda box: None),
        rule("THREE", ("width",), always, level=Level.WARNING),
        rule("FOUR", ("width",), always),
    )
    findings = check(rules, Box(width=1))
    assert [finding.rule.id for finding in findings] == ["ONE", "THREE", "FOUR"]
    assert [finding.rule.id for finding in errors(findings)] == ["ONE", "FOUR"]
    assert str(findings[1]) == "THREE (warning): too wide"

    with pytest.raises(RuleViolationError) as raised:
        require(rules, Box(width=1))
    assert str(raised.value) == "ONE (error): too wide\nFOUR (error): too wide"
    assert [finding.rule.id for finding in require(rules[1:3], Box(width=1))] == ["THREE"]


def test_an_operation_refuses_by_the_first_rule_that_names_it():
    create = Refusal(operation="fsx:Create", code="BadRequest")
    update = Refusal(operation="fsx:Update", code="InvalidBox")
    rules = (
        rule("ADVICE", ("width",), always),
        rule("KEPT", ("width",), lambda box: None, refused_by=(update,)),
        rule("BROKEN", ("width",), always, refused_by=(create, update)),
    )
    assert refusal(rules, Box(width=1), "fsx:Update") == (update, "too wide")
    assert refusal(rules, Box(width=1), "fsx:Delete") is None
    assert refusal(rules, Box(width=UNRESOLVED), "fsx:Create") is None


def test_deferring_marks_what_is_not_known_and_nothing_else():
    def unresolved(value):
        return isinstance(value, str) and "${Token[" in value

    box = Box(
        width=3,
        links=(S3Link(uri=S3Uri("${Token[TOKEN.1]}", "data"), path="/data"), LINK),
        labels={"fixed": "x", "open": "a-${Token[TOKEN.2]}"},
    )
    deferred = defer(box, unresolved)
    assert deferred.width == 3
    assert deferred.links[0].uri == S3Uri(Unresolved("${Token[TOKEN.1]}"), "data")
    assert deferred.links[1] == LINK
    assert deferred.labels == {"fixed": "x", "open": Unresolved("a-${Token[TOKEN.2]}")}


def test_unresolved_values_are_told_apart_by_their_token():
    assert Unresolved("a") == Unresolved("a")
    assert Unresolved("a") != Unresolved("b")
    assert f"s3://{Unresolved('a')}/x" == "s3://(known at deployment)/x"

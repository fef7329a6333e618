"""The rules as a whole, and the page that lists them."""

import importlib.util
import re
from datetime import date
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from trainfeed.rules.catalogue import catalogue

_ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("rule", catalogue(), ids=lambda rule: rule.id)
def test_a_rule_says_what_it_asks_and_where_that_is_written(rule):
    assert re.fullmatch(r"[A-Z0-9]+(-[A-Z0-9]+)+", rule.id)
    assert rule.statement.endswith(".")
    assert rule.source.startswith("https://docs.aws.amazon.com/")
    assert date(2026, 1, 1) <= rule.checked
    for refused in rule.refused_by:
        assert re.fullmatch(r"(fsx|sagemaker):[A-Z]\w+", refused.operation)


def test_the_errors_of_refusals_are_those_of_the_api():
    from botocore.loaders import create_loader

    loader = create_loader()
    shapes = {
        name: loader.load_service_model(name, "service-2")["operations"] for name in ("fsx", "sagemaker")
    }
    # SageMaker's models leave out the error that every AWS API may return.
    common = {"ValidationException"}
    for rule in catalogue():
        for refused in rule.refused_by:
            service, operation = refused.operation.split(":")
            declared = {error["shape"] for error in shapes[service][operation].get("errors", ())}
            assert refused.code in declared | common, rule.id


def test_the_page_of_the_rules_is_up_to_date():
    loader = SourceFileLoader("docs_rules", str(_ROOT / "scripts" / "docs-rules"))
    spec = importlib.util.spec_from_loader("docs_rules", loader)
    assert spec is not None
    script = importlib.util.module_from_spec(spec)
    loader.exec_module(script)
    assert (_ROOT / "docs" / "rules.md").read_text() == script.page(), "run scripts/docs-rules"

"""How the tables of the rules are read."""

import pytest

from trainfeed.rules.rule import check


@pytest.fixture
def assert_findings():
    """A value breaks exactly the expected rules, and each message contains what is expected of it."""

    def verify(rules, value, expected):
        messages = {finding.rule.id: finding.message for finding in check(rules, value)}
        assert set(messages) == set(expected), messages
        for rule, fragment in expected.items():
            assert fragment in messages[rule]

    return verify

"""What people read is true: links lead somewhere, and commands exist."""

import re
from pathlib import Path

import click
import pytest

from trainfeed.cli import main
from trainfeed.run import permissions

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)(?P<target>[^)#]+)")
CONTINUED = re.compile(r" *\\\n *")
COMMAND = re.compile(
    r"(?:^|`|\(|\$ )trainfeed (?P<words>[a-z-]+(?: [a-z-]+)*)(?P<options>(?: .*)?)", re.MULTILINE
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(document.read_text())]
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize(
    "document", [ROOT / "README.md", ROOT / "docs" / "local-aws.md"], ids=lambda path: path.name
)
def test_commands_exist(document: Path) -> None:
    found = list(COMMAND.finditer(CONTINUED.sub(" ", document.read_text())))
    assert found
    for match in found:
        command: click.Command = main
        for word in match["words"].split():
            if not isinstance(command, click.Group):
                break
            assert word in command.commands, match[0]
            command = command.commands[word]
        parameters = command.get_params(click.Context(command))
        known = {option for parameter in parameters for option in parameter.opts}
        given = re.findall(r" (--?[a-z-]+)", match["options"].partition("#")[0])
        assert set(given) <= known, match[0]


def test_the_page_of_permissions_names_every_right_that_is_asked_for() -> None:
    page = (ROOT / "docs" / "permissions.md").read_text()
    needed = (*permissions.DEPLOYING, *permissions.CALLING_THE_CDK, *permissions.RUNNING)
    actions = {action for rights in needed for action in rights.actions}
    assert {action for action in actions if action not in page} == set()

"""A fresh app and stack for each test, and its template as plain values."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

ROOT = Path(__file__).parents[2]
FLAGS = json.loads((ROOT / "cdk.json").read_text())["context"]


@pytest.fixture
def make_stack() -> Callable[..., Stack]:
    """Makes a stack in an app of its own; its Region is us-east-1 unless another, or None, is given."""

    def make(region: str | None = "us-east-1") -> Stack:
        cdk_app = App(context=FLAGS, analytics_reporting=False)
        return Stack(cdk_app, "Stack", env=Environment(region=region))

    return make


@pytest.fixture
def stack(make_stack: Callable[..., Stack]) -> Stack:
    return make_stack()


@pytest.fixture
def found(stack: Stack) -> Callable[..., dict[str, Any]]:
    """The resources of the stack by logical id; of one type, if one is named."""

    def find(type_: str | None = None, *, of: Stack = stack) -> dict[str, Any]:
        resources = Template.from_stack(of).to_json().get("Resources", {})
        return {id_: body for id_, body in resources.items() if type_ in (None, body["Type"])}

    return find


@pytest.fixture
def only(found: Callable[..., dict[str, Any]]) -> Callable[[str], tuple[str, Any]]:
    """The one resource of a type: its logical id and body."""

    def find(type_: str) -> tuple[str, Any]:
        (resource,) = found(type_).items()
        return resource

    return find

"""Stacks of plain templates on the local AWS."""

import itertools
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

Template = dict[str, Any]


class Stack:
    """A stack; each operation returns when it is over."""

    def __init__(self, aws: Any, name: str) -> None:
        self.name = name
        self._client = aws.client("cloudformation")

    def create(self, resources: Template, **sections: Any) -> "Stack":
        self._client.create_stack(StackName=self.name, **_body(resources, sections))
        return self._settled()

    def update(self, resources: Template, **sections: Any) -> "Stack":
        self._client.update_stack(StackName=self.name, **_body(resources, sections))
        return self._settled()

    def change(self, resources: Template, **sections: Any) -> dict[str, Any]:
        """A change set, as the CDK CLI deploys."""
        self._client.create_change_set(
            StackName=self.name, ChangeSetName="changes", **_body(resources, sections)
        )
        return self._client.describe_change_set(StackName=self.name, ChangeSetName="changes")

    def execute(self) -> "Stack":
        self._client.execute_change_set(StackName=self.name, ChangeSetName="changes")
        return self._settled()

    def delete(self) -> "Stack":
        self._id = self._described()["StackId"]
        self._client.delete_stack(StackName=self.name)
        return self._settled()

    @property
    def status(self) -> str:
        return self._described()["StackStatus"]

    @property
    def outputs(self) -> dict[str, str]:
        return {each["OutputKey"]: each["OutputValue"] for each in self._described().get("Outputs", [])}

    def physical(self, logical_id: str) -> str:
        described = self._client.describe_stack_resource(StackName=self.name, LogicalResourceId=logical_id)
        return described["StackResourceDetail"]["PhysicalResourceId"]

    def reasons(self) -> list[str]:
        """Why resources failed, the latest first."""
        return [
            event["ResourceStatusReason"]
            for event in self.events()
            if event["ResourceStatus"].endswith("_FAILED")
            and event["ResourceType"] != "AWS::CloudFormation::Stack"
        ]

    def events(self) -> list[dict[str, Any]]:
        return self._client.describe_stack_events(StackName=self._described()["StackId"])["StackEvents"]

    def _described(self) -> dict[str, Any]:
        return self._client.describe_stacks(StackName=getattr(self, "_id", self.name))["Stacks"][0]

    def _settled(self) -> "Stack":
        deadline = time.monotonic() + 60
        while self.status.endswith("_IN_PROGRESS"):
            assert time.monotonic() < deadline, f"{self.name} is still {self.status}"
            time.sleep(0.02)
        return self


def _body(resources: Template, sections: dict[str, Any]) -> dict[str, Any]:
    template = {"Resources": resources, **sections}
    return {"TemplateBody": json.dumps(template), "Capabilities": ["CAPABILITY_NAMED_IAM"]}


@pytest.fixture
def new_stack(aws: Any) -> Callable[[], Stack]:
    """Makes a stack that does not exist yet."""
    numbers = itertools.count(1)
    return lambda: Stack(aws, f"stack-{next(numbers)}")


@pytest.fixture
def stack(new_stack: Callable[[], Stack]) -> Stack:
    return new_stack()

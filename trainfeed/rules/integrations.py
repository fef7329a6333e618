"""How Step Functions spells the AWS calls that the kit makes, and what each asks of a role.

Step Functions calls AWS through the AWS SDK for Java: names of members, errors and services are spelled
its way (`DNSName` is `DnsName`, `FileSystemNotFound` is `FSx.FileSystemNotFoundException`), and a wrong
spelling is only found out when a job runs. So the spellings are read from botocore's API models into one
table, which `scripts/integrations` writes anew. The state machines are built from it, the rights of
their roles come from it, and the local AWS accepts no other spelling.

Sources:
    https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
    https://docs.aws.amazon.com/step-functions/latest/dg/connect-sagemaker.html
    https://github.com/aws/aws-sdk-java-v2/blob/master/utils/src/main/java/software/amazon/awssdk/utils/internal/CodegenNamingUtils.java
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_suffix(".json")

#: The names of a call's arguments; a leaf, or what has free keys, is None.
Arguments = Mapping[str, "Arguments | None"]


class Moment(StrEnum):
    """When AWS asks whether the state machine's role may do something."""

    CREATE = "create"  # the state machine is created or updated
    CALL = "call"  # the task starts
    FOLLOW = "follow"  # a `.sync` task looks how its job is doing
    STOP = "stop"  # a `.sync` task is stopped, and stops its job


@dataclass(frozen=True, kw_only=True)
class Right:
    """What the role must be allowed.

    Attributes:
        action: `sagemaker:CreateTrainingJob`.
        resource: an ARN in which {partition}, {region}, {account} and the call's own arguments are still
            to be filled in, or `*` for an action that knows no resources.
        moment: when it is checked.
        passed_to: for iam:PassRole, the service that receives the role.
    """

    action: str
    resource: str
    moment: Moment
    passed_to: str | None = None


@dataclass(frozen=True, kw_only=True)
class Integration:
    """One AWS call from a state machine.

    Attributes:
        resource: the Resource of a Task, in the partition `aws`.
        service: botocore's name of the service.
        operation: the API operation.
        arguments: the names a task may give.
        errors: how an API error code is spelled in Retry and Catch.
        other_errors: the name of all errors that the API model does not list: denied access, throttling.
        passing_errors: the names of errors that may pass by themselves: the service's faults, throttling
            (which shares `other_errors`), and a broken connection.
        reads: the fields of the result that the kit reads, as a state machine sees them.
        rights: what the role must be allowed.
        source: the page that documents the integration.
    """

    resource: str
    service: str
    operation: str
    arguments: Arguments
    errors: Mapping[str, str]
    other_errors: str
    passing_errors: tuple[str, ...]
    reads: tuple[str, ...]
    rights: tuple[Right, ...]
    source: str

    @property
    def is_sdk(self) -> bool:
        """A plain SDK call, whose arguments and result have the SDK's casing; else an optimised one."""
        return ":aws-sdk:" in self.resource

    def arn(self, partition: str) -> str:
        """The Resource of a Task in a partition (`aws-cn`), which may be a CDK token."""
        return self.resource.replace("arn:aws:", f"arn:{partition}:", 1)

    def error(self, code: str) -> str:
        """The name under which Retry and Catch know an API's error code."""
        return self.errors.get(code, self.other_errors)

    def unknown_arguments(self, given: Any) -> list[str]:
        """The arguments that Step Functions refuses, as paths (`Filters[].name`)."""
        return list(_unknown(self.arguments, given, ""))

    def rights_at(self, *moments: Moment) -> tuple[Right, ...]:
        """The rights that are checked at these moments."""
        return tuple(right for right in self.rights if right.moment in moments)


def _unknown(known: Arguments | None, given: Any, path: str) -> Iterator[str]:
    if known is None:
        return
    if isinstance(given, list):
        for item in given:
            yield from _unknown(known, item, f"{path}[]")
    elif isinstance(given, Mapping):
        for name, value in given.items():
            here = f"{path}.{name}" if path else name
            if name in known:
                yield from _unknown(known[name], value, here)
            else:
                yield here


def sdk_name(name: str) -> str:
    """An API's name in the casing of the AWS SDK for Java, which Step Functions uses: DNSName -> DnsName."""
    spaced = re.sub(r"[^A-Za-z0-9]+", " ", name)
    spaced = re.sub(r"([^a-z]{2,})v([0-9]+)", r"\1 v\2 ", spaced)
    spaced = re.sub(r"([^A-Z]{2,})V([0-9]+)", r"\1 V\2 ", spaced)
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-zA-Z0-9])", " ", spaced)
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", spaced)
    spaced = re.sub(r"([0-9])([a-zA-Z])", r"\1 \2", spaced)
    return "".join(word.capitalize() for word in spaced.split())


def exception_name(shape: str) -> str:
    """The class of an API's error in the AWS SDK for Java: always with the suffix `Exception`."""
    return f"{sdk_name(re.sub('(Fault|Exception)$', '', shape))}Exception"


@cache
def integrations() -> Mapping[str, Integration]:
    """Every integration the kit uses, by its Resource in the partition `aws`."""
    entries = json.loads(TABLE.read_text(encoding="utf-8"))["integrations"]
    return {entry["resource"]: _integration(entry) for entry in entries}


def _integration(entry: dict[str, Any]) -> Integration:
    rights = tuple(Right(**{**right, "moment": Moment(right["moment"])}) for right in entry["rights"])
    lists = {name: tuple(entry[name]) for name in ("passing_errors", "reads")}
    return Integration(**{**entry, **lists, "rights": rights})


def integration(resource: str) -> Integration:
    """The integration behind a Task's Resource, in any partition.

    Raises:
        KeyError: the kit knows no such integration.
    """
    _, _, rest = resource.partition(":states:")
    return integrations()[f"arn:aws:states:{rest}"]


DESCRIBE_FILE_SYSTEMS = "arn:aws:states:::aws-sdk:fsx:describeFileSystems"
DESCRIBE_ASSOCIATIONS = "arn:aws:states:::aws-sdk:fsx:describeDataRepositoryAssociations"
DESCRIBE_TASKS = "arn:aws:states:::aws-sdk:fsx:describeDataRepositoryTasks"
GET_PARAMETER = "arn:aws:states:::aws-sdk:ssm:getParameter"
CREATE_TRAINING_JOB = "arn:aws:states:::sagemaker:createTrainingJob.sync"

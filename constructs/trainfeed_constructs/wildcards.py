"""Reasons for wildcards in policies, kept where cdk-nag looks for them."""

from collections.abc import Iterable, Mapping
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import Construct


def acknowledge_wildcards(scope: Construct, reasons: Mapping[str, str]) -> None:
    """Say why policies below a construct name resources by a wildcard.

    cdk-nag wants a reason for each, by the resource as it stands in the template; it has no reason for
    what it does not name, so nothing else is let through.

    Args:
        scope: the construct that holds the policies.
        reasons: why, by the resource; resources without a wildcard are left out.
    """
    wild = [resource for resource in reasons if "*" in resource]
    resolved: Iterable[Any] = Stack.of(scope).resolve(wild)
    Validations.of(scope).acknowledge(
        *(
            Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{_flat(found)}]", reason=reasons[resource])
            for resource, found in zip(wild, resolved, strict=True)
        )
    )


def _flat(value: Any) -> str:
    """A resource as cdk-nag writes it: references by name, in angle brackets."""
    match value:
        case {"Fn::Join": [delimiter, parts]}:
            return str(delimiter).join(map(_flat, parts))
        case {"Fn::GetAtt": [resource, attribute]}:
            return f"<{resource}.{attribute}>"
        case {"Fn::ImportValue": name}:
            return _flat(name)
        case {"Ref": name}:
            return f"<{name}>"
    return str(value)

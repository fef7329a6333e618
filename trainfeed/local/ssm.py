"""Parameter Store's bounds on a value, which MiniStack does not hold.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
"""

from collections.abc import Callable
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.service import ApiError

STANDARD_BYTES = 4096
ADVANCED_BYTES = 8192


def install() -> None:
    """Hold the bounds for PutParameter and for AWS::SSM::Parameter."""
    ministack.guard("ssm", "PutParameter", check)
    ministack.wrap_type("AWS::SSM::Parameter", create=_checking_created, update=_checking_new)


def check(parameter: dict[str, Any]) -> None:
    """Refuse a value that Parameter Store would.

    Raises:
        ApiError: the value is empty, refers to another parameter, or is too big for its tier.
    """
    value, tier = parameter.get("Value"), parameter.get("Tier") or "Standard"
    if not isinstance(value, str):
        return
    if not value:
        raise ApiError(
            "ValidationException",
            "1 validation error detected: Value '' at 'value' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1.",
        )
    if "{{" in value:
        raise ApiError(
            "ValidationException",
            'Parameter value can\'t nest another parameter. Do not use "{{" in the value.',
        )
    size, limit = len(value.encode()), STANDARD_BYTES if tier == "Standard" else ADVANCED_BYTES
    if size > limit:
        advice = " Use the advanced tier for a larger value." if tier == "Standard" else ""
        raise ApiError(
            "ValidationException",
            f"{tier} tier parameters support a maximum parameter value of {limit} characters; "
            f"this one has {size}.{advice}",
        )


def _checking_created(create: Callable[..., Any]) -> Callable[..., Any]:
    def checked(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
        check(properties)
        return create(logical_id, properties, stack)

    return checked


def _checking_new(update: Callable[..., Any]) -> Callable[..., Any]:
    def checked(physical_id: str, old: dict[str, Any], new: dict[str, Any], *rest: Any) -> Any:
        check(new)
        return update(physical_id, old, new, *rest)

    return checked

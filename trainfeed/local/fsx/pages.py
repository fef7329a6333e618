"""Listings in pages, and the filters that narrow them."""

import base64
from collections.abc import Sequence
from typing import Any, TypeVar

from trainfeed.local.service import ApiError

T = TypeVar("T")


def page(items: Sequence[T], request: dict[str, Any], largest: int) -> tuple[list[T], str | None]:
    """One page of a listing, and the token of the next.

    Args:
        items: everything, in a lasting order.
        request: MaxResults and NextToken are read from it.
        largest: how many the service gives at most.

    Raises:
        ApiError: a token that no earlier answer gave.
    """
    start = _start(request.get("NextToken"), len(items))
    end = start + min(request.get("MaxResults", largest), largest)
    following = base64.b64encode(f"from {end}".encode()).decode() if end < len(items) else None
    return list(items[start:end]), following


def _start(token: str | None, count: int) -> int:
    if token is None:
        return 0
    try:
        word, _, number = base64.b64decode(token, validate=True).decode().partition(" ")
        if word == "from" and 0 < int(number) <= count:
            return int(number)
    except ValueError:
        pass
    raise ApiError("BadRequest", "The NextToken is not one that an earlier answer gave.")


def filters(request: dict[str, Any], supported: Sequence[str]) -> dict[str, list[str]]:
    """The filters of a request, by name.

    Raises:
        ApiError: a filter that is not for this operation.
    """
    found = {}
    for each in request.get("Filters", []):
        if each.get("Name") not in supported:
            raise ApiError(
                "BadRequest",
                f"The filter {each.get('Name')!r} cannot be used here. Use {', '.join(supported)}.",
            )
        found[each["Name"]] = each.get("Values", [])
    return found

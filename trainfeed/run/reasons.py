"""Reasons of AWS, without what helps nobody: who answered which request, and hundreds of allowed values."""

import re
from difflib import get_close_matches

#: `(Service: SageMaker, Status Code: 400, Request ID: ...)`, as Step Functions adds it.
_SERVICE = re.compile(r"\s*\((?:Service|SDK): [^()]*\)|\s*\(SDK Attempt Count: \d+\)")
_ENUM = re.compile(r"(?P<before>enum value set: \[)(?P<values>[^\]]*)(?P<after>\]?)")
_GIVEN = re.compile(r"[Vv]alue '(?P<value>[^']*)'")
#: A list of up to this many values is read at a glance.
_FEW = 8
_NEAREST = 4


def shorten(reason: str) -> str:
    """A reason in which a long list of allowed values is cut to those nearest to the value given."""
    return _ENUM.sub(_cut, _SERVICE.sub("", reason))


def _cut(found: re.Match[str]) -> str:
    values = [value.strip() for value in found["values"].split(",")]
    if len(values) <= _FEW:
        return found[0]
    given = list(_GIVEN.finditer(found.string, 0, found.start()))
    near = get_close_matches(given[-1]["value"] if given else "", values, n=_NEAREST, cutoff=0.0)
    return f"{found['before']}{', '.join(near)} and {len(values) - len(near)} more{found['after']}"

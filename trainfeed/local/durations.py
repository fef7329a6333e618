"""How long the local AWS takes over what takes AWS minutes, in seconds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

#: A day; on AWS most lifecycles take minutes.
_LONGEST = 86_400


class DurationError(ValueError):
    """There is no such duration, or it cannot last so long; the text says what can be given."""


@dataclass(kw_only=True)
class Durations:
    """Seconds each lifecycle lasts. Tests change the fields of a running local AWS as they need.

    The order of the phases is that of AWS; only the scale is not.

    Attributes:
        waited_second: how long a second lasts that a state machine waits, in a Wait or between retries.
    """

    file_system_create: float = 2.0
    file_system_update: float = 1.0
    file_system_delete: float = 1.0
    association_create: float = 1.0
    association_update: float = 0.5
    association_delete: float = 0.5
    task_pending: float = 0.3
    task: float = 1.0
    job_starting: float = 1.0
    job_stopping: float = 0.5
    waited_second: float = 0.1

    @classmethod
    def changed(cls, given: Mapping[str, str]) -> Self:
        """The durations with some changed.

        Args:
            given: seconds by name, as a person wrote them.

        Raises:
            DurationError: one has no such name, or is not a number of seconds from 0 to a day.
        """
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise DurationError(f"There is no duration {name!r}. There are {', '.join(known)}.")
        return cls(**{name: _seconds(name, text) for name, text in given.items()})


def _seconds(name: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _LONGEST:
        raise DurationError(f"{name} is {text!r}. Give seconds, from 0 to {_LONGEST}.")
    return seconds

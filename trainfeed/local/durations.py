"""How long the local AWS takes over what takes AWS minutes, in seconds."""

from dataclasses import dataclass


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

"""One execution of a state machine while it runs, and how one of its tasks fails."""

import threading
from dataclasses import dataclass, field
from typing import Any, ClassVar


class TaskFailedError(Exception):
    """A task fails.

    Attributes:
        error: what Retry and Catch match (`SageMaker.ResourceInUseException`, `States.TaskFailed`).
        cause: the text beside it.
    """

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(f"{error}: {cause}")
        self.error = error
        self.cause = cause


@dataclass(frozen=True, kw_only=True)
class Run:
    """A running execution.

    Attributes:
        arn: of the execution.
        role_arn: the role that its tasks run as.
        record: MiniStack's record of it.
        ended: set when it is over, so that what waits in it wakes up.
        ENDED: the error by which its thread is led out of whatever it was doing; it is never reported.
    """

    arn: str
    role_arn: str
    record: dict[str, Any]
    ended: threading.Event = field(default_factory=threading.Event)
    _stopping: threading.Event = field(default_factory=threading.Event)

    ENDED: ClassVar[tuple[str, str]] = ("States.Ended", "The execution is over.")

    @property
    def stops_its_jobs(self) -> bool:
        """Whether it ended so that its `.sync` jobs must stop too."""
        return self._stopping.is_set()

    def end(self, *, and_its_jobs: bool) -> None:
        """End it.

        Args:
            and_its_jobs: also stop the jobs of its `.sync` tasks.
        """
        if and_its_jobs:
            self._stopping.set()
        self.ended.set()

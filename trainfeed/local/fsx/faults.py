"""Faults that a test asks for: the next creation, update or task of a kind does not end well."""

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Literal

Kind = Literal["file-system", "update", "association", "task"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How the next one of a kind ends.

    Attributes:
        message: what FailureDetails says.
        lifecycle: FAILED, or MISCONFIGURED for an association or a file system.
        failed_files: how many files a task fails to process; None stands for all of them.
    """

    message: str
    lifecycle: str = "FAILED"
    failed_files: int | None = None


class Faults:
    """The faults that are still to happen, first in, first out."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[Fault]] = defaultdict(deque)

    def add(self, kind: Kind, fault: Fault) -> None:
        """Let the next one of a kind end so."""
        self._waiting[kind].append(fault)

    def take(self, kind: Kind) -> Fault | None:
        """The fault of the one that begins now, or None."""
        waiting = self._waiting[kind]
        return waiting.popleft() if waiting else None

    def clear(self) -> None:
        """Forget them."""
        self._waiting.clear()

"""The ways in which a running job comes to another end than Completed."""


class JobFailedError(Exception):
    """The job fails; the text is its FailureReason, in SageMaker's words."""


class HaltedError(Exception):
    """The job is to be stopped before its end.

    Attributes:
        ending: the secondary status it will end in, `Stopped` or `MaxRuntimeExceeded`.
    """

    def __init__(self, ending: str) -> None:
        super().__init__(ending)
        self.ending = ending


class AbandonedError(Exception):
    """The local AWS is ending: the job's processes are killed and nothing more is said about it."""

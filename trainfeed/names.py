"""The names by which the parts of a deployment find each other at run time.

The stacks write under these names and the command line reads them, so neither
needs the other's exports: a replaced file system is found by the same parameter.
"""

PROJECT = "trainfeed"

#: The tag on everything the stacks make. Its value is the name of the stack that made it, so that
#: `trainfeed ls` and `trainfeed delete-bucket` know what is theirs, and whether a stack still owns it.
STACK_TAG = "trainfeed:stack"

#: The tag on every training job. Its value is the name of the job's template.
JOB_TAG = "trainfeed:job"


def facts_parameter(source: str) -> str:
    """The SSM parameter that holds the facts of a source (`fsx-lustre`)."""
    return f"/{PROJECT}/sources/{source}"


def job_parameter(job: str) -> str:
    """The SSM parameter that tells where a job template's state machine and code live."""
    return f"/{PROJECT}/jobs/{job}"


def state_machine(job: str) -> str:
    """The Step Functions state machine of a job template."""
    return f"{PROJECT}-{job}"


def stack(job: str) -> str:
    """The CloudFormation stack of a job: `training` is deployed as `TrainingJobStack`."""
    return _capitals(job) + "JobStack"


def source_stack(source: str) -> str:
    """The CloudFormation stack of a source: `fsx-lustre` is deployed as `FsxLustreStack`."""
    return _capitals(source) + "Stack"


def _capitals(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))

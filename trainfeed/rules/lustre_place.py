"""What a file system must be called, and where it must be, so that jobs find and reach it."""

import re
from dataclasses import dataclass
from datetime import date
from functools import partial

from trainfeed.rules.rule import Level, Rule

_CHECKED = date(2026, 12, 1)
_PARAMETERS = "https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html"
_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"
_STATES = "https://docs.aws.amazon.com/step-functions/latest/dg/statemachine-structure.html"

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
#: A job's state machine says in the names of its states, of up to 80 characters, what it waits for.
_MAX_NAME = 80 - len("Wait for the imports of ")


@dataclass(frozen=True, kw_only=True)
class LustrePlace:
    """Where a file system is to be found.

    Attributes:
        name: the name under which it publishes its facts (`fsx-lustre`).
        namesake: another file system of that name, account and Region; None where there is none.
        subnet_ids: its subnets.
        jobs_subnet_id: the subnet in which its jobs run.
    """

    name: str
    namesake: str | None = None
    subnet_ids: tuple[str, ...]
    jobs_subnet_id: str


def _name(value: LustrePlace) -> str | None:
    if _NAME.fullmatch(value.name) and len(value.name) <= _MAX_NAME:
        return None
    return (
        f"A file system cannot be named {value.name!r}. Allowed: lower-case words and digits joined by "
        f"single hyphens, beginning with a letter, up to {_MAX_NAME} characters. Rename it, for example to "
        "fsx-lustre."
    )


def _namesake(value: LustrePlace) -> str | None:
    if value.namesake is None:
        return None
    return (
        f"Two file systems are named {value.name!r}, this one and {value.namesake}. A name is allowed once "
        "in an account and Region, since jobs find the file system by it. Give one of them another name."
    )


def _subnet(value: LustrePlace) -> str | None:
    # Where they are not one, another rule says so; a list that is only known at deployment has no length.
    if not isinstance(value.subnet_ids, tuple) or len(value.subnet_ids) != 1:
        return None
    if value.subnet_ids[0] == value.jobs_subnet_id:
        return None
    return (
        f"The file system was given the subnet {value.subnet_ids[0]}, and its jobs run in "
        f"{value.jobs_subnet_id}, that of the network. Allowed: the network's subnet alone. Leave subnet_ids "
        "out, or give it a network with that subnet."
    )


_place = partial(Rule[LustrePlace], level=Level.ERROR, checked=_CHECKED)

RULES: tuple[Rule[LustrePlace], ...] = (
    _place(
        id="LUSTRE-NAME",
        statement="The name of a file system makes the names of a parameter and of the states of its jobs.",
        source=_STATES,
        reads=("name",),
        violated=_name,
    ),
    _place(
        id="LUSTRE-NAMESAKE",
        statement="A file system's name, and so the parameter with its facts, is there once in an account "
        "and Region.",
        source=_PARAMETERS,
        reads=("name",),
        violated=_namesake,
    ),
    # Nothing is left to be known at deployment: a subnet that is the network's is written the same way.
    _place(
        id="LUSTRE-JOBS-SUBNET",
        statement="A file system is in the subnet that its network gives the jobs.",
        source=_TRAIN_VPC,
        reads=(),
        violated=_subnet,
    ),
)

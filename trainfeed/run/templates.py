"""The job templates that are deployed, and the runs that were started from them."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from botocore.exceptions import ClientError

from trainfeed import names
from trainfeed.run.aws import Client, UserError, code, denied
from trainfeed.sources import S3Uri


@dataclass(frozen=True, kw_only=True)
class JobTemplate:
    """A deployed job template.

    Attributes:
        name: as `trainfeed run` takes it (`training`).
        state_machine_arn: the state machine that runs its jobs.
        code: where code is sent.
        output: where jobs leave their models.
    """

    name: str
    state_machine_arn: str
    code: S3Uri
    output: S3Uri


def find(client: Client, name: str, *, planned: Callable[[], Iterable[str]] = tuple) -> JobTemplate:
    """The template of this name, as its stack published it.

    Args:
        client: makes AWS clients.
        name: of the template.
        planned: the jobs of the settings, deployed or not; asked only where there is no such template.

    Raises:
        UserError: there is none; the text names those that are deployed, the nearest first.
    """
    try:
        value = client("ssm").get_parameter(Name=names.job_parameter(name))["Parameter"]["Value"]
    except ClientError as error:
        # A name with characters that no parameter can have is as unknown as one that is not there.
        if code(error) in ("ParameterNotFound", "ValidationException"):
            raise UserError(_unknown(client, name, tuple(planned()))) from None
        raise
    facts = json.loads(value)
    return JobTemplate(
        name=name,
        state_machine_arn=facts["StateMachineArn"],
        code=S3Uri.parse(facts["CodeUri"]),
        output=S3Uri.parse(facts["OutputUri"]),
    )


def deployed(client: Client) -> tuple[str, ...]:
    """The names of all deployed templates, sorted."""
    folder = names.job_parameter("")
    pages = client("ssm").get_paginator("get_parameters_by_path").paginate(Path=folder.rstrip("/"))
    return tuple(sorted(item["Name"].removeprefix(folder) for page in pages for item in page["Parameters"]))


def _unknown(client: Client, name: str, planned: Sequence[str]) -> str:
    there_is_none = f"There is no job template {name!r}"
    try:
        known = deployed(client)
    except ClientError as error:
        if denied(error):
            return f"{there_is_none}, and you may not list those that are deployed."
        raise
    region = client("ssm").meta.region_name
    job = next((each for each in (*known, *planned) if name in (each, names.stack(each))), None)
    if job in known:
        return f"{name} is a stack; the job in it is {job!r}: trainfeed run {job}"
    if job is not None:
        return (
            f"The job {job!r} is not deployed in {region} of this account. Deploy it "
            f"(cdk deploy {names.stack(job)}), or set AWS_REGION or AWS_PROFILE to where it is."
        )
    if not known:
        return (
            f"No job template is deployed in {region} of this account. Deploy one "
            f"(cdk deploy {names.stack('training')}), or set AWS_REGION or AWS_PROFILE to where one is."
        )
    near = get_close_matches(name, known, n=len(known), cutoff=0.0)
    return f"{there_is_none}. Deployed: {', '.join(near)}."

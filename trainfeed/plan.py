"""What trainfeed.yaml asks for, as far as AWS can be asked about it before it is deployed.

Stands beside the command line: it knows the settings of the app and what `run` can look at.
"""

from botocore.exceptions import ClientError

from stacks import asked
from stacks.settings import JobSettings, Settings
from trainfeed import images
from trainfeed.job import TrainingJob, requested
from trainfeed.rules.rule import defer
from trainfeed.run.aws import Client, UserError, code
from trainfeed.run.preflight import ExistingNetwork, FileSystemPlan, Plan

#: The stack of the buckets, and its outputs that name them.
_STACK, _DATA, _OUTPUT = "DatasetStack", "DataBucket", "OutputBucket"

#: How the names of buckets begin that are still to be made.
_UNMADE = "${" + _STACK


def of(settings: Settings, client: Client) -> Plan:
    """The plan that follows from settings; buckets that are still to be made are marked as unresolved.

    Raises:
        UserError: a job names no image, and AWS has none in the Region.
    """
    locations = _locations(settings, client)
    existing = settings.network.existing
    region = client("sts").meta.region_name
    jobs = [_job(name, job, locations, region) for name, job in settings.jobs.items()]
    plan = Plan(
        zone_id=settings.network.zone_id,
        network=ExistingNetwork(**existing.model_dump()) if existing else None,
        buckets=tuple(filter(None, (settings.dataset.data_bucket,))),
        buckets_here=tuple(
            filter(None, (settings.dataset.output_bucket, settings.dataset.access_log_bucket))
        ),
        file_systems=tuple(
            FileSystemPlan(
                configuration=asked.file_system(source, locations),
                security_group_id=source.security_group_id,
                source=name,
            )
            for name, source in settings.sources.items()
        ),
        links=asked.app_links(settings, locations),
        jobs=tuple(map(requested, jobs)),
        s3_sources=asked.s3_sources(jobs),
    )
    return defer(plan, _is_unmade)


def _job(name: str, settings: JobSettings, locations: asked.Locations, region: str) -> TrainingJob:
    try:
        image = settings.image or images.scikit_learn(region)
    except ValueError as error:
        raise UserError(f"jobs.{name}: {error}") from None
    return asked.job(name, settings, locations, image=image)


def _locations(settings: Settings, client: Client) -> asked.Locations:
    """Where `dataset` and `output` are: in existing buckets, or in those of a deployed DatasetStack."""
    made = _outputs(client)
    data, output = (made.get(name, f"{_UNMADE}:{name}}}") for name in (_DATA, _OUTPUT))
    return asked.Locations.of(settings.dataset, data=data, output=output)


def _is_unmade(value: object) -> bool:
    return isinstance(value, str) and _UNMADE in value


def _outputs(client: Client) -> dict[str, str]:
    try:
        stack = client("cloudformation").describe_stacks(StackName=_STACK)["Stacks"][0]
    except ClientError as error:
        if code(error) == "ValidationError":  # CloudFormation's word for a stack that does not exist
            return {}
        raise
    return {item["OutputKey"]: item["OutputValue"] for item in stack.get("Outputs", ())}

"""What trainfeed.yaml asks for, as far as AWS can be asked about it before it is deployed.

Stands beside the command line: it knows the settings of the app and what `run` can look at.
"""

from botocore.exceptions import ClientError

from stacks.settings import DATASET, OUTPUT, S3Channel, Settings
from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.run.aws import Client, code
from trainfeed.run.preflight import ExistingNetwork, FileSystemPlan, Plan
from trainfeed.sources import S3Link, S3Source, S3Uri

#: The stack of the buckets, and its outputs that name them.
_STACK, _DATA, _OUTPUT = "DatasetStack", "DataBucket", "OutputBucket"


def of(settings: Settings, client: Client) -> Plan:
    """The plan that follows from settings; links to buckets that are still to be made are left out."""
    places = _places(settings, client)
    existing = settings.network.existing
    return Plan(
        zone_id=settings.network.zone_id,
        network=ExistingNetwork(**existing.model_dump()) if existing else None,
        buckets=tuple(filter(None, (settings.dataset.data_bucket, settings.dataset.output_bucket))),
        file_systems=tuple(
            FileSystemPlan(
                configuration=LustreConfiguration(
                    storage_capacity_gib=source.storage_capacity_gib,
                    deployment_type=source.deployment_type,
                    storage_type=source.storage_type,
                    per_unit_storage_throughput=source.per_unit_storage_throughput,
                    links=tuple(
                        S3Link(uri=uri, **link.model_dump(exclude={"uri"}))
                        for link in source.links
                        if (uri := _find(link.uri, places))
                    ),
                ),
                security_group_id=source.security_group_id,
            )
            for source in settings.sources.values()
        ),
        s3_sources=tuple(
            S3Source(uri=uri, mode=channel.mode)
            for job in settings.jobs.values()
            for channel in job.channels.values()
            if isinstance(channel, S3Channel) and (uri := _find(channel.uri, places))
        ),
        instances=max((job.instance_count for job in settings.jobs.values()), default=1),
    )


def _places(settings: Settings, client: Client) -> dict[str, S3Uri]:
    """Where `dataset` and `output` are: in existing buckets, or in those of a deployed DatasetStack."""
    made = _outputs(client)
    data = settings.dataset.data_bucket or made.get(_DATA)
    output = settings.dataset.output_bucket or made.get(_OUTPUT)
    places = {}
    if data:
        places[DATASET] = S3Uri(data, settings.dataset.prefix)
    if output:
        places[OUTPUT] = S3Uri(output, "out")
    return places


def _find(uri: str, places: dict[str, S3Uri]) -> S3Uri | None:
    return places.get(uri) if uri in (DATASET, OUTPUT) else S3Uri.parse(uri)


def _outputs(client: Client) -> dict[str, str]:
    try:
        stack = client("cloudformation").describe_stacks(StackName=_STACK)["Stacks"][0]
    except ClientError as error:
        if code(error) == "ValidationError":  # CloudFormation's word for a stack that does not exist
            return {}
        raise
    return {item["OutputKey"]: item["OutputValue"] for item in stack.get("Outputs", ())}

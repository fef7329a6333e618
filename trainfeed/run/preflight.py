"""Asking AWS whether a plan can be deployed, before anything is created. Nothing is changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from botocore.exceptions import ClientError

from trainfeed.rules import account, data, efa, job, lustre, network, s3_link
from trainfeed.rules.job_request import JobRequest
from trainfeed.rules.rule import Finding, check, known
from trainfeed.rules.s3 import address_fault
from trainfeed.run import dataset_facts, file_systems, network_facts, permissions
from trainfeed.run.aws import Client, UserError, code
from trainfeed.sources import S3Source, S3Uri


@dataclass(frozen=True, kw_only=True)
class ExistingNetwork:
    """A network that is to be used as it is."""

    vpc_id: str
    subnet_id: str
    security_group_id: str


@dataclass(frozen=True, kw_only=True)
class FileSystemPlan:
    """A file system to be made.

    Attributes:
        security_group_id: its existing group, None where a new one is made.
        source: its name in the settings, by which one that is deployed is found.
    """

    configuration: lustre.LustreConfiguration
    security_group_id: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be deployed, as far as AWS can be asked about it beforehand.

    Attributes:
        zone_id: the zone asked for, None for the account's first.
        network: the existing network, None where a new one is made.
        buckets: existing buckets, by name.
        buckets_here: more of them, which have to be in the Region.
        file_systems: with their links, of which those to buckets that exist already can be looked at.
        links: all links of all file systems, and the data to be kept from them; None for none.
        jobs: what is to be run.
        s3_sources: what jobs read straight from S3.
    """

    zone_id: str | None = None
    network: ExistingNetwork | None = None
    buckets: tuple[str, ...] = ()
    buckets_here: tuple[str, ...] = ()
    file_systems: tuple[FileSystemPlan, ...] = ()
    links: s3_link.AppLinks | None = None
    jobs: tuple[JobRequest, ...] = ()
    s3_sources: tuple[S3Source, ...] = ()

    @property
    def instances(self) -> int:
        """The most that one job takes."""
        return max((one.instance_count for one in self.jobs), default=1)


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who asks."""

    arn: str
    place: permissions.Place


def whoami(client: Client) -> Identity:
    """The identity that the credentials belong to, and where it works."""
    sts = client("sts")
    answer = sts.get_caller_identity()
    return Identity(
        arn=answer["Arn"],
        place=permissions.Place(
            partition=answer["Arn"].split(":")[1],
            account=answer["Account"],
            region=sts.meta.region_name,
        ),
    )


def examine(client: Client, plan: Plan) -> tuple[Finding, ...]:
    """Every finding on a plan, in the account and Region of the credentials."""
    me = whoami(client)
    unready = _bootstrap(client, me)
    return (
        *unready,
        *_zone(client, plan, me),
        *_network(client, plan, me),
        *_buckets(client, plan, me),
        *_data(client, plan, me),
        *_growth(client, plan),
        *(check(s3_link.APP_RULES, plan.links) if plan.links else ()),
        *(finding for one in plan.jobs for finding in check(job.RULES, one)),
        *_rights(client, me, bootstrapped=not unready),
    )


def _bootstrap(client: Client, me: Identity) -> tuple[Finding, ...]:
    name = f"/cdk-bootstrap/{permissions.QUALIFIER}/version"
    try:
        version = int(client("ssm").get_parameter(Name=name)["Parameter"]["Value"])
    except ClientError as error:
        if code(error) != "ParameterNotFound":
            raise
        version = None
    state = account.Bootstrap(account=me.place.account, region=me.place.region, version=version)
    return check(account.BOOTSTRAP_RULES, state)


def _zone(client: Client, plan: Plan, me: Identity) -> tuple[Finding, ...]:
    if plan.zone_id is None:
        return ()
    region = me.place.region
    if wrong := check(network.ZONE_RULES, network.ZoneChoice(zone_id=plan.zone_id, region=region)):
        return wrong
    zones = network_facts.zone_ids(client)
    return check(account.ZONE_RULES, account.ZoneInAccount(zone_id=plan.zone_id, region=region, zones=zones))


def _network(client: Client, plan: Plan, me: Identity) -> Iterator[Finding]:
    if plan.network is None:
        return
    ids = plan.network
    found = {
        ids.vpc_id: network_facts.vpc(client, ids.vpc_id),
        ids.subnet_id: network_facts.subnet(client, ids.subnet_id),
        ids.security_group_id: network_facts.security_group(client, ids.security_group_id),
    }
    for file_system in plan.file_systems:
        if file_system.security_group_id:
            found[file_system.security_group_id] = network_facts.security_group(
                client, file_system.security_group_id
            )
    yield from check(
        account.NETWORK_RULES,
        account.ExistingNetworkIds(
            vpc_id=ids.vpc_id,
            region=me.place.region,
            missing=tuple(one for one, described in found.items() if described is None),
            vpc_of={one: described["VpcId"] for one, described in found.items() if described},
        ),
    )
    subnet, group = found[ids.subnet_id], found[ids.security_group_id]
    if subnet is None:
        return
    place = network_facts.job_subnet(client, subnet, instances=plan.instances)
    yield from check(network.JOB_SUBNET_RULES, place)
    if group is None:
        return
    clients = (network_facts.group_rules(client, group),)
    cidr = subnet["CidrBlock"]
    jobs = network.JobGroups(groups=clients, instances=plan.instances, cidr=cidr, s3_route=place.s3_route)
    yield from check(network.JOB_GROUP_RULES, jobs)
    with_efa = {one.security_group_id for one in plan.file_systems if one.configuration.efa_enabled}
    for own in dict.fromkeys(file_system.security_group_id for file_system in plan.file_systems):
        if own is None:
            new = network.JobsOfNewFileSystem(clients=clients, cidr=cidr)
            yield from check(network.NEW_FILE_SYSTEM_RULES, new)
        elif described := found[own]:
            servers = (network_facts.group_rules(client, described),)
            if own in with_efa:
                # All traffic has Lustre's ports in it, and is not too wide here.
                yield from check(efa.RULES, efa.EfaPaths(file_system=servers, clients=clients))
                continue
            paths = network.LustrePaths(file_system=servers, clients=clients, cidr=cidr)
            yield from check(network.LUSTRE_PATH_RULES, paths)


def _buckets(client: Client, plan: Plan, me: Identity) -> Iterator[Finding]:
    for name in dict.fromkeys((*plan.buckets, *plan.buckets_here)):
        bucket = account.ExistingBucket(
            name=name, needed_region=me.place.region if name in plan.buckets_here else None
        )
        try:
            bucket = replace(bucket, region=dataset_facts.bucket_region(client, name))
        except UserError as error:
            bucket = replace(bucket, fault=str(error))
        yield from check(account.BUCKET_RULES, bucket)


def _data(client: Client, plan: Plan, me: Identity) -> Iterator[Finding]:
    """Each address is listed once, whoever reads it."""
    region = me.place.region
    links = [link for file_system in plan.file_systems for link in file_system.configuration.links]
    seen: dict[S3Uri, data.DatasetFacts] = {}
    for uri in dict.fromkeys([link.uri for link in links] + [source.uri for source in plan.s3_sources]):
        if not known(uri.bucket) or address_fault(uri.bucket):
            continue  # not made yet, or told of by the rules
        try:
            seen[uri] = dataset_facts.observe(client, uri)
        except UserError as error:
            if uri.bucket not in (*plan.buckets, *plan.buckets_here):  # those were told of already
                yield from check(
                    account.BUCKET_RULES, account.ExistingBucket(name=uri.bucket, fault=str(error))
                )
    for link in links:
        if facts := seen.get(link.uri):
            yield from check(data.LINK_RULES, data.LinkedData(link=link, region=region, data=facts))
    for source in plan.s3_sources:
        if facts := seen.get(source.uri):
            yield from check(data.CHANNEL_RULES, data.ChannelData(source=source, region=region, data=facts))
    for one in plan.jobs:
        yield from check(job.DATA_RULES, job.JobData(request=one, sizes=_sizes(one, seen)))
    for file_system in plan.file_systems:
        imported = [
            seen[link.uri].bytes
            for link in file_system.configuration.links
            if link.import_on_create and link.uri in seen
        ]
        yield from check(
            (*lustre.RULES, *s3_link.RULES),
            replace(file_system.configuration, region=region, dataset_bytes=sum(imported)),
        )


def _sizes(request: JobRequest, seen: Mapping[S3Uri, data.DatasetFacts]) -> dict[str, int]:
    """How large the channels of a job are whose data was looked at."""
    return {
        channel.name: facts.bytes
        for channel in request.channels
        if channel.s3_uri and known(channel.s3_uri) and (facts := seen.get(S3Uri.parse(channel.s3_uri)))
    }


def _growth(client: Client, plan: Plan) -> Iterator[Finding]:
    """What becomes of file systems that are deployed; one of another kind is replaced, and does not grow."""
    for file_system in plan.file_systems:
        asked = file_system.configuration
        current = file_system.source and file_systems.current(client, file_system.source)
        if current and asked.storage_capacity_gib and _kind(current) == _kind(asked):
            growth = lustre.LustreGrowth(current=current, storage_capacity_gib=asked.storage_capacity_gib)
            yield from check(lustre.GROWTH_RULES, growth)


def _kind(configuration: lustre.LustreConfiguration) -> tuple[object, ...]:
    """What cannot be changed of a file system: CloudFormation makes a new one."""
    return (configuration.deployment_type, configuration.storage_type, configuration.efa_enabled)


def _rights(client: Client, me: Identity, *, bootstrapped: bool) -> Iterator[Finding]:
    place = me.place
    needs = (*permissions.CALLING_THE_CDK, *permissions.RUNNING)
    asked = [(me.arn, "starts deployments and runs", needs)]
    if bootstrapped:
        role = f"role/cdk-{permissions.QUALIFIER}-cfn-exec-role-{place.account}-{place.region}"
        execution = f"arn:{place.partition}:iam::{place.account}:{role}"
        asked.append((execution, "makes the stacks", permissions.DEPLOYING))
    for principal, purpose, rights in asked:
        answer = permissions.ask(client, principal=principal, role=purpose, needs=rights, place=place)
        yield from check(account.RIGHTS_RULES, answer)

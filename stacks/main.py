"""What exists: the stacks that follow from the settings."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from aws_cdk import Annotations, App, Environment, Stack

from stacks import asked
from stacks.dataset import DatasetStack, locations
from stacks.fsx_lustre import FsxLustreStack
from stacks.network import NetworkStack
from stacks.settings import Settings, locate, read
from stacks.training_job import TrainingJobStack
from stacks.yaml_file import Fault, SettingsError, YamlFile
from trainfeed.rules.network import ZONE_RULES, ZoneChoice
from trainfeed.rules.rule import UNRESOLVED, RuleViolationError, require
from trainfeed.rules.s3_link import APP_RULES
from trainfeed.sources import S3Uri


def main() -> None:
    """Synthesise the app; where its settings are wrong, say so and exit with 1."""
    app = App(analytics_reporting=False)
    try:
        build(app, read(locate(app.node.try_get_context("config"))))
    except SettingsError as error:
        sys.exit(str(error))
    app.synth()


def build(app: App, file: YamlFile[Settings]) -> None:
    """Define every stack that the settings ask for, and none that nothing needs.

    Raises:
        SettingsError: AWS would refuse some of it; the text names every reason with its place in the file.
    """
    settings, faults = file.content, _Faults()
    # The CLI tells which account and Region it is about to deploy to; without it, both stay open.
    env = Environment(
        account=os.environ.get("CDK_DEFAULT_ACCOUNT"), region=os.environ.get("CDK_DEFAULT_REGION")
    )
    places = locations(settings.dataset)
    with faults.at("sources"):
        # Buckets that are still to be made are told apart, and named in messages, by these words.
        named = asked.Locations.of(settings.dataset, data="(the data bucket)", output="(the output bucket)")
        require(APP_RULES, asked.app_links(settings, named))
    network: Stack | None = None
    dataset: Stack | None = None
    if settings.sources and settings.network.existing is None:
        with faults.at("network", "zone_id"):
            network = NetworkStack(
                app, settings=settings.network, other_buckets=_existing_buckets(settings), env=env
            )
    elif settings.network.zone_id is not None:
        with faults.at("network", "zone_id"):
            region = env.region or UNRESOLVED
            require(ZONE_RULES, ZoneChoice(zone_id=settings.network.zone_id, region=region))
    if any(settings.dataset.is_new(uri) for uri in _uris(settings)):
        dataset = DatasetStack(app, settings=settings.dataset, env=env)

    sources: dict[str, Stack] = {}
    for name, source in settings.sources.items():
        with faults.at("sources", name):
            stack = FsxLustreStack(
                app, name=name, settings=source, network=settings.network, locations=places, env=env
            )
            uses_dataset = any(settings.dataset.is_new(link.uri) for link in source.links)
            _depend(stack, network, dataset if uses_dataset else None)
            sources[name] = stack
    for name, job in settings.jobs.items():
        with faults.at("jobs", name):
            stack = TrainingJobStack(app, name=name, settings=job, locations=places, env=env)
            uses_dataset = any(settings.dataset.is_new(uri) for uri in job.uris)
            _depend(
                stack, *(sources.get(source) for source in job.sources), dataset if uses_dataset else None
            )
    file.refuse(faults)

    for name in sources.keys() - {source for job in settings.jobs.values() for source in job.sources}:
        Annotations.of(sources[name]).add_info_v2(
            "trainfeed:UNUSED-FILE-SYSTEM",
            f"No job of {file.path} uses the file system {name}. It bills from its creation until "
            f"`cdk destroy {sources[name].stack_name}`, used or not.",
        )


class _Faults(list[Fault]):
    """What AWS would refuse, gathered from all stacks so that it is said at once."""

    @contextmanager
    def at(self, *where: str) -> Iterator[None]:
        """Gather what is found inside, as said by this setting."""
        try:
            yield
        except RuleViolationError as error:
            self.extend(Fault(where=where, message=str(finding)) for finding in error.findings)
        except ValueError as error:
            self.append(Fault(where=where, message=str(error)))


def _depend(stack: Stack, *needed: Stack | None) -> None:
    for other in needed:
        if other is not None:
            stack.add_stack_dependency(other)


def _uris(settings: Settings) -> Iterator[str]:
    """Everything in S3 that the settings speak of."""
    for source in settings.sources.values():
        yield from (link.uri for link in source.links)
    for job in settings.jobs.values():
        yield from job.uris


def _existing_buckets(settings: Settings) -> list[str]:
    """Buckets that jobs in the network reach though they may be another account's."""
    jobs = [job for job in settings.jobs.values() if job.sources]
    named = [S3Uri.parse(uri).bucket for job in jobs for uri in job.uris if uri.startswith("s3://")]
    existing = [settings.dataset.data_bucket, settings.dataset.output_bucket]
    return sorted({*named, *(bucket for bucket in existing if bucket)})

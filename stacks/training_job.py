"""The stack of one job template."""

from aws_cdk import Aws, CfnMapping, CfnOutput, Environment, Token
from constructs import Construct

from stacks.dataset import Locations
from stacks.settings import FileSystemChannel, JobSettings, S3Channel
from stacks.tagged_stack import TaggedStack
from trainfeed import images, names
from trainfeed.job import TrainingJob
from trainfeed.sources import Channel, LustreSource, S3Source
from trainfeed_constructs import TrainingJobTemplate


class TrainingJobStack(TaggedStack):
    """A job that is run with `trainfeed run`; it needs its own sources' stacks and no others."""

    def __init__(
        self,
        scope: Construct,
        *,
        name: str,
        settings: JobSettings,
        locations: Locations,
        env: Environment,
    ) -> None:
        """Define the stack.

        Args:
            scope: the app.
            name: the job's name in the settings.
            settings: what is run, on what, and on which data.
            locations: the buckets that channels mean by `dataset` and `output`.
            env: account and Region.

        Raises:
            RuleViolationError: SageMaker would refuse the job.
            ValueError: no image is named, and AWS has none in the Region.
        """
        super().__init__(scope, names.stack(name), description=f"the training job {name}", env=env)
        template = TrainingJobTemplate(
            self,
            "Job",
            job=TrainingJob(
                name=name,
                image=settings.image or self._default_image(),
                channels=tuple(
                    Channel(name=channel, source=_source(stated, locations))
                    for channel, stated in settings.channels.items()
                ),
                output=locations.models,
                code=locations.code,
                **settings.model_dump(
                    include={"instance_type", "instance_count", "volume_size_gib", "hyperparameters"}
                ),
                max_run_seconds=settings.max_runtime_seconds,
            ),
        )
        CfnOutput(self, "Run", value=f"trainfeed run {name} --script PATH", description="How to run the job")
        CfnOutput(
            self,
            "StateMachine",
            value=template.state_machine_arn,
            description="What a run is an execution of",
        )

    def _default_image(self) -> str:
        if not Token.is_unresolved(self.region):
            return images.scikit_learn(self.region)
        # Where the Region is only known at deployment, CloudFormation looks it up.
        registries = {
            region: {"Uri": images.scikit_learn(region)}
            for region in images.images()["scikit-learn"].registries
        }
        return CfnMapping(self, "Images", mapping=registries).find_in_map(Aws.REGION, "Uri")


def _source(channel: S3Channel | FileSystemChannel, locations: Locations) -> S3Source | LustreSource:
    if isinstance(channel, S3Channel):
        return S3Source(uri=locations.find(channel.uri), mode=channel.mode)
    return LustreSource(facts=channel.source, path=channel.path, access=channel.access)

"""The stack of one job template."""

from aws_cdk import Aws, CfnMapping, CfnOutput, Environment, Token
from constructs import Construct

from stacks import asked
from stacks.settings import JobSettings
from stacks.tagged_stack import TaggedStack
from trainfeed import images, names
from trainfeed_constructs import TrainingJobTemplate


class TrainingJobStack(TaggedStack):
    """A job that is run with `trainfeed run`; it needs its own sources' stacks and no others."""

    def __init__(
        self,
        scope: Construct,
        *,
        name: str,
        settings: JobSettings,
        locations: asked.Locations,
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
            job=asked.job(name, settings, locations, image=settings.image or self._default_image()),
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

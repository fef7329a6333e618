"""The stack of the buckets: the data, and what jobs leave behind."""

from aws_cdk import CfnOutput, Environment, Fn, aws_s3
from constructs import Construct

from stacks.asked import Locations
from stacks.settings import DatasetSettings
from stacks.tagged_stack import TaggedStack
from trainfeed_constructs import DatasetBucket

STACK = "DatasetStack"
#: What others import by name. The names are always exported: nobody is kept from leaving.
_DATA, _OUTPUT = (f"{STACK}:{name}" for name in ("DataBucket", "OutputBucket"))


def locations(settings: DatasetSettings) -> Locations:
    """The buckets of DatasetStack, or the existing ones, as another stack sees them."""
    return Locations.of(settings, data=Fn.import_value(_DATA), output=Fn.import_value(_OUTPUT))


class DatasetStack(TaggedStack):
    """Two private buckets, kept when the stack goes; or one, where the other was there before."""

    def __init__(self, scope: Construct, *, settings: DatasetSettings, env: Environment) -> None:
        """Define the stack.

        Args:
            scope: the app.
            settings: which buckets are new, and when their objects move to Intelligent-Tiering.
            env: account and Region.
        """
        super().__init__(
            scope, STACK, description="the dataset's bucket and that of what jobs leave", env=env
        )
        logs = settings.access_log_bucket and aws_s3.Bucket.from_bucket_name(
            self, "AccessLogs", settings.access_log_bucket
        )
        for id_, existing, export, what in (
            ("Data", settings.data_bucket, _DATA, "The dataset's bucket"),
            ("Output", settings.output_bucket, _OUTPUT, "The bucket of models, outputs and code"),
        ):
            if existing is None:
                bucket = DatasetBucket(
                    self,
                    id_,
                    intelligent_tiering_days=settings.intelligent_tiering_days,
                    access_log_bucket=logs or None,
                )
                CfnOutput(
                    self, f"{id_}Bucket", value=bucket.bucket_name, export_name=export, description=what
                )
                if id_ == "Data":
                    CfnOutput(
                        self,
                        "Upload",
                        value=f"aws s3 sync DIRECTORY s3://{bucket.bucket_name}/{settings.prefix}/",
                        description="How the dataset gets there",
                    )

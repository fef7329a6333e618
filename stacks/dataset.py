"""The stack of the buckets: the data, and what jobs leave behind."""

from dataclasses import dataclass
from typing import Self

from aws_cdk import CfnOutput, Environment, Fn, aws_s3
from constructs import Construct

from stacks.settings import DATASET, OUTPUT, DatasetSettings
from stacks.tagged_stack import TaggedStack
from trainfeed.sources import S3Uri
from trainfeed_constructs import DatasetBucket

STACK = "DatasetStack"
#: What others import by name. The names are always exported: nobody is kept from leaving.
_DATA, _OUTPUT = (f"{STACK}:{name}" for name in ("DataBucket", "OutputBucket"))


@dataclass(frozen=True, kw_only=True)
class Locations:
    """Where in S3 the dataset lies, and where everything else goes."""

    dataset: S3Uri
    output_bucket: str

    @classmethod
    def of(cls, settings: DatasetSettings) -> Self:
        """The buckets of DatasetStack, or the existing ones, as another stack sees them."""
        return cls(
            dataset=S3Uri(settings.data_bucket or Fn.import_value(_DATA), settings.prefix),
            output_bucket=settings.output_bucket or Fn.import_value(_OUTPUT),
        )

    def find(self, uri: str) -> S3Uri:
        """Where the `uri` of a link or a channel leads."""
        named = {DATASET: self.dataset, OUTPUT: S3Uri(self.output_bucket, "out")}
        return named[uri] if uri in named else S3Uri.parse(uri)

    @property
    def models(self) -> S3Uri:
        """Where jobs leave model and output."""
        return S3Uri(self.output_bucket, "outputs")

    @property
    def code(self) -> S3Uri:
        """Where the packed scripts of runs lie."""
        return S3Uri(self.output_bucket, "code")


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

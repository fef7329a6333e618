"""The buckets of a dataset and of what jobs leave behind."""

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Validations, aws_s3
from constructs import Construct


class DatasetBucket(aws_s3.Bucket):
    """A private, encrypted bucket that is kept when its stack goes.

    An existing bucket is `DatasetBucket.from_bucket_name`, as with any CDK bucket.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        intelligent_tiering_days: int | None = 30,
        access_log_bucket: aws_s3.IBucket | None = None,
    ) -> None:
        """Define the bucket.

        Args:
            scope: the parent.
            id_: the name below the parent.
            intelligent_tiering_days: days after which an object moves to S3 Intelligent-Tiering, where
                what is not read gets cheaper by itself; None: never. Default: 30.
            access_log_bucket: where S3 writes server access logs. Default: nowhere.
        """
        transitions = (
            []
            if intelligent_tiering_days is None
            else [
                aws_s3.Transition(
                    storage_class=aws_s3.StorageClass.INTELLIGENT_TIERING,
                    transition_after=Duration.days(intelligent_tiering_days),
                )
            ]
        )
        super().__init__(
            scope,
            id_,
            encryption=aws_s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            block_public_access=aws_s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=aws_s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                aws_s3.LifecycleRule(
                    # Parts of uploads that never ended are billed and not seen.
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                    transitions=transitions,
                )
            ],
            server_access_logs_bucket=access_log_bucket,
            removal_policy=RemovalPolicy.RETAIN,
        )
        if self.policy is not None:
            # What is kept stays protected.
            self.policy.apply_removal_policy(RemovalPolicy.RETAIN)
        if access_log_bucket is None:
            Validations.of(self).acknowledge(
                Acknowledgment(
                    id="AwsSolutions-S1",
                    reason="An epoch over a million files writes a million lines of access log; a bucket for "
                    "them can be given.",
                )
            )

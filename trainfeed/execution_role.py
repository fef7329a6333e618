"""What a training job's role may do: what its own sources need, and no more.

Each grant says why it is there and which page asks for it. The rights are those of
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createtrainingjob-perms
narrowed to the job's buckets, prefixes, image and log groups.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainfeed.job import TrainingJob
from trainfeed.sources import S3Source, S3Uri

_ROLES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createtrainingjob-perms"
_ECR_IMAGE = re.compile(r"(?P<account>[^/]+?)\.dkr\.ecr(?:-fips)?\.[^/]+/(?P<repository>[^:@]+)(?:[:@].*)?")


@dataclass(frozen=True, kw_only=True)
class Grant:
    """Some rights of the role, and why it has them.

    Attributes:
        sid: a name for the statement.
        why: what the job does with them.
        source: the page that asks for them.
    """

    sid: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    why: str
    source: str = _ROLES
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def statement(self) -> dict[str, Any]:
        """The grant as a statement of an IAM policy."""
        rendered: dict[str, Any] = {
            "Sid": self.sid,
            "Effect": "Allow",
            "Action": list(self.actions),
            "Resource": list(self.resources),
        }
        if self.conditions:
            rendered["Condition"] = {operator: dict(keys) for operator, keys in self.conditions.items()}
        return rendered


def execution_role_grants(
    job: TrainingJob, *, partition: str, region: str, account: str, kms_key_arns: tuple[str, ...] = ()
) -> tuple[Grant, ...]:
    """Exactly the rights SageMaker needs to run a job, each with its reason.

    Names, ARNs, account and Region may be CDK tokens: they are only put together, never read.

    Args:
        job: the job template.
        partition: `aws`, `aws-cn`, `aws-us-gov`.
        region: where the job runs.
        account: whose job it is.
        kms_key_arns: the keys of its buckets, where they have keys of their own.
    """
    arn = f"arn:{partition}"
    grants = [
        *_data(job, arn),
        _output(job, arn),
        _logs(f"{arn}:logs:{region}:{account}"),
        *_image(job, arn, region),
    ]
    if job.metric_definitions:
        grants.append(
            Grant(
                sid="SendMetrics",
                actions=("cloudwatch:PutMetricData",),
                resources=("*",),
                conditions={"StringLike": {"cloudwatch:namespace": "/aws/sagemaker/*"}},
                why="the numbers found in the log go to CloudWatch; the action knows no resources",
            )
        )
    if job.file_systems:
        grants.append(_network())
    if kms_key_arns:
        grants.append(
            Grant(
                sid="UseBucketKeys",
                actions=("kms:Decrypt", "kms:GenerateDataKey"),
                resources=kms_key_arns,
                why="the objects it reads and writes are encrypted with these keys",
                source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html",
            )
        )
    return tuple(grants)


def _data(job: TrainingJob, arn: str) -> Iterator[Grant]:
    sources = (channel.source for channel in job.channels)
    folders = dict.fromkeys([*(source.uri for source in sources if isinstance(source, S3Source)), job.code])
    for number, bucket in enumerate(dict.fromkeys(folder.bucket for folder in folders)):
        prefixes = [folder.folder for folder in folders if folder.bucket == bucket]
        yield Grant(
            sid=f"ListData{number or ''}",
            actions=("s3:ListBucket",),
            resources=(f"{arn}:s3:::{bucket}",),
            # A prefix of "" is the whole bucket, and leaves nothing to narrow.
            conditions={}
            if "" in prefixes
            else {"StringLike": {"s3:prefix": [f"{prefix}*" for prefix in prefixes]}},
            why="SageMaker lists the folders of the S3 channels and of the code",
        )
    yield Grant(
        sid="ReadData",
        actions=("s3:GetObject",),
        resources=tuple(_objects(folder, arn) for folder in folders),
        why="SageMaker downloads the S3 channels and the code with the role's rights",
    )


def _output(job: TrainingJob, arn: str) -> Grant:
    return Grant(
        sid="WriteOutput",
        actions=("s3:PutObject", "s3:AbortMultipartUpload"),
        resources=(_objects(job.output, arn),),
        why="SageMaker uploads the model and the output, in parts where they are large",
    )


def _objects(folder: S3Uri, arn: str) -> str:
    return f"{arn}:s3:::{folder.bucket}/{folder.folder}*"


def _logs(arn: str) -> Grant:
    group = f"{arn}:log-group:/aws/sagemaker/TrainingJobs"
    return Grant(
        sid="WriteLogs",
        actions=(
            "logs:CreateLogGroup",
            "logs:CreateLogStream",
            "logs:DescribeLogStreams",
            "logs:PutLogEvents",
        ),
        resources=(f"{group}*",),
        why="the container's output goes to CloudWatch Logs",
    )


def _image(job: TrainingJob, arn: str, region: str) -> Iterator[Grant]:
    match = _ECR_IMAGE.fullmatch(job.image)
    # An image known only at deployment may be any; the account's own are all it can be narrowed to.
    account, repository = (match["account"], match["repository"]) if match else ("*", "*")
    yield Grant(
        sid="PullImage",
        actions=("ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"),
        resources=(f"{arn}:ecr:{region}:{account}:repository/{repository}",),
        why="SageMaker pulls the image with the role's rights",
    )
    yield Grant(
        sid="LogInToRegistry",
        actions=("ecr:GetAuthorizationToken",),
        resources=("*",),
        why="pulling needs a login, and the action knows no resources",
    )


def _network() -> Grant:
    return Grant(
        sid="AttachToNetwork",
        actions=(
            "ec2:CreateNetworkInterface",
            "ec2:CreateNetworkInterfacePermission",
            "ec2:DeleteNetworkInterface",
            "ec2:DeleteNetworkInterfacePermission",
            "ec2:DescribeDhcpOptions",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeVpcs",
        ),
        # SageMaker tries these rights out when the job is created; the page asks for no narrowing.
        resources=("*",),
        why="the job's instances reach the file system through interfaces in its subnet",
    )

"""Whether an identity has the rights that deploying and running take, asked of IAM's simulator."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from botocore.exceptions import ClientError

from trainfeed.rules.account import PrincipalRights
from trainfeed.run.aws import Client, code, denied

#: What `cdk bootstrap` puts into the names of its roles.
QUALIFIER = "hnb659fds"

_ASSUMED_ROLE = re.compile(r"arn:(?P<partition>[\w-]+):sts::(?P<account>\d+):assumed-role/(?P<role>[^/]+)/.+")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where rights are needed."""

    partition: str
    account: str
    region: str


@dataclass(frozen=True, kw_only=True)
class Rights:
    """Actions that are needed on one resource.

    Attributes:
        actions: as policies name them.
        resource: an ARN in which {partition}, {account} and {region} stand for those of the deployment.
        context: what policies may ask of the call.
    """

    actions: tuple[str, ...]
    resource: str = "*"
    context: Mapping[str, str] = field(default_factory=dict)


_SERVICE_ROLE = "arn:{partition}:iam::{account}:role/aws-service-role"
_LINK_ROLE = f"{_SERVICE_ROLE}/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_fs-0"
_BUCKET = "arn:{partition}:s3:::datasetstack-data"
_ROLE = "arn:{partition}:iam::{account}:role/TrainingJobStack-Role"

#: What CloudFormation's execution role needs for all the stacks, from creation to deletion.
DEPLOYING = (
    Rights(
        resource="arn:{partition}:fsx:{region}:{account}:file-system/fs-0",
        actions=(
            "fsx:CreateFileSystem",
            "fsx:UpdateFileSystem",
            "fsx:DeleteFileSystem",
            "fsx:CreateDataRepositoryAssociation",
            "fsx:TagResource",
            "fsx:UntagResource",
            "fsx:ListTagsForResource",
        ),
    ),
    Rights(
        resource="arn:{partition}:fsx:{region}:{account}:association/fs-0/dra-0",
        actions=(
            "fsx:CreateDataRepositoryAssociation",
            "fsx:UpdateDataRepositoryAssociation",
            "fsx:DeleteDataRepositoryAssociation",
        ),
    ),
    Rights(actions=("fsx:DescribeFileSystems", "fsx:DescribeDataRepositoryAssociations")),
    Rights(
        resource=f"{_SERVICE_ROLE}/fsx.amazonaws.com/AWSServiceRoleForAmazonFSx",
        actions=("iam:CreateServiceLinkedRole",),
        context={"iam:AWSServiceName": "fsx.amazonaws.com"},
    ),
    Rights(
        resource=_LINK_ROLE,
        actions=("iam:CreateServiceLinkedRole", "iam:AttachRolePolicy", "iam:PutRolePolicy"),
        context={"iam:AWSServiceName": "s3.data-source.lustre.fsx.amazonaws.com"},
    ),
    Rights(
        resource=_BUCKET,
        actions=(
            "s3:CreateBucket",
            "s3:PutBucketLogging",
            "s3:PutBucketPolicy",
            "s3:DeleteBucketPolicy",
            "s3:PutBucketOwnershipControls",
            "s3:PutBucketPublicAccessBlock",
            "s3:PutBucketTagging",
            "s3:PutEncryptionConfiguration",
            "s3:PutLifecycleConfiguration",
            # FSx makes a link with the rights of who asks for it.
            "s3:GetBucketAcl",
            "s3:GetBucketLocation",
            "s3:GetBucketPolicy",
            "s3:GetBucketNotification",
            "s3:PutBucketNotification",
            "s3:ListBucket",
        ),
    ),
    Rights(resource=f"{_BUCKET}/data/1", actions=("s3:GetObject", "s3:PutObject")),
    Rights(
        resource=_ROLE,
        actions=(
            "iam:CreateRole",
            "iam:DeleteRole",
            "iam:GetRole",
            "iam:GetRolePolicy",
            "iam:PutRolePolicy",
            "iam:DeleteRolePolicy",
            "iam:TagRole",
            "iam:UntagRole",
            "iam:UpdateAssumeRolePolicy",
            "iam:ListRolePolicies",
            "iam:ListAttachedRolePolicies",
        ),
    ),
    Rights(
        resource=_ROLE, actions=("iam:PassRole",), context={"iam:PassedToService": "states.amazonaws.com"}
    ),
    Rights(
        resource="arn:{partition}:states:{region}:{account}:stateMachine:trainfeed-training",
        actions=(
            "states:CreateStateMachine",
            "states:UpdateStateMachine",
            "states:DeleteStateMachine",
            "states:DescribeStateMachine",
            "states:TagResource",
            "states:UntagResource",
            "states:ListTagsForResource",
        ),
    ),
    Rights(
        resource="arn:{partition}:ssm:{region}:{account}:parameter/trainfeed/jobs/training",
        actions=(
            "ssm:PutParameter",
            "ssm:GetParameters",
            "ssm:DeleteParameter",
            "ssm:AddTagsToResource",
            "ssm:RemoveTagsFromResource",
        ),
    ),
    Rights(
        resource="arn:{partition}:logs:{region}:{account}:log-group:/aws/vendedlogs/states/trainfeed-training",
        actions=(
            "logs:CreateLogGroup",
            "logs:DeleteLogGroup",
            "logs:PutRetentionPolicy",
            "logs:TagResource",
            "logs:UntagResource",
            "logs:ListTagsForResource",
        ),
    ),
    Rights(actions=("logs:DescribeLogGroups",)),
    Rights(
        actions=(
            "ec2:CreateVpc",
            "ec2:DeleteVpc",
            "ec2:ModifyVpcAttribute",
            "ec2:CreateSubnet",
            "ec2:DeleteSubnet",
            "ec2:ModifySubnetAttribute",
            "ec2:CreateRouteTable",
            "ec2:DeleteRouteTable",
            "ec2:AssociateRouteTable",
            "ec2:DisassociateRouteTable",
            "ec2:CreateVpcEndpoint",
            "ec2:ModifyVpcEndpoint",
            "ec2:DeleteVpcEndpoints",
            "ec2:CreateSecurityGroup",
            "ec2:DeleteSecurityGroup",
            "ec2:AuthorizeSecurityGroupIngress",
            "ec2:AuthorizeSecurityGroupEgress",
            "ec2:RevokeSecurityGroupIngress",
            "ec2:RevokeSecurityGroupEgress",
            "ec2:CreateTags",
            "ec2:DeleteTags",
            "ec2:DescribeAvailabilityZones",
            "ec2:DescribeNetworkAcls",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeRouteTables",
            "ec2:DescribeSecurityGroupRules",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeVpcAttribute",
            "ec2:DescribeVpcEndpoints",
            "ec2:DescribeVpcs",
        )
    ),
)

#: What you need to have the CDK deploy: its own roles do the rest.
CALLING_THE_CDK = tuple(
    Rights(
        actions=("sts:AssumeRole",),
        resource=f"arn:{{partition}}:iam::{{account}}:role/cdk-{QUALIFIER}-{role}-{{account}}-{{region}}",
    )
    for role in ("deploy-role", "file-publishing-role")
)

#: What you need for `trainfeed run`, `follow` and `stop`.
RUNNING = (
    Rights(
        actions=("ssm:GetParameter",),
        resource="arn:{partition}:ssm:{region}:{account}:parameter/trainfeed/jobs/training",
    ),
    Rights(
        actions=("s3:GetObject", "s3:PutObject"),
        resource="arn:{partition}:s3:::datasetstack-output/code/train.py",
    ),
    Rights(
        actions=("states:StartExecution",),
        resource="arn:{partition}:states:{region}:{account}:stateMachine:trainfeed-training",
    ),
    Rights(
        actions=("states:DescribeExecution", "states:GetExecutionHistory", "states:StopExecution"),
        resource="arn:{partition}:states:{region}:{account}:execution:trainfeed-training:training-1",
    ),
    Rights(
        actions=("sagemaker:DescribeTrainingJob",),
        resource="arn:{partition}:sagemaker:{region}:{account}:training-job/training-1",
    ),
    Rights(
        actions=("logs:DescribeLogStreams", "logs:GetLogEvents"),
        resource="arn:{partition}:logs:{region}:{account}:log-group:/aws/sagemaker/TrainingJobs:log-stream:1",
    ),
)


def ask(
    client: Client, *, principal: str, role: str, needs: Iterable[Rights], place: Place
) -> PrincipalRights:
    """Ask IAM which of some rights a principal lacks.

    Args:
        client: makes AWS clients.
        principal: the ARN of a user, a role, or a session of a role.
        role: what the principal is needed for, in words.
        needs: the rights.
        place: the deployment's account and Region.
    """
    if principal.endswith(":root"):  # may do anything, and the simulator does not take it
        return PrincipalRights(principal=principal, role=role)
    missing: list[str] = []
    try:
        source = _policy_source(client, principal)
        for rights in needs:
            missing += _lacks(client, source, rights, place)
    except ClientError as error:
        if denied(error):
            why = "you may not call iam:SimulatePrincipalPolicy."
        elif code(error) in ("NoSuchEntity", "InvalidInput"):
            why = f"IAM does not know it ({error.response['Error']['Message']})."
        else:
            raise
        return PrincipalRights(principal=principal, role=role, unknown=why)
    return PrincipalRights(principal=principal, role=role, missing=tuple(dict.fromkeys(missing)))


def _policy_source(client: Client, principal: str) -> str:
    """The role behind a session: its name in the session's ARN lacks the path that its own ARN has."""
    match = _ASSUMED_ROLE.fullmatch(principal)
    if match is None:
        return principal
    try:
        return client("iam").get_role(RoleName=match["role"])["Role"]["Arn"]
    except ClientError as error:
        if not denied(error):
            raise
        return f"arn:{match['partition']}:iam::{match['account']}:role/{match['role']}"


def _lacks(client: Client, source: str, rights: Rights, place: Place) -> list[str]:
    resource = rights.resource.format(partition=place.partition, account=place.account, region=place.region)
    pages = (
        client("iam")
        .get_paginator("simulate_principal_policy")
        .paginate(
            PolicySourceArn=source,
            ActionNames=list(rights.actions),
            ResourceArns=[resource],
            ContextEntries=[
                {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"}
                for key, value in rights.context.items()
            ],
        )
    )
    return [
        result["EvalActionName"]
        for page in pages
        for result in page["EvaluationResults"]
        if result["EvalDecision"] != "allowed"
    ]

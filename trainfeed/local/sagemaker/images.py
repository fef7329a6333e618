"""The rights by which SageMaker pulls an image. The local AWS pulls none, but a job without them fails."""

import re
from typing import Any

from trainfeed.local import ministack

_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[^.]+)\.[^/]+/(?P<repository>[^:@]+)(?:[:@].*)?"
)

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createtrainingjob-perms
_ON_REPOSITORY = ("ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage")


def missing_right(role_arn: str, algorithm: dict[str, Any]) -> str | None:
    """The denial of the first right that a role lacks to pull its image from Amazon ECR, or None."""
    image = _ECR.fullmatch(algorithm.get("TrainingImage", ""))
    if image is None:
        return None
    repository = f"arn:aws:ecr:{image['region']}:{image['account']}:repository/{image['repository']}"
    wanted = [("ecr:GetAuthorizationToken", "*"), *((action, repository) for action in _ON_REPOSITORY)]
    denials = (ministack.role_allows(role_arn, action, resource) for action, resource in wanted)
    return next((denial for denial in denials if denial is not None), None)

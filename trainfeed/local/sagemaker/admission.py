"""What the call CreateTrainingJob refuses, in the order in which a request is read."""

import json
from collections.abc import Callable
from typing import Any, Protocol

from botocore.exceptions import ClientError

from trainfeed.local import ministack
from trainfeed.local.sagemaker.channels import input_mode
from trainfeed.local.sagemaker.container import PLACE
from trainfeed.local.sagemaker.network import Network
from trainfeed.local.sagemaker.storage import split
from trainfeed.local.service import ApiError, JsonService
from trainfeed.rules.job import RULES
from trainfeed.rules.job_request import JobRequest
from trainfeed.rules.rule import refusal

_SERVICE = "sagemaker.amazonaws.com"

#: The code of our own refusals: SageMaker would run it, the local AWS does not.
NOT_RUN = "NotRunByLocalAws"


class FileSystems(Protocol):
    """What the jobs need of the local FSx."""

    service: JsonService

    def mount(self, file_system_id: str, *, subnet_id: str, security_group_ids: list[str]) -> Any:
        """Mount a file system in a subnet."""
        ...


def admit(request: dict[str, Any], *, client: Callable[[str], Any], file_systems: FileSystems) -> None:
    """Let a request pass that SageMaker would accept.

    Args:
        request: of a valid shape.
        client: gives a client of the local AWS for a service.
        file_systems: the local FSx.

    Raises:
        ApiError: what the call answers.
    """
    _check_parts(request)
    _check_sources(request)
    _check_rules(request)
    _check_role(request["RoleArn"], client("iam"))
    if "VpcConfig" in request:
        Network.of(request["VpcConfig"])
    _check_runnable(request)
    _check_storage(request, client("s3"))
    _check_file_systems(request, file_systems)


def _invalid(message: str) -> ApiError:
    return ApiError("ValidationException", message)


def _check_parts(request: dict[str, Any]) -> None:
    for name in ("AlgorithmSpecification", "ResourceConfig"):
        if name not in request:
            raise _invalid(f"{name} is required, unless ServerlessJobConfig is given.")
    algorithm = request["AlgorithmSpecification"]
    if ("TrainingImage" in algorithm) == ("AlgorithmName" in algorithm):
        raise _invalid("Give exactly one of TrainingImage and AlgorithmName in AlgorithmSpecification.")


def _check_sources(request: dict[str, Any]) -> None:
    for channel in request.get("InputDataConfig", []):
        given = channel["DataSource"]
        sources = [source for source in ("S3DataSource", "FileSystemDataSource") if source in given]
        if len(sources) != 1:
            raise _invalid(
                f"Channel {channel['ChannelName']} needs exactly one of S3DataSource and "
                f"FileSystemDataSource; it has {' and '.join(sources) or 'neither'}."
            )


def _check_rules(request: dict[str, Any]) -> None:
    refused = refusal(RULES, JobRequest.of(request), "sagemaker:CreateTrainingJob")
    if refused is not None:
        how, message = refused
        raise ApiError(how.code, message)


def _check_role(role_arn: str, iam: Any) -> None:
    try:
        role = iam.get_role(RoleName=role_arn.rpartition("/")[2])["Role"]
    except ClientError:
        role = None
    if role is None or role["Arn"] != role_arn or not _trusts(role["AssumeRolePolicyDocument"]):
        raise _invalid(
            f"Could not assume role {role_arn}. Please ensure that the role exists and allows principal "
            f"'{_SERVICE}' to assume the role."
        )


def _trusts(document: Any) -> bool:
    statements = (json.loads(document) if isinstance(document, str) else document)["Statement"]
    for statement in statements if isinstance(statements, list) else [statements]:
        principal = statement.get("Principal", {})
        services = principal.get("Service", []) if isinstance(principal, dict) else principal
        if (
            statement["Effect"] == "Allow"
            and _SERVICE in ([services] if isinstance(services, str) else services)
            and {"sts:AssumeRole", "sts:*", "*"} & set(_listed(statement.get("Action", [])))
        ):
            return True
    return False


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _check_runnable(request: dict[str, Any]) -> None:
    """Refuse, in words of our own, what SageMaker runs and the local AWS does not."""
    if "ContainerEntrypoint" not in request["AlgorithmSpecification"]:
        raise ApiError(
            NOT_RUN,
            "The local AWS has no images, so it cannot start the `train` program of one. Give "
            "AlgorithmSpecification.ContainerEntrypoint, such as "
            f'["python3", "{PLACE}/input/data/code/train.py"] with the script in a channel `code`.',
        )
    for part, why in (
        ("InstanceGroups", "several instance groups"),
        ("InstancePreferences", "a choice of instance types"),
        ("TrainingPlanArn", "training plans"),
    ):
        if part in request["ResourceConfig"]:
            raise ApiError(NOT_RUN, f"ResourceConfig.{part}: the local AWS does not run {why} yet.")
    checkpoints = request.get("CheckpointConfig", {}).get("LocalPath", f"{PLACE}/checkpoints")
    if not checkpoints.startswith(f"{PLACE}/"):
        raise ApiError(
            NOT_RUN, f"CheckpointConfig.LocalPath: the local AWS keeps checkpoints below {PLACE}/."
        )
    for channel in request.get("InputDataConfig", []):
        what = _not_run(request, channel)
        if what is not None:
            raise ApiError(
                NOT_RUN, f"Channel {channel['ChannelName']}: the local AWS does not run {what} yet."
            )


def _not_run(request: dict[str, Any], channel: dict[str, Any]) -> str | None:
    source = channel["DataSource"]
    if source.get("FileSystemDataSource", {}).get("FileSystemType") == "EFS":
        return "channels from EFS"
    if "S3DataSource" in source:
        if (mode := input_mode(request, channel)) != "File":
            return f"the input mode {mode}, only File,"
        if (kind := source["S3DataSource"]["S3DataType"]) not in ("S3Prefix", "ManifestFile"):
            return f"S3DataType {kind}"
    return None


def _check_storage(request: dict[str, Any], s3: Any) -> None:
    here = ministack.region()
    for channel in request.get("InputDataConfig", []):
        source = channel["DataSource"].get("S3DataSource")
        if source is not None:
            said = _unlistable(s3, source["S3Uri"], request["RoleArn"], here)
            if said is not None:
                raise _invalid(said)
    output = request["OutputDataConfig"]["S3OutputPath"]
    bucket, _ = split(output)
    home = _region_of(s3, bucket)
    if home not in (None, here):
        raise _invalid(
            f"The bucket {bucket} of S3OutputPath {output} is in {home}. It must be in the Region of the "
            f"training job, {here}."
        )


def _unlistable(s3: Any, address: str, role_arn: str, here: str) -> str | None:
    """What the call says of data that the role cannot list in this Region; None where it can."""
    bucket, prefix = split(address)
    home = _region_of(s3, bucket)
    denial = ministack.role_allows(role_arn, "s3:ListBucket", f"arn:aws:s3:::{bucket}", {"s3:prefix": prefix})
    if home is None:
        cause = "The specified bucket does not exist"
    elif home != here:
        cause = f"The bucket is in this region: {home}. Please use this region to retry the request"
    elif denial is not None:
        cause = denial
    elif s3.list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1).get("KeyCount"):
        return None
    else:
        cause = None
    return (
        f'No S3 objects found under S3 URL "{address}" given in input data source. Please ensure that the '
        f"bucket exists in the selected region ({here}), that objects exist under that S3 prefix, and that "
        f'the role "{role_arn}" has "s3:ListBucket" permissions on bucket "{bucket}".'
        + (f" Error message from S3: {cause}" if cause else "")
    )


def _region_of(s3: Any, bucket: str) -> str | None:
    try:
        return s3.get_bucket_location(Bucket=bucket)["LocationConstraint"] or "us-east-1"
    except ClientError:
        return None


def _check_file_systems(request: dict[str, Any], file_systems: FileSystems) -> None:
    for channel in request.get("InputDataConfig", []):
        source = channel["DataSource"].get("FileSystemDataSource")
        if source is not None:
            try:
                file_systems.service.call("DescribeFileSystems", {"FileSystemIds": [source["FileSystemId"]]})
            except ApiError as error:
                raise _invalid(f"File system not found: {source['FileSystemId']}. {error}") from error

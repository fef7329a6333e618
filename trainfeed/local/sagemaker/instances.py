"""What each instance of a job finds: the files of /opt/ml/input/config and its environment.

https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html
"""

from collections.abc import Callable, Mapping
from typing import Any

from trainfeed.local.sagemaker.channels import input_mode

_GROUP = "homogeneousCluster"


def hosts(request: Mapping[str, Any]) -> list[str]:
    """The names of the instances: `algo-1`, `algo-2` and so on."""
    return [f"algo-{number}" for number in range(1, request["ResourceConfig"]["InstanceCount"] + 1)]


def configuration(
    request: dict[str, Any], *, host: str, mapped: Callable[[str], str]
) -> dict[str, dict[str, Any]]:
    """The files of /opt/ml/input/config by their names.

    Args:
        request: the CreateTrainingJob request.
        host: the instance that reads them.
        mapped: puts the real folder for /opt/ml in a hyperparameter, where the job would not find it there.
    """
    instance_type = request["ResourceConfig"].get("InstanceType")
    names = hosts(request)
    return {
        "hyperparameters": {
            name: mapped(value) for name, value in request.get("HyperParameters", {}).items()
        },
        "inputdataconfig": {
            channel["ChannelName"]: _channel(request, channel)
            for channel in request.get("InputDataConfig", [])
        },
        "resourceconfig": {
            "current_host": host,
            "current_instance_type": instance_type,
            "current_group_name": _GROUP,
            "hosts": names,
            "instance_groups": [
                {"instance_group_name": _GROUP, "instance_type": instance_type, "hosts": names}
            ],
            "network_interface_name": "lo",
        },
    }


def environment(
    request: dict[str, Any],
    *,
    arn: str,
    region: str,
    endpoint: str,
    credentials: Mapping[str, str] | None,
) -> dict[str, str]:
    """The variables that SageMaker itself sets, with those of the request.

    The SM_* variables are not among them: on SageMaker it is the toolkit inside an image that sets them,
    and here the program that starts the script (`trainfeed/run/container_entry.py`).

    Args:
        request: the CreateTrainingJob request.
        arn: the job's ARN.
        region: the job's Region.
        endpoint: the local AWS.
        credentials: those of the execution role as STS gives them; None under network isolation, where
            a container gets none.
    """
    given = {**request.get("Environment", {}), "AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    if credentials is not None:
        given |= {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ACCESS_KEY_ID": credentials["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": credentials["SecretAccessKey"],
            "AWS_SESSION_TOKEN": credentials["SessionToken"],
        }
    return {**given, "TRAINING_JOB_NAME": request["TrainingJobName"], "TRAINING_JOB_ARN": arn}


def _channel(request: dict[str, Any], channel: dict[str, Any]) -> dict[str, str]:
    described = {
        "TrainingInputMode": input_mode(request, channel),
        "RecordWrapperType": channel.get("RecordWrapperType", "None"),
    }
    if "ContentType" in channel:
        described["ContentType"] = channel["ContentType"]
    stored = channel["DataSource"].get("S3DataSource")
    if stored is not None:
        described["S3DistributionType"] = stored.get("S3DataDistributionType", "FullyReplicated")
    return described

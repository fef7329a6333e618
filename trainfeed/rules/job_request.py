"""The parts of a CreateTrainingJob request that rules look at.

A template, a request about to be sent and one that arrived at the local AWS are seen alike, so that
the same rules judge them all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from trainfeed.rules.rule import Unresolved


@dataclass(frozen=True, kw_only=True)
class RequestedChannel:
    """An input of a requested job, from S3 or from a file system.

    Attributes:
        input_mode: the channel's own, or else the job's.
        s3_uri: None for a file system.
        directory_path: None for S3.
    """

    name: str
    input_mode: str = "File"
    s3_uri: str | None = None
    s3_data_type: str = "S3Prefix"
    compression: str = "None"
    file_system_id: str | None = None
    directory_path: str | None = None


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """The parts of a CreateTrainingJob request that rules look at.

    Attributes:
        template: the template's name, where the request is that of a template.
    """

    template: str | None = None
    image: str | None = None
    channels: tuple[RequestedChannel, ...] = ()
    output: str = ""
    instance_type: str = "ml.m5.xlarge"
    instance_count: int = 1
    volume_size_gib: int = 30
    max_run_seconds: int = 86_400
    subnets: tuple[str, ...] | None = None
    security_groups: tuple[str, ...] | None = None
    hyperparameters: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: Mapping[str, Any], *, template: str | None = None) -> Self:
        """Read a request; what it leaves out has SageMaker's default."""
        algorithm, resources = request.get("AlgorithmSpecification", {}), request.get("ResourceConfig", {})
        vpc = request.get("VpcConfig")
        return cls(
            template=template,
            image=algorithm.get("TrainingImage"),
            channels=tuple(
                _read_channel(channel, algorithm.get("TrainingInputMode", "File"))
                for channel in request.get("InputDataConfig", ())
            ),
            output=request["OutputDataConfig"]["S3OutputPath"],
            instance_type=resources.get("InstanceType", cls.instance_type),
            instance_count=resources.get("InstanceCount", 1),
            volume_size_gib=resources.get("VolumeSizeInGB", 1),
            max_run_seconds=request.get("StoppingCondition", {}).get("MaxRuntimeInSeconds", 86_400),
            subnets=vpc and _values(vpc["Subnets"]),
            security_groups=vpc and _values(vpc["SecurityGroupIds"]),
            hyperparameters=request.get("HyperParameters", {}),
            environment=request.get("Environment", {}),
            tags=tuple((tag["Key"], tag["Value"]) for tag in request.get("Tags", ())),
            metrics=tuple(metric["Name"] for metric in algorithm.get("MetricDefinitions", ())),
        )


def _values(values: Any) -> Any:
    return values if isinstance(values, Unresolved) else tuple(values)


def _read_channel(channel: Mapping[str, Any], input_mode: str) -> RequestedChannel:
    source = channel["DataSource"]
    s3, file_system = source.get("S3DataSource", {}), source.get("FileSystemDataSource", {})
    return RequestedChannel(
        name=channel["ChannelName"],
        input_mode=channel.get("InputMode", input_mode),
        s3_uri=s3.get("S3Uri"),
        s3_data_type=s3.get("S3DataType", "S3Prefix"),
        compression=channel.get("CompressionType", "None"),
        file_system_id=file_system.get("FileSystemId"),
        directory_path=file_system.get("DirectoryPath"),
    )

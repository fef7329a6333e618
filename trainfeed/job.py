"""The CreateTrainingJob request of a job, the same for every way it can be sent.

A job template is stated once. What only a run knows (its name, its code, the file system that
exists at that moment) comes from a `Run`: plain values for boto3, a pipeline or a dry run, or the
expressions by which a state machine fills them in. What the job's role may do is in
`trainfeed.execution_role`.
"""

# ruff: noqa: D102  The methods of both kinds of run are documented once, at `Run`.

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trainfeed.names import JOB_TAG
from trainfeed.rules.job_request import JobRequest
from trainfeed.rules.rule import UNRESOLVED
from trainfeed.sources import Channel, FileSystemFacts, InputMode, LustreSource, S3Source, S3Uri

#: The channel by which a run's script arrives; it counts towards the channels a job may have.
CODE_CHANNEL = "code"

#: What the container runs: the driver that comes with the code and starts the script.
ENTRYPOINT = ("python3", f"/opt/ml/input/data/{CODE_CHANNEL}/trainfeed_entry.py")


@dataclass(frozen=True, kw_only=True)
class MetricDefinition:
    """A number that SageMaker finds in the log by a regular expression and sends to CloudWatch."""

    name: str
    regex: str


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """A job template: everything about a training job but the run.

    Attributes:
        name: the template's name (`training`); each run has a name of its own.
        image: the container image's address in ECR.
        channels: the data, beside which the script arrives as the channel `code`.
        output: where model and output go, each run in a folder of its own.
        code: the folder in which the packed scripts of the runs lie.
        volume_size_gib: the storage of an instance, in GiB; ignored by instances with local NVMe.
        max_run_seconds: after this a run is stopped; AWS allows 28 days.
        hyperparameters: defaults, which a run may override.
        network_isolation: no network calls from within the container; channels still work.
        metric_definitions: numbers to find in the log.
    """

    name: str
    image: str
    channels: tuple[Channel, ...]
    output: S3Uri
    code: S3Uri
    instance_type: str = "ml.m5.xlarge"
    instance_count: int = 1
    volume_size_gib: int = 30
    max_run_seconds: int = 86_400
    environment: Mapping[str, str] = field(default_factory=dict)
    hyperparameters: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    network_isolation: bool = False
    metric_definitions: tuple[MetricDefinition, ...] = ()

    @property
    def file_systems(self) -> tuple[str, ...]:
        """The names under which the file systems it reads publish their facts, each once."""
        named = (
            channel.source.facts for channel in self.channels if isinstance(channel.source, LustreSource)
        )
        return tuple(dict.fromkeys(named))


class Run(Protocol):
    """What a request needs to know of a run; each value may be plain or an expression for one."""

    @property
    def name(self) -> str:
        """The training job's name."""
        ...

    @property
    def role_arn(self) -> str:
        """The role the job runs as."""
        ...

    @property
    def code(self) -> str:
        """The S3 folder of the packed script, with its closing slash."""
        ...

    @property
    def script(self) -> str:
        """The script to start, relative to the code channel."""
        ...

    def hyperparameters(self, defaults: Mapping[str, str]) -> Mapping[str, str] | str:
        """The job's defaults, overridden by the run's."""
        ...

    def file_system_id(self, source: str) -> str:
        """The id of the file system whose facts are published as `source`."""
        ...

    def directory_path(self, source: str, path: str) -> str:
        """A folder of that file system, its mount name first; the root is the empty path."""
        ...

    def subnets(self, sources: Sequence[str]) -> Sequence[str] | str:
        """The subnets of these file systems, in which the job must run too."""
        ...

    def security_groups(self, sources: Sequence[str]) -> Sequence[str] | str:
        """The security groups that reach these file systems."""
        ...

    def verbatim(self, text: str) -> str:
        """A text of the user's, written so that it arrives as it is."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlainRun:
    """A run of which everything is known.

    Attributes:
        job_name: the training job's name.
        packed_code: the S3 folder of the packed script and its driver.
        overrides: the run's hyperparameters.
        facts: what each file system published, by the name it published under.
    """

    job_name: str
    role_arn: str
    packed_code: S3Uri
    script: str
    overrides: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, FileSystemFacts] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.job_name

    @property
    def code(self) -> str:
        return _folder(self.packed_code)

    def hyperparameters(self, defaults: Mapping[str, str]) -> Mapping[str, str]:
        return {**defaults, **self.overrides}

    def file_system_id(self, source: str) -> str:
        return self.facts[source].file_system_id

    def directory_path(self, source: str, path: str) -> str:
        return f"/{self.facts[source].mount_name}{path}"

    def subnets(self, sources: Sequence[str]) -> Sequence[str]:
        return _distinct(self.facts[source].subnet_id for source in sources)

    def security_groups(self, sources: Sequence[str]) -> Sequence[str]:
        return _distinct(group for source in sources for group in self.facts[source].security_group_ids)

    def verbatim(self, text: str) -> str:
        return text


@dataclass(frozen=True, kw_only=True)
class StateMachineRun:
    """A run of the template's state machine, in JSONata.

    The state machine keeps its input in the variable `$run` and the facts of each file system in a
    variable named by `facts_variable`; the execution's name is the training job's.
    """

    role_arn: str

    name = "{% $states.context.Execution.Name %}"
    code = "{% $run.Code & '/' %}"
    script = "{% $run.Script %}"

    def hyperparameters(self, defaults: Mapping[str, str]) -> str:
        if not defaults:
            return "{% $run.HyperParameters %}"
        return f"{{% $merge([{_jsonata(dict(defaults))}, $run.HyperParameters]) %}}"

    def file_system_id(self, source: str) -> str:
        return f"{{% ${facts_variable(source)}.FileSystemId %}}"

    def directory_path(self, source: str, path: str) -> str:
        folder = f" & {_jsonata(path)}" if path else ""
        return f"{{% '/' & ${facts_variable(source)}.MountName{folder} %}}"

    def subnets(self, sources: Sequence[str]) -> Sequence[str] | str:
        return _union(sources, "SubnetId")

    def security_groups(self, sources: Sequence[str]) -> Sequence[str] | str:
        return _union(sources, "SecurityGroupIds")

    def verbatim(self, text: str) -> str:
        return f"{{% {_jsonata(text)} %}}" if text.startswith("{%") and text.endswith("%}") else text


class _UnknownRun:
    """A run of which nothing is known yet, so that rules pass over what depends on it."""

    name = role_arn = code = script = UNRESOLVED

    def hyperparameters(self, defaults: Mapping[str, str]) -> Mapping[str, str]:
        return defaults

    def file_system_id(self, source: str) -> str:
        return UNRESOLVED

    def directory_path(self, source: str, path: str) -> str:
        return path or "/"

    def subnets(self, sources: Sequence[str]) -> Sequence[str]:
        return UNRESOLVED

    def security_groups(self, sources: Sequence[str]) -> Sequence[str]:
        return UNRESOLVED

    def verbatim(self, text: str) -> str:
        return text


def facts_variable(source: str) -> str:
    """The state machine's variable for the facts of a file system: `fsx-lustre` is in `$fsx_lustre`."""
    return source.replace("-", "_")


def create_training_job_request(job: TrainingJob, run: Run) -> dict[str, Any]:
    """The request by which SageMaker starts this run of the job.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html
    """
    optional: dict[str, Any] = {
        "HyperParameters": run.hyperparameters(job.hyperparameters),
        "Environment": {name: run.verbatim(value) for name, value in job.environment.items()},
        "EnableNetworkIsolation": job.network_isolation,
    }
    if job.file_systems:
        optional["VpcConfig"] = {
            "Subnets": run.subnets(job.file_systems),
            "SecurityGroupIds": run.security_groups(job.file_systems),
        }
    return {
        "TrainingJobName": run.name,
        "RoleArn": run.role_arn,
        "AlgorithmSpecification": _algorithm(job, run),
        "InputDataConfig": [
            *(_channel(channel, run) for channel in job.channels),
            _s3_channel(CODE_CHANNEL, run.code, InputMode.FILE),
        ],
        "OutputDataConfig": {"S3OutputPath": str(job.output)},
        "ResourceConfig": {
            "InstanceType": job.instance_type,
            "InstanceCount": job.instance_count,
            "VolumeSizeInGB": job.volume_size_gib,
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": job.max_run_seconds},
        "Tags": [
            {"Key": key, "Value": run.verbatim(value)}
            for key, value in {**job.tags, JOB_TAG: job.name}.items()
        ],
        **{name: value for name, value in optional.items() if value},
    }


def requested(job: TrainingJob) -> JobRequest:
    """A job template as the rules see it, with nothing known of its runs."""
    return JobRequest.of(create_training_job_request(job, _UnknownRun()), template=job.name)


def _algorithm(job: TrainingJob, run: Run) -> dict[str, Any]:
    algorithm: dict[str, Any] = {
        "TrainingImage": job.image,
        "TrainingInputMode": str(InputMode.FILE),
        "ContainerEntrypoint": list(ENTRYPOINT),
        "ContainerArguments": [run.script],
    }
    if job.metric_definitions:
        algorithm["MetricDefinitions"] = [
            {"Name": run.verbatim(metric.name), "Regex": run.verbatim(metric.regex)}
            for metric in job.metric_definitions
        ]
    return algorithm


def _channel(channel: Channel, run: Run) -> dict[str, Any]:
    match channel.source:
        case S3Source(uri=uri, mode=mode):
            return _s3_channel(channel.name, _folder(uri), mode)
        case LustreSource(facts=facts, access=access):
            path = channel.source.path.rstrip("/")
            return {
                "ChannelName": channel.name,
                "DataSource": {
                    "FileSystemDataSource": {
                        "FileSystemId": run.file_system_id(facts),
                        "FileSystemType": "FSxLustre",
                        "FileSystemAccessMode": str(access),
                        "DirectoryPath": run.directory_path(facts, path),
                    }
                },
            }


def _s3_channel(name: str, folder: str, mode: InputMode) -> dict[str, Any]:
    return {
        "ChannelName": name,
        "InputMode": str(mode),
        "DataSource": {
            "S3DataSource": {
                "S3DataType": "S3Prefix",
                "S3Uri": folder,
                "S3DataDistributionType": "FullyReplicated",
            }
        },
    }


def _folder(uri: S3Uri) -> str:
    # The closing slash keeps data/run1 from meaning data/run10 as well.
    return f"s3://{uri.bucket}/{uri.folder}"


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _union(sources: Sequence[str], fact: str) -> str:
    # The brackets keep a list of one a list, and join the lists of several file systems.
    listed = ", ".join(f"${facts_variable(source)}.{fact}" for source in sources)
    return f"{{% [{listed}] %}}" if len(sources) == 1 else f"{{% [$distinct([{listed}])] %}}"


def _jsonata(value: Any) -> str:
    """A JSON value as a JSONata literal, which cannot end the expression it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("%", "\\u0025")

"""What SageMaker accepts of a training job's channels and output."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import partial

from trainfeed.rules.job_request import JobRequest, RequestedChannel
from trainfeed.rules.rule import Level, Refusal, Rule, known
from trainfeed.rules.s3 import address_fault, key_fault
from trainfeed.sources import S3Uri

_CHECKED = date(2026, 11, 20)
_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference"
_CREATE = f"{_API}/API_CreateTrainingJob.html"
_CHANNEL = f"{_API}/API_Channel.html"
_S3_SOURCE = f"{_API}/API_S3DataSource.html"
_INPUTS = "https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data.html"
_REFUSED = (Refusal(operation="sagemaker:CreateTrainingJob", code="ValidationException"),)

MAX_CHANNELS = 20

_CHANNEL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _join(faults: Iterator[str]) -> str | None:
    return " ".join(faults) or None


def _channel_count(value: JobRequest) -> str | None:
    given = len(value.channels)
    if given <= MAX_CHANNELS:
        return None
    return (
        f"A job has at most {MAX_CHANNELS} channels; {given} were given, the one for the code among them. "
        "Put several folders into one channel."
    )


def _channel_names(value: JobRequest) -> str | None:
    return _join(
        f"A channel cannot be named {channel.name!r}. Allowed: up to 64 letters, digits, hyphens and "
        "underscores, since the script finds it by the variable SM_CHANNEL_NAME. Rename it."
        for channel in value.channels
        if known(channel.name) and not _CHANNEL_NAME.fullmatch(channel.name)
    )


def _channels_unique(value: JobRequest) -> str | None:
    counted = Counter(channel.name for channel in value.channels if known(channel.name))
    return _join(
        f"{count} channels are named {name!r}; each needs a name of its own"
        f"{', and the script takes the name code' if name == 'code' else ''}. Rename them."
        for name, count in counted.items()
        if count > 1
    )


def _channel_variables(value: JobRequest) -> str | None:
    names = dict.fromkeys(channel.name for channel in value.channels if known(channel.name))
    by_variable: dict[str, list[str]] = {}
    for name in names:
        by_variable.setdefault(name.upper(), []).append(name)
    return _join(
        f"The channels {' and '.join(same)} share the variable SM_CHANNEL_{variable}. Rename one of them."
        for variable, same in by_variable.items()
        if len(same) > 1
    )


def _input_modes(value: JobRequest) -> str | None:
    return _join(fault for channel in value.channels if (fault := _input_mode(channel)))


def _input_mode(channel: RequestedChannel) -> str | None:
    name, mode, kind = channel.name, channel.input_mode, channel.s3_data_type
    if channel.s3_uri is None or not known(mode, kind, channel.compression):
        return None
    if mode == "FastFile" and kind != "S3Prefix":
        return f"The channel {name} reads a {kind} in FastFile mode. Allowed: S3Prefix. Choose another mode."
    if kind == "AugmentedManifestFile" and mode != "Pipe":
        return f"The channel {name} reads an {kind} in {mode} mode. Allowed: Pipe. Choose Pipe mode."
    if channel.compression == "Gzip" and mode != "Pipe":
        return (
            f"The channel {name} is Gzip in {mode} mode. Allowed: Pipe. Unpack the data, or choose Pipe mode."
        )
    return None


def _addresses(value: JobRequest) -> str | None:
    given = [(f"The channel {channel.name}", channel.s3_uri) for channel in value.channels]
    return _join(
        f"{name}: {fault}"
        for name, uri in [*given, ("The output", value.output)]
        if uri is not None and known(uri) and (fault := _address_fault(uri))
    )


def _address_fault(uri: str) -> str | None:
    try:
        return address_fault(S3Uri.parse(uri).bucket)
    except ValueError as error:
        return str(error)


def _output_apart(value: JobRequest) -> str | None:
    return _join(
        f"The output {value.output} lies within the channel {channel.name}, {channel.s3_uri}: the next run "
        "would read the models of the last. Choose a prefix outside it."
        for channel in value.channels
        if channel.s3_uri is not None
        and known(channel.s3_uri)
        and f"{value.output.rstrip('/')}/".startswith(channel.s3_uri)
    )


def _directory_paths(value: JobRequest) -> str | None:
    return _join(
        f"The channel {channel.name} reads the folder {path!r} of a file system, {fault}. "
        "Write it from the root, such as /data."
        for channel in value.channels
        if (path := channel.directory_path) is not None and known(path) and (fault := _path_fault(path))
    )


def _path_fault(path: str) -> str | None:
    if not path.startswith("/"):
        return "which does not begin with a slash"
    if path.strip("/") and (fault := key_fault(path.strip("/"))):
        return f"and {fault}"
    return None


_refused = partial(Rule[JobRequest], level=Level.ERROR, source=_CREATE, checked=_CHECKED, refused_by=_REFUSED)
_ours = partial(Rule[JobRequest], level=Level.ERROR, source=_CREATE, checked=_CHECKED)

RULES: tuple[Rule[JobRequest], ...] = (
    _refused(
        id="JOB-CHANNELS",
        statement="A job has at most 20 channels, the one for the code among them.",
        reads=(),
        violated=_channel_count,
    ),
    _ours(
        id="JOB-CHANNEL-NAME",
        statement="A channel's name can be part of an environment variable's.",
        source=_CHANNEL,
        reads=(),
        violated=_channel_names,
    ),
    _refused(
        id="JOB-CHANNELS-UNIQUE",
        statement="No two channels have one name.",
        source=_CHANNEL,
        reads=(),
        violated=_channels_unique,
    ),
    _ours(
        id="JOB-CHANNEL-VARIABLES",
        level=Level.WARNING,
        statement="No two channels have one environment variable.",
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/model-train-storage-env-var-summary.html",
        reads=(),
        violated=_channel_variables,
    ),
    _refused(
        id="JOB-INPUT-MODE",
        statement="FastFile reads S3 prefixes alone; augmented manifests and Gzip need Pipe mode.",
        source=_S3_SOURCE,
        reads=(),
        violated=_input_modes,
    ),
    _refused(
        id="JOB-S3-ADDRESS",
        statement="Channels and output are addresses in S3.",
        source=_S3_SOURCE,
        reads=(),
        violated=_addresses,
    ),
    _ours(
        id="JOB-OUTPUT-APART",
        level=Level.WARNING,
        statement="The output does not lie within the data.",
        source=_INPUTS,
        reads=("output",),
        violated=_output_apart,
    ),
    _ours(
        id="JOB-DIRECTORY-PATH",
        statement="A folder of a file system is given from its root.",
        source=f"{_API}/API_FileSystemDataSource.html",
        reads=(),
        violated=_directory_paths,
    ),
)

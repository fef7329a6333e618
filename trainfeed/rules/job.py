"""What SageMaker accepts of a training job, beyond what its API's types say."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial

from trainfeed.rules import channels
from trainfeed.rules.job_request import JobRequest
from trainfeed.rules.rule import Level, Refusal, Rule, known

_CHECKED = date(2026, 11, 20)
_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference"
_CREATE = f"{_API}/API_CreateTrainingJob.html"
_INPUTS = "https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data.html"
_REFUSED = (Refusal(operation="sagemaker:CreateTrainingJob", code="ValidationException"),)

MAX_RUN_SECONDS = 28 * 24 * 3600

#: Families whose instances bring local NVMe storage instead of a volume of a chosen size.
#: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html
_NVME_FAMILIES = re.compile(r"ml\.(p5\w*|p6[\w-]*|g5|g6e?|g7e?|trn\w*|[a-z]\d[a-z]*d[a-z]*)\.")

_TEMPLATE_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
#: A run is named by its template and `-YYYYMMDD-HHMMSS-xxxx`; SageMaker allows 63 characters.
_MAX_TEMPLATE_NAME = 63 - len("-20261201-161500-ab12")
_INSTANCE_TYPE = re.compile(r"ml\.[a-z0-9-]+\.[a-z0-9-]+")
_IMAGE = re.compile(
    r"\d{12}\.dkr\.ecr(-fips)?\.[a-z0-9-]+\.[a-z0-9.-]+/[a-z0-9._/-]+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?"
)
_VARIABLE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_TAG = re.compile(r"[\w\s.:/=+\-@]*")


@dataclass(frozen=True, kw_only=True)
class JobData:
    """A requested job and how large the data of its S3 channels is.

    Attributes:
        sizes: bytes by channel, where they are known.
    """

    request: JobRequest
    sizes: Mapping[str, int]


def _join(faults: Iterator[str]) -> str | None:
    return " ".join(faults) or None


def _template(value: JobRequest) -> str | None:
    name = value.template
    if name is None or (_TEMPLATE_NAME.fullmatch(name) and len(name) <= _MAX_TEMPLATE_NAME):
        return None
    return (
        f"A job template cannot be named {name!r}. Allowed: lower-case words and digits joined by single "
        f"hyphens, beginning with a letter, up to {_MAX_TEMPLATE_NAME} characters. Rename it."
    )


def _image(value: JobRequest) -> str | None:
    if value.image is None or (_IMAGE.fullmatch(value.image) and len(value.image) <= 255):
        return None
    return (
        f"SageMaker cannot pull {value.image!r}. Allowed: an image in ECR, its address up to 255 "
        "characters, such as 123456789012.dkr.ecr.us-east-1.amazonaws.com/NAME:TAG. Push the image to ECR."
    )


def _needs_vpc(value: JobRequest) -> str | None:
    named = [channel.name for channel in value.channels if channel.file_system_id is not None]
    if not named or value.subnets is not None:
        return None
    return (
        f"The channels {', '.join(named)} read a file system, and the job has no VPC to reach it. "
        "Give it the file system's subnet and a security group."
    )


def _vpc_limits(value: JobRequest) -> str | None:
    def faults() -> Iterator[str]:
        for given, limit, what in (
            (value.subnets, 16, "subnets"),
            (value.security_groups, 5, "security groups"),
        ):
            if given is not None and not 1 <= len(given) <= limit:
                yield f"The job has {len(given)} {what}. Allowed: 1 to {limit}. Choose among them."

    return _join(faults())


def _instance_type(value: JobRequest) -> str | None:
    if _INSTANCE_TYPE.fullmatch(value.instance_type):
        return None
    return (
        f"{value.instance_type!r} is no instance type of SageMaker. Allowed: ml.FAMILY.SIZE, such as "
        "ml.m5.xlarge. Correct it."
    )


def _instance_count(value: JobRequest) -> str | None:
    if value.instance_count >= 1:
        return None
    return f"A job needs instances; {value.instance_count} were given. Give 1 or more."


def _volume(value: JobRequest) -> str | None:
    if value.volume_size_gib >= 1 or _NVME_FAMILIES.match(value.instance_type):
        return None
    return f"A volume of {value.volume_size_gib} GiB is not possible. Give 1 GiB or more."


def _volume_ignored(value: JobRequest) -> str | None:
    if not _NVME_FAMILIES.match(value.instance_type):
        return None
    return (
        f"{value.instance_type} brings its own NVMe storage; the volume size of {value.volume_size_gib} GiB "
        "has no effect. See that the data fits on the instance's storage."
    )


def _volume_fits(value: JobData) -> str | None:
    request = value.request
    if _NVME_FAMILIES.match(request.instance_type):
        return None
    loaded = sum(
        value.sizes.get(channel.name, 0)
        for channel in request.channels
        if channel.s3_uri is not None and channel.input_mode == "File"
    )
    if loaded <= request.volume_size_gib * 2**30:
        return None
    needed = -(-loaded // 2**30)
    return (
        f"File mode copies {loaded / 2**30:.1f} GiB to a volume of {request.volume_size_gib} GiB. "
        f"Set the volume to more than {needed} GiB, or choose FastFile mode."
    )


def _max_run(value: JobRequest) -> str | None:
    if 1 <= value.max_run_seconds <= MAX_RUN_SECONDS:
        return None
    return (
        f"A job cannot be given {value.max_run_seconds} seconds. Allowed: 1 to {MAX_RUN_SECONDS} (28 days)."
        " Choose a time within."
    )


def _hyperparameters(value: JobRequest) -> str | None:
    def faults() -> Iterator[str]:
        if len(value.hyperparameters) > 100:
            yield f"There are {len(value.hyperparameters)} hyperparameters. Allowed: 100. Put some in a file."
        for key, text in value.hyperparameters.items():
            if known(key, text) and (len(key) > 256 or len(text) > 2500):
                yield (
                    f"The hyperparameter {key[:40]!r} has a name of {len(key)} and a value of {len(text)} "
                    "characters. Allowed: 256 and 2500. Put it in a file."
                )

    return _join(faults())


def _environment(value: JobRequest) -> str | None:
    def faults() -> Iterator[str]:
        if len(value.environment) > 100:
            yield f"There are {len(value.environment)} environment variables. Allowed: 100. Leave some out."
        for key, text in value.environment.items():
            if known(key, text) and not (_VARIABLE.fullmatch(key) and max(len(key), len(text)) <= 512):
                yield (
                    f"The environment variable {key[:40]!r}, with a value of {len(text)} characters, is not "
                    "possible. Allowed: letters, digits and underscores, no digit first, and 512 characters "
                    "each. Correct it."
                )

    return _join(faults())


def _tags(value: JobRequest) -> str | None:
    def faults() -> Iterator[str]:
        if len(value.tags) > 50:
            yield f"The job has {len(value.tags)} tags, the kit's own too. Allowed: 50. Leave some out."
        for key, text in value.tags:
            if not known(key, text):
                continue
            if not (
                0 < len(key) <= 128 and len(text) <= 256 and _TAG.fullmatch(key) and _TAG.fullmatch(text)
            ):
                yield (
                    f"The tag {key[:40]!r} with the value {text[:40]!r} is not possible. Allowed: letters, "
                    "digits, spaces and _.:/=+-@, up to 128 characters in the key and 256 in the value. "
                    "Correct it."
                )
            elif key.lower().startswith("aws:"):
                yield f"The tag {key!r} begins with aws:, which is reserved. Rename it."

    return _join(faults())


def _metrics(value: JobRequest) -> str | None:
    if len(value.metrics) <= 40:
        return None
    return f"There are {len(value.metrics)} metric definitions. Allowed: 40. Leave some out."


_refused = partial(Rule[JobRequest], level=Level.ERROR, source=_CREATE, checked=_CHECKED, refused_by=_REFUSED)
_ours = partial(Rule[JobRequest], level=Level.ERROR, source=_CREATE, checked=_CHECKED)

RULES: tuple[Rule[JobRequest], ...] = (
    *channels.RULES,
    _ours(
        id="JOB-TEMPLATE-NAME",
        statement="A template's name makes the names of its runs, its stack and its state machine.",
        reads=("template",),
        violated=_template,
    ),
    _ours(
        id="JOB-IMAGE",
        statement="The image is in ECR.",
        source=f"{_API}/API_AlgorithmSpecification.html",
        reads=("image",),
        violated=_image,
    ),
    _refused(
        id="JOB-VPC",
        statement="A job that reads a file system runs in a VPC.",
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data.html",
        reads=(),
        violated=_needs_vpc,
    ),
    _refused(
        id="JOB-VPC-LIMITS",
        statement="A job has 1 to 16 subnets and 1 to 5 security groups.",
        source=f"{_API}/API_VpcConfig.html",
        reads=("subnets", "security_groups"),
        violated=_vpc_limits,
    ),
    _refused(
        id="JOB-INSTANCE-TYPE",
        statement="SageMaker's instance types begin with ml.",
        source=f"{_API}/API_ResourceConfig.html",
        reads=("instance_type",),
        violated=_instance_type,
    ),
    _refused(
        id="JOB-INSTANCE-COUNT",
        statement="A job has at least one instance.",
        source=f"{_API}/API_ResourceConfig.html",
        reads=("instance_count",),
        violated=_instance_count,
    ),
    _refused(
        id="JOB-VOLUME",
        statement="An instance has at least 1 GiB of storage.",
        source=f"{_API}/API_ResourceConfig.html",
        reads=("volume_size_gib", "instance_type"),
        violated=_volume,
    ),
    _ours(
        id="JOB-VOLUME-IGNORED",
        level=Level.INFO,
        statement="Instances with local NVMe storage have no volume of a chosen size.",
        source=f"{_API}/API_ResourceConfig.html",
        reads=("instance_type", "volume_size_gib"),
        violated=_volume_ignored,
    ),
    _refused(
        id="JOB-MAX-RUN",
        statement="A job runs for up to 28 days.",
        source=f"{_API}/API_StoppingCondition.html",
        reads=("max_run_seconds",),
        violated=_max_run,
    ),
    _refused(
        id="JOB-HYPERPARAMETERS",
        statement="A job has up to 100 hyperparameters of up to 2500 characters.",
        reads=(),
        violated=_hyperparameters,
    ),
    _refused(
        id="JOB-ENVIRONMENT",
        statement="A job has up to 100 environment variables of up to 512 characters.",
        reads=(),
        violated=_environment,
    ),
    _refused(
        id="JOB-TAGS",
        statement="A job has up to 50 tags, none of them AWS's own.",
        source=f"{_API}/API_Tag.html",
        reads=(),
        violated=_tags,
    ),
    _refused(
        id="JOB-METRICS",
        statement="A job has up to 40 metric definitions.",
        source=f"{_API}/API_AlgorithmSpecification.html",
        reads=(),
        violated=_metrics,
    ),
)

DATA_RULES: tuple[Rule[JobData], ...] = (
    Rule(
        id="JOB-VOLUME-FITS",
        level=Level.ERROR,
        statement="The volume holds the data that File mode copies to it.",
        source=_INPUTS,
        checked=_CHECKED,
        reads=(
            "request.instance_type",
            "request.volume_size_gib",
            "request.channels.name",
            "request.channels.input_mode",
            "sizes",
        ),
        violated=_volume_fits,
    ),
)

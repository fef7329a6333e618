"""What SageMaker accepts of a training job."""

import pytest

from trainfeed.rules.job import DATA_RULES, RULES, JobData
from trainfeed.rules.job_request import JobRequest, RequestedChannel
from trainfeed.rules.rule import UNRESOLVED, check, refusal

GIB = 2**30


def s3(name="training", uri="s3://bucket/data/", **given):
    return RequestedChannel(name=name, s3_uri=uri, **given)


def lustre(name="training", path="/data", **given):
    return RequestedChannel(name=name, file_system_id="fs-0123456789abcdef0", directory_path=path, **given)


def job(*channels, **given):
    return JobRequest(channels=channels, **{"output": "s3://bucket/outputs", **given})


def in_vpc(*channels, subnets=("subnet-1",), groups=("sg-1",), **given):
    return job(*channels, subnets=subnets, security_groups=groups, **given)


def numbered(count, **given):
    return job(*(s3(f"data{number}") for number in range(count)), **given)


IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/images/train"

CASES = [
    (job(s3()), {}),
    # The template's name
    *((job(template=name), {}) for name in ("training", "a", "digits-2-lustre", "x" * 42)),
    *(
        (job(template=name), {"JOB-TEMPLATE-NAME": f"cannot be named {name!r}"})
        for name in ("", "Training", "2nd", "a_b", "a--b", "a-", "a b", "x" * 43)
    ),
    # The image
    *(
        (job(image=IMAGE + rest), {})
        for rest in ("", ":latest", ":1.4-2-cpu-py3", "@sha256:" + "0" * 64, ":v1@sha256:" + "a" * 64)
    ),
    (job(image="123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/a:b"), {}),
    *(
        (job(image=image), {"JOB-IMAGE": "Push the image to ECR."})
        for image in ("python:3.12", "docker.io/me/train:1", "", IMAGE + ":" + "x" * 250, IMAGE + ":a b")
    ),
    # Channels
    (numbered(20), {}),
    (numbered(21), {"JOB-CHANNELS": "at most 20 channels; 21 were given"}),
    (numbered(21, output=UNRESOLVED), {"JOB-CHANNELS": "Put several folders into one channel."}),
    *((job(s3(name)), {}) for name in ("train", "Train-Data_2", "x" * 64)),
    *(
        (job(s3(name)), {"JOB-CHANNEL-NAME": f"named {name!r}. Allowed: up to 64 letters"})
        for name in ("train.data", "", "train data", "träin", "x" * 65)
    ),
    (job(s3("a"), s3("b")), {}),
    (job(s3("a"), s3("a")), {"JOB-CHANNELS-UNIQUE": "2 channels are named 'a'"}),
    (job(s3("code"), s3("code")), {"JOB-CHANNELS-UNIQUE": "the script takes the name code"}),
    (
        job(s3("train"), s3("Train")),
        {"JOB-CHANNEL-VARIABLES": "train and Train share the variable SM_CHANNEL_TRAIN"},
    ),
    (job(s3("a-b"), s3("a_b")), {}),
    # Input modes
    *((job(s3(input_mode=mode)), {}) for mode in ("File", "FastFile", "Pipe")),
    (job(s3(s3_data_type="ManifestFile")), {}),
    (job(s3(s3_data_type="ManifestFile", input_mode="Pipe")), {}),
    (job(s3(s3_data_type="AugmentedManifestFile", input_mode="Pipe")), {}),
    (job(s3(compression="Gzip", input_mode="Pipe")), {}),
    (
        job(s3(s3_data_type="ManifestFile", input_mode="FastFile")),
        {"JOB-INPUT-MODE": "reads a ManifestFile in FastFile mode. Allowed: S3Prefix."},
    ),
    (job(s3(s3_data_type="AugmentedManifestFile", input_mode="FastFile")), {"JOB-INPUT-MODE": "S3Prefix"}),
    (job(s3(s3_data_type="AugmentedManifestFile")), {"JOB-INPUT-MODE": "in File mode. Allowed: Pipe."}),
    (job(s3(compression="Gzip")), {"JOB-INPUT-MODE": "Gzip in File mode"}),
    (job(s3(compression="Gzip", input_mode="FastFile")), {"JOB-INPUT-MODE": "Gzip in FastFile mode"}),
    # Addresses
    (job(s3(uri="s3://bucket")), {"JOB-OUTPUT-APART": "Choose a prefix outside it."}),
    (job(s3(uri="s3://Bucket/data/")), {"JOB-S3-ADDRESS": "The channel training: The bucket 'Bucket'"}),
    # Access points and directory buckets can be read like buckets
    (job(s3(uri="s3://mine-abc-s3alias/data/")), {}),
    (job(s3(uri="s3://mine--use1-az4--x-s3/data/")), {}),
    (job(s3(uri="s3:///data/")), {"JOB-S3-ADDRESS": "s3://BUCKET/PREFIX"}),
    (job(s3(uri="data")), {"JOB-S3-ADDRESS": "'data' is not an S3 address"}),
    (job(s3(), output="s3://my_bucket/x"), {"JOB-S3-ADDRESS": "The output: 'my_bucket'"}),
    (job(s3(), output=""), {"JOB-S3-ADDRESS": "The output: '' is not an S3 address"}),
    (job(s3(), output=UNRESOLVED), {}),
    (job(s3("a", UNRESOLVED), s3("b", "s3://B/data/")), {"JOB-S3-ADDRESS": "The channel b"}),
    (job(s3(uri=UNRESOLVED), output="s3://O/x"), {"JOB-S3-ADDRESS": "The output"}),
    (job(s3(uri="s3://bucket/data/"), output="s3://bucket/data-out"), {}),
    (job(s3(uri="s3://bucket/data/"), output="s3://bucket/data"), {"JOB-OUTPUT-APART": "the next run"}),
    (job(s3(uri="s3://bucket/data/"), output="s3://bucket/data/out"), {"JOB-OUTPUT-APART": "the next run"}),
    # File systems
    *((in_vpc(lustre(path=path)), {}) for path in ("/", "/data", "/data/", "/abcdefgh/data/a b")),
    (in_vpc(lustre(path=UNRESOLVED)), {}),
    (in_vpc(lustre(path="data")), {"JOB-DIRECTORY-PATH": "does not begin with a slash"}),
    (in_vpc(lustre(path="/data/../other")), {"JOB-DIRECTORY-PATH": "'.' or '..'"}),
    (in_vpc(lustre(path="/data//x")), {"JOB-DIRECTORY-PATH": "empty name"}),
    (job(lustre()), {"JOB-VPC": "The channels training read a file system, and the job has no VPC"}),
    (job(s3("a"), lustre("b")), {"JOB-VPC": "The channels b read"}),
    (in_vpc(lustre(), subnets=UNRESOLVED, groups=UNRESOLVED), {}),
    (in_vpc(s3(), subnets=("s",) * 16, groups=("g",) * 5), {}),
    (in_vpc(s3(), subnets=("s",) * 17), {"JOB-VPC-LIMITS": "17 subnets. Allowed: 1 to 16."}),
    (in_vpc(s3(), groups=("g",) * 6), {"JOB-VPC-LIMITS": "6 security groups. Allowed: 1 to 5."}),
    (in_vpc(s3(), subnets=()), {"JOB-VPC-LIMITS": "0 subnets"}),
    # Machines
    *((job(instance_type=kind), {}) for kind in ("ml.m5.xlarge", "ml.c7i-flex.large", "ml.p3.2xlarge")),
    *(
        (job(instance_type=kind), {"JOB-INSTANCE-TYPE": f"{kind!r} is no instance type"})
        for kind in ("m5.xlarge", "ml.m5", "ML.M5.XLARGE", "")
    ),
    (job(instance_count=1), {}),
    (job(instance_count=0), {"JOB-INSTANCE-COUNT": "0 were given"}),
    (job(volume_size_gib=0), {"JOB-VOLUME": "A volume of 0 GiB"}),
    *(
        (job(instance_type=kind), {"JOB-VOLUME-IGNORED": f"{kind} brings its own NVMe storage"})
        for kind in (
            "ml.g5.xlarge",
            "ml.g4dn.xlarge",
            "ml.p4d.24xlarge",
            "ml.r5d.large",
            "ml.p6-b200.48xlarge",
        )
    ),
    *((job(max_run_seconds=seconds), {}) for seconds in (1, 86_400, 2_419_200)),
    *(
        (job(max_run_seconds=seconds), {"JOB-MAX-RUN": f"given {seconds} seconds"})
        for seconds in (0, 2_419_201)
    ),
    # What is handed to the script
    (job(hyperparameters={f"p{number}": "1" for number in range(100)}), {}),
    (
        job(hyperparameters={f"p{number}": "1" for number in range(101)}),
        {"JOB-HYPERPARAMETERS": "There are 101"},
    ),
    (job(hyperparameters={"k" * 256: "v" * 2500}), {}),
    (job(hyperparameters={"k" * 257: "v"}), {"JOB-HYPERPARAMETERS": "a name of 257"}),
    (job(hyperparameters={"k": "v" * 2501}), {"JOB-HYPERPARAMETERS": "a value of 2501"}),
    (job(hyperparameters={"k": UNRESOLVED}), {}),
    (job(hyperparameters={"k": UNRESOLVED, "l": "v" * 2501}), {"JOB-HYPERPARAMETERS": "'l'"}),
    (job(environment={"K": UNRESOLVED, "1": "v"}), {"JOB-ENVIRONMENT": "'1'"}),
    (job(tags=((UNRESOLVED, UNRESOLVED), ("aws:x", "v"))), {"JOB-TAGS": "'aws:x'"}),
    (job(environment={"A_1": "v" * 512, "_x": ""}), {}),
    *(
        (job(environment=given), {"JOB-ENVIRONMENT": "Correct it."})
        for given in ({"1A": ""}, {"A-B": ""}, {"A": "v" * 513}, {"": "v"})
    ),
    (job(environment={f"V{number}": "1" for number in range(101)}), {"JOB-ENVIRONMENT": "There are 101"}),
    (job(tags=(("trainfeed:job", "a b"), ("k" * 128, "v" * 256), ("é", ""))), {}),
    *(
        (job(tags=(given,)), {"JOB-TAGS": "is not possible"})
        for given in (("", "v"), ("k" * 129, "v"), ("k", "v" * 257), ("a*b", "v"), ("k", "a;b"))
    ),
    (job(tags=(("aws:stack", "v"),)), {"JOB-TAGS": "begins with aws:"}),
    (job(tags=tuple((f"k{number}", "") for number in range(51))), {"JOB-TAGS": "The job has 51 tags"}),
    (job(metrics=("loss",) * 40), {}),
    (job(metrics=("loss",) * 41), {"JOB-METRICS": "There are 41 metric definitions"}),
]


@pytest.mark.parametrize(("value", "expected"), CASES)
def test_a_job_is_judged(value, expected, assert_findings):
    assert_findings(RULES, value, expected)


def data(sizes, *channels, **given):
    return JobData(request=job(*channels, **given), sizes=sizes)


DATA_CASES = [
    (data({}, s3()), {}),
    (data({"training": 30 * GIB}, s3()), {}),
    (data({"training": 30 * GIB + 1}, s3()), {"JOB-VOLUME-FITS": "Set the volume to more than 31 GiB"}),
    (data({"training": 70 * 10**9}, s3()), {"JOB-VOLUME-FITS": "65.2 GiB to a volume of 30 GiB"}),
    (data({"a": 20 * GIB, "b": 20 * GIB}, s3("a"), s3("b")), {"JOB-VOLUME-FITS": "40.0 GiB"}),
    (data({"training": 70 * GIB}, s3(), volume_size_gib=100), {}),
    (data({"training": 70 * GIB}, s3(input_mode="FastFile")), {}),
    (data({"training": 70 * GIB}, s3(input_mode="Pipe")), {}),
    (data({"training": 70 * GIB}, lustre()), {}),
    (data({"training": 70 * GIB}, s3(), instance_type="ml.g5.xlarge"), {}),
    (data({"training": 70 * GIB}, s3(), volume_size_gib=UNRESOLVED), {}),
]


@pytest.mark.parametrize(("value", "expected"), DATA_CASES)
def test_the_volume_holds_the_data(value, expected, assert_findings):
    assert_findings(DATA_RULES, value, expected)


def test_every_rule_fires_in_a_table():
    fired = {rule for _, expected in [*CASES, *DATA_CASES] for rule in expected}
    assert fired == {rule.id for rule in (*RULES, *DATA_RULES)}


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        (numbered(21), True),
        (job(lustre()), True),
        (job(s3("a"), s3("a")), True),
        (job(s3("train.data")), False),
        (job(image="python:3.12"), False),
        (job(s3()), False),
    ],
)
def test_sagemaker_refuses_only_what_its_api_forbids(value, refused):
    assert bool(refusal(RULES, value, "sagemaker:CreateTrainingJob")) is refused


def test_every_instance_type_of_the_api_is_accepted():
    from botocore.loaders import create_loader

    shapes = create_loader().load_service_model("sagemaker", "service-2")["shapes"]
    for kind in shapes["TrainingInstanceType"]["enum"]:
        found = {finding.rule.id for finding in check(RULES, job(instance_type=kind))}
        assert found <= {"JOB-VOLUME-IGNORED"}, kind


def test_a_request_is_read_with_the_defaults_of_the_api():
    request = {
        "AlgorithmSpecification": {"TrainingImage": IMAGE, "TrainingInputMode": "FastFile"},
        "InputDataConfig": [
            {
                "ChannelName": "a",
                "DataSource": {"S3DataSource": {"S3DataType": "ManifestFile", "S3Uri": "s3://b/m"}},
            },
            {
                "ChannelName": "b",
                "InputMode": "File",
                "CompressionType": "Gzip",
                "DataSource": {
                    "FileSystemDataSource": {"FileSystemId": "fs-01234567", "DirectoryPath": "/abc/data"}
                },
            },
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://b/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 10},
        "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1", "sg-2"]},
        "StoppingCondition": {},
        "Tags": [{"Key": "k", "Value": "v"}],
    }
    read = JobRequest.of(request)
    assert read.channels == (
        RequestedChannel(name="a", input_mode="FastFile", s3_uri="s3://b/m", s3_data_type="ManifestFile"),
        RequestedChannel(
            name="b",
            input_mode="File",
            compression="Gzip",
            file_system_id="fs-01234567",
            directory_path="/abc/data",
        ),
    )
    assert (read.subnets, read.security_groups) == (("subnet-1",), ("sg-1", "sg-2"))
    assert (read.instance_count, read.volume_size_gib, read.max_run_seconds) == (2, 10, 86_400)
    assert read.tags == (("k", "v"),)
    assert read.template is None

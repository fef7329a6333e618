"""What the call CreateTrainingJob refuses, each with the valid neighbour that passes."""

import pytest
from botocore.exceptions import ClientError

PATH = "/abcdefgh/data"


def refused(desk, shell="true", **changes):
    """The error code and message of a call that is refused."""
    with pytest.raises(ClientError) as error:
        desk.create(shell, **changes)
    said = error.value.response["Error"]
    return said["Code"], said["Message"]


def file_system_channel(file_system_id="fs-0123456789abcdef0", kind="FSxLustre"):
    source = {
        "FileSystemId": file_system_id,
        "FileSystemType": kind,
        "FileSystemAccessMode": "ro",
        "DirectoryPath": PATH,
    }
    return {"ChannelName": "train", "DataSource": {"FileSystemDataSource": source}}


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("a", True),
        ("training-20261201-161500-ab12", True),
        ("a" * 63, True),
        ("a" * 64, False),
        ("under_score", False),
        ("-first", False),
        ("last-", False),
        ("dot.ted", False),
    ],
)
def test_names(desk, name, allowed):
    if allowed:
        assert desk.run(TrainingJobName=name)["TrainingJobStatus"] == "Completed"
    else:
        code, message = refused(desk, TrainingJobName=name)
        assert code == "ValidationException"
        assert "trainingJobName" in message


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"AlgorithmSpecification": {"TrainingInputMode": "Slow"}}, "trainingInputMode"),
        ({"ResourceConfig": {"InstanceType": "ml.enormous.1xlarge"}}, "instanceType"),
        ({"RoleArn": "arn:aws:iam::1:role/short"}, "roleArn"),
        ({"OutputDataConfig": {"S3OutputPath": "/my-bucket/out"}}, "s3OutputPath"),
        ({"HyperParameters": {str(number): "x" for number in range(101)}}, "hyperParameters"),
    ],
)
def test_shapes(desk, changes, where):
    code, message = refused(desk, **changes)
    assert code == "ValidationException"
    assert where in message
    assert "validation error detected" in message


@pytest.mark.parametrize(
    "changes",
    [
        {"ResourceConfig": {"InstanceCount": 0}},
        {"ResourceConfig": None},
        {"StoppingCondition": {"MaxRuntimeInSeconds": 28 * 86_400 + 1}},
        {"OutputDataConfig": {"S3OutputPath": "s3://UPPER_case/out"}},
    ],
)
def test_rules(desk, changes):
    assert refused(desk, **changes)[0] == "ValidationException"


def test_a_name_is_used_once(desk):
    job = desk.run()
    code, message = refused(desk)
    assert code == "ResourceInUse"
    assert job["TrainingJobArn"] in message
    assert desk.run(TrainingJobName="my-job-2")["TrainingJobStatus"] == "Completed"


@pytest.mark.parametrize(("count", "allowed"), [(20, True), (21, False)])
def test_twenty_channels(desk, count, allowed):
    desk.put(**{"data/a": "x"})
    channels = [desk.s3_channel(f"c{number}", "data/") for number in range(count)]
    if allowed:
        job = desk.run("ls /opt/ml/input/data | wc -l", InputDataConfig=channels)
        assert job["TrainingJobStatus"] == "Completed"
        assert desk.log()[0].strip() == "20"
    else:
        code, message = refused(desk, InputDataConfig=channels)
        assert code == "ValidationException"
        assert "20" in message


def test_channels_have_different_names(desk):
    desk.put(**{"data/a": "x"})
    code, message = refused(desk, InputDataConfig=[desk.s3_channel("a", "data/")] * 2)
    assert code == "ValidationException"
    assert "'a'" in message


@pytest.mark.parametrize("sources", [(), ("S3DataSource", "FileSystemDataSource")])
def test_a_channel_has_one_source(desk, sources):
    desk.put(**{"data/a": "x"})
    both = desk.s3_channel("train", "data/")["DataSource"] | file_system_channel()["DataSource"]
    channel = {"ChannelName": "train", "DataSource": {name: both[name] for name in sources}}
    code, message = refused(desk, InputDataConfig=[channel])
    assert code == "ValidationException"
    assert "exactly one of S3DataSource and FileSystemDataSource" in message


def test_a_file_system_needs_a_vpc(desk):
    code, message = refused(desk, InputDataConfig=[file_system_channel()])
    assert code == "ValidationException"
    assert "VPC" in message


def test_a_file_system_must_exist(desk):
    subnet, group = desk.make_subnet()
    vpc = {"Subnets": [subnet], "SecurityGroupIds": [group]}
    code, message = refused(desk, InputDataConfig=[file_system_channel()], VpcConfig=vpc)
    assert code == "ValidationException"
    assert "File system not found: fs-0123456789abcdef0" in message


TRUSTING = {
    "Effect": "Allow",
    "Principal": {"Service": "sagemaker.amazonaws.com"},
    "Action": "sts:AssumeRole",
}


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        (TRUSTING, True),
        (TRUSTING | {"Principal": {"Service": ["ec2.amazonaws.com", "sagemaker.amazonaws.com"]}}, True),
        (TRUSTING | {"Action": ["sts:TagSession", "sts:AssumeRole"]}, True),
        (TRUSTING | {"Principal": {"Service": "states.amazonaws.com"}}, False),
        (TRUSTING | {"Principal": {"AWS": "arn:aws:iam::123456789012:root"}}, False),
        (TRUSTING | {"Action": "sts:TagSession"}, False),
        (TRUSTING | {"Effect": "Deny"}, False),
    ],
)
def test_the_role_trusts_sagemaker(desk, statement, allowed):
    role = desk.make_role("other", trust={"Version": "2012-10-17", "Statement": [statement]})
    if allowed:
        assert desk.run(RoleArn=role)["TrainingJobStatus"] == "Completed"
    else:
        assert refused(desk, RoleArn=role) == (
            "ValidationException",
            f"Could not assume role {role}. Please ensure that the role exists and allows principal "
            "'sagemaker.amazonaws.com' to assume the role.",
        )


@pytest.mark.parametrize("name", ["missing", "service-role/job"])
def test_the_role_exists_under_its_whole_name(desk, name):
    role = f"arn:aws:iam::123456789012:role/{name}"
    assert refused(desk, RoleArn=role)[1].startswith(f"Could not assume role {role}.")


@pytest.mark.parametrize("which", ["subnet", "group", "other vpc", None])
def test_the_network_exists_and_is_one(desk, which):
    subnet, group = desk.make_subnet()
    if which == "subnet":
        subnet = "subnet-0123456789abcdef0"
    elif which == "group":
        group = "sg-0123456789abcdef0"
    elif which == "other vpc":
        _, group = desk.make_subnet()
    vpc = {"Subnets": [subnet], "SecurityGroupIds": [group]}
    if which is None:
        assert desk.run(VpcConfig=vpc)["TrainingJobStatus"] == "Completed"
    else:
        code, message = refused(desk, VpcConfig=vpc)
        assert code == "ValidationException"
        assert (subnet if which == "subnet" else group) in message


@pytest.mark.parametrize(
    ("prefix", "cause"),
    [
        ("data/", None),
        ("dat", None),
        ("data/a", None),
        ("nothing/", ""),
        ("data/b", ""),
    ],
)
def test_there_is_data_under_a_prefix(desk, prefix, cause):
    desk.put(**{"data/a": "x"})
    channels = [desk.s3_channel("train", prefix)]
    if cause is None:
        assert desk.run(InputDataConfig=channels)["TrainingJobStatus"] == "Completed"
    else:
        assert refused(desk, InputDataConfig=channels) == (
            "ValidationException",
            f'No S3 objects found under S3 URL "s3://my-bucket/{prefix}" given in input data source. Please '
            "ensure that the bucket exists in the selected region (us-east-1), that objects exist under that "
            f'S3 prefix, and that the role "{desk.role}" has "s3:ListBucket" permissions on bucket '
            '"my-bucket".',
        )


def test_the_role_may_list_the_data(desk):
    desk.put(**{"data/a": "x"})
    role = desk.make_role(
        "reader", [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::my-bucket/*"}]
    )
    code, message = refused(desk, RoleArn=role, InputDataConfig=[desk.s3_channel("train", "data/")])
    assert code == "ValidationException"
    assert "No S3 objects found" in message
    assert "not authorized to perform: s3:ListBucket" in message


@pytest.mark.parametrize("where", ["data", "output"])
def test_buckets_are_in_the_region_of_the_job(desk, where):
    desk.s3.create_bucket(Bucket="far-bucket", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    channel = {
        "ChannelName": "train",
        "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://far-bucket/"}},
    }
    changes = (
        {"InputDataConfig": [channel]}
        if where == "data"
        else {"OutputDataConfig": {"S3OutputPath": "s3://far-bucket/out"}}
    )
    code, message = refused(desk, **changes)
    assert code == "ValidationException"
    assert "eu-west-1" in message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ContainerEntrypoint": None}, "has no images"),
        ({"TrainingInputMode": "FastFile"}, "does not run the input mode FastFile"),
        ({"TrainingInputMode": "Pipe"}, "does not run the input mode Pipe"),
    ],
)
def test_what_is_not_run_here_is_said_and_not_pretended(desk, change, said):
    desk.put(**{"data/a": "x"})
    request = desk.request(InputDataConfig=[desk.s3_channel("train", "data/")])
    algorithm = request["AlgorithmSpecification"] | change
    algorithm = {name: value for name, value in algorithm.items() if value is not None}
    with pytest.raises(ClientError, match=said) as error:
        desk.sagemaker.create_training_job(**request | {"AlgorithmSpecification": algorithm})
    assert error.value.response["Error"]["Code"] == "NotRunByLocalAws"


def test_a_channel_in_file_mode_runs_in_a_fast_file_job(desk):
    desk.put(**{"data/a": "x"})
    channel = desk.s3_channel("train", "data/") | {"InputMode": "File"}
    job = desk.run(AlgorithmSpecification={"TrainingInputMode": "FastFile"}, InputDataConfig=[channel])
    assert job["TrainingJobStatus"] == "Completed"

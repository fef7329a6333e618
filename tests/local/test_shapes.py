import pytest
from botocore.session import get_session

from trainfeed.local import shapes

FILE_SYSTEM = {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "SubnetIds": ["subnet-0123456789abcdef0"]}
JOB = {
    "TrainingJobName": "job",
    "AlgorithmSpecification": {"TrainingInputMode": "File", "TrainingImage": "image"},
    "RoleArn": "arn:aws:iam::123456789012:role/jobs",
    "OutputDataConfig": {"S3OutputPath": "s3://out"},
    "StoppingCondition": {},
}


@pytest.mark.parametrize(
    ("operation", "request_", "expected"),
    [
        (("fsx", "CreateFileSystem"), FILE_SYSTEM, None),
        (
            ("fsx", "CreateFileSystem"),
            {**FILE_SYSTEM, "Tags": [{"Key": "Name", "Value": "données 1 + µ"}]},
            None,
        ),
        (
            ("fsx", "CreateFileSystem"),
            {**FILE_SYSTEM, "Tags": [{"Key": "Na#me", "Value": "x"}]},
            "at 'tags.1.member.key' failed to satisfy constraint: Member must satisfy regular expression",
        ),
        (
            ("fsx", "CreateFileSystem"),
            {**FILE_SYSTEM, "FileSystemType": "EFS"},
            "Value 'EFS' at 'fileSystemType' failed to satisfy constraint: "
            "Member must satisfy enum value set: [WINDOWS, LUSTRE, ONTAP, OPENZFS]",
        ),
        (
            ("fsx", "CreateFileSystem"),
            {**FILE_SYSTEM, "LustreConfiguration": {"PerUnitStorageThroughput": 5}},
            "Value '5' at 'lustreConfiguration.perUnitStorageThroughput' failed to satisfy constraint: "
            "Member must have value greater than or equal to 12",
        ),
        (
            ("fsx", "CreateFileSystem"),
            {**FILE_SYSTEM, "ClientRequestToken": "x" * 64},
            "at 'clientRequestToken' failed to satisfy constraint: "
            "Member must have length less than or equal to 63",
        ),
        (
            ("fsx", "CreateFileSystem"),
            {**FILE_SYSTEM, "Colour": "red"},
            "Value at 'colour' is not a member of CreateFileSystemRequest",
        ),
        (
            ("fsx", "CreateFileSystem"),
            {"FileSystemType": "LUSTRE"},
            "Value null at 'subnetIds' failed to satisfy constraint: Member must not be null",
        ),
        (("sagemaker", "CreateTrainingJob"), {**JOB, "Environment": {"EPOCHS": "3"}}, None),
        (
            ("sagemaker", "CreateTrainingJob"),
            {**JOB, "Environment": {"1EPOCHS": "3"}},
            "Value '1EPOCHS' at 'environment.key' failed to satisfy constraint: Member must satisfy regular",
        ),
        (
            ("sagemaker", "CreateTrainingJob"),
            {**JOB, "TrainingJobName": "a job"},
            "Value 'a job' at 'trainingJobName' failed to satisfy constraint: Member must satisfy regular",
        ),
        (
            ("sagemaker", "CreateTrainingJob"),
            {**JOB, "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {}}}]},
            "Value null at 'inputDataConfig.1.member.dataSource.s3DataSource.s3DataType' failed",
        ),
    ],
)
def test_violations(operation, request_, expected):
    broken = shapes.violations(shapes.operation(*operation).input_shape, request_)
    if expected is None:
        assert broken == []
    else:
        assert any(expected in each for each in broken), broken


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"StorageCapacity": "1200"}, "str at 'storageCapacity' cannot be converted to int"),
        ({"StorageCapacity": 1200.5}, "float at 'storageCapacity' cannot be converted to int"),
        ({"StorageCapacity": True}, "bool at 'storageCapacity' cannot be converted to a number"),
        ({"SubnetIds": "subnet-1"}, "str at 'subnetIds' cannot be converted to list or tuple"),
    ],
)
def test_values_of_another_type(request_, expected):
    with pytest.raises(shapes.MalformedRequestError, match=expected):
        shapes.violations(
            shapes.operation("fsx", "CreateFileSystem").input_shape, {**FILE_SYSTEM, **request_}
        )


def test_all_violations_are_said_at_once():
    said = shapes.complaint(
        shapes.violations(
            shapes.operation("fsx", "CreateFileSystem").input_shape,
            {**FILE_SYSTEM, "FileSystemType": "EFS", "StorageType": "TAPE"},
        )
    )
    assert said.startswith("2 validation errors detected: ")
    assert "'EFS'" in said
    assert "'TAPE'" in said


def test_unknown_members_of_an_answer_are_found_at_any_depth():
    shape = shapes.operation("fsx", "DescribeFileSystems").output_shape
    answer = {"FileSystems": [{"FileSystemId": "fs-1", "LustreConfiguration": {"Colour": 1}}], "Next": 1}
    assert shapes.unknown_members(shape, answer) == ["next", "fileSystems[].lustreConfiguration.colour"]


@pytest.mark.parametrize(
    ("service", "operations"),
    [
        ("fsx", None),
        (
            "sagemaker",
            ["CreateTrainingJob", "DescribeTrainingJob", "ListTrainingJobs", "StopTrainingJob", "AddTags"],
        ),
    ],
)
def test_every_pattern_can_be_read(service, operations):
    model = get_session().get_service_model(service)
    patterns = set()
    for name in operations or model.operation_names:
        patterns |= _patterns(model.operation_model(name).input_shape, set())
    assert patterns
    for pattern in patterns:
        shapes.python_pattern(pattern)


def _patterns(shape, seen) -> set[str]:
    if shape is None or shape.name in seen:
        return set()
    seen.add(shape.name)
    found = {shape.metadata["pattern"]} if "pattern" in shape.metadata else set()
    inner = [*getattr(shape, "members", {}).values()]
    inner += [getattr(shape, name) for name in ("member", "key", "value") if hasattr(shape, name)]
    for each in inner:
        found |= _patterns(each, seen)
    return found


@pytest.mark.parametrize(
    ("pattern", "matches", "fails"),
    [
        (r"[\p{L}\p{N} ]*", "Straße 7", "a-b"),
        (r"[\w-/]+", "a-b/c", "a b"),
        (r"^(?i)(true|false)$", "TRUE", "yes"),
        (r"\p{ASCII}*", "plain", "ä"),
    ],
)
def test_java_patterns(pattern, matches, fails):
    assert shapes.python_pattern(pattern).fullmatch(matches)
    assert not shapes.python_pattern(pattern).fullmatch(fails)

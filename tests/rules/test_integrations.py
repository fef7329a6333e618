"""The table of Step Functions integrations: its spellings, and that it can be written anew."""

import json
import runpy
from pathlib import Path

import pytest

from trainfeed.rules.integrations import (
    CREATE_TRAINING_JOB,
    DESCRIBE_ASSOCIATIONS,
    DESCRIBE_FILE_SYSTEMS,
    DESCRIBE_TASKS,
    GET_PARAMETER,
    TABLE,
    Moment,
    exception_name,
    integration,
    integrations,
    sdk_name,
)

SCRIPT = Path(__file__).parents[2] / "scripts" / "integrations"


def test_the_script_writes_the_same_table_again():
    assert runpy.run_path(str(SCRIPT))["table"]() == json.loads(TABLE.read_text())


def test_each_integration_of_the_kit_is_in_the_table_and_no_other():
    assert set(integrations()) == {
        DESCRIBE_FILE_SYSTEMS,
        DESCRIBE_ASSOCIATIONS,
        DESCRIBE_TASKS,
        GET_PARAMETER,
        CREATE_TRAINING_JOB,
    }


@pytest.mark.parametrize(
    ("api", "sdk"),
    [
        ("FileSystemId", "FileSystemId"),
        ("DNSName", "DnsName"),
        ("ResourceARN", "ResourceArn"),
        ("KMSKeyId", "KmsKeyId"),
        ("S3", "S3"),
        ("DBClusters", "DbClusters"),
        ("SSM", "Ssm"),
        ("FSx", "FSx"),
        ("SageMaker", "SageMaker"),
        ("WithDecryption", "WithDecryption"),
    ],
)
def test_names_in_the_casing_of_the_java_sdk(api: str, sdk: str):
    assert sdk_name(api) == sdk


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        ("FileSystemNotFound", "FileSystemNotFoundException"),
        ("DBClusterNotFoundFault", "DbClusterNotFoundException"),
        ("ThrottlingException", "ThrottlingException"),
    ],
)
def test_errors_end_in_exception_once(shape: str, name: str):
    assert exception_name(shape) == name


@pytest.mark.parametrize(
    ("resource", "code", "error"),
    [
        (DESCRIBE_FILE_SYSTEMS, "FileSystemNotFound", "FSx.FileSystemNotFoundException"),
        (DESCRIBE_FILE_SYSTEMS, "AccessDeniedException", "FSx.FSxException"),
        (DESCRIBE_TASKS, "ThrottlingException", "FSx.FSxException"),
        (GET_PARAMETER, "ParameterNotFound", "Ssm.ParameterNotFoundException"),
        (GET_PARAMETER, "AccessDeniedException", "Ssm.SsmException"),
        (CREATE_TRAINING_JOB, "ResourceInUse", "SageMaker.ResourceInUseException"),
        (CREATE_TRAINING_JOB, "ValidationException", "SageMaker.AmazonSageMakerException"),
    ],
)
def test_an_error_code_has_one_spelling_in_step_functions(resource: str, code: str, error: str):
    assert integration(resource).error(code) == error


@pytest.mark.parametrize(
    ("resource", "given", "unknown"),
    [
        (DESCRIBE_FILE_SYSTEMS, {"FileSystemIds": ["fs-1"]}, []),
        (DESCRIBE_FILE_SYSTEMS, {"fileSystemIds": ["fs-1"]}, ["fileSystemIds"]),
        (DESCRIBE_FILE_SYSTEMS, {"FileSystemId": "fs-1"}, ["FileSystemId"]),
        (DESCRIBE_TASKS, {"Filters": [{"Name": "file-system-id", "Values": ["fs-1"]}]}, []),
        (DESCRIBE_TASKS, {"Filters": [{"Name": "x", "Value": "fs-1"}]}, ["Filters[].Value"]),
        (CREATE_TRAINING_JOB, {"HyperParameters": {"any-key": "1"}}, []),
        (
            CREATE_TRAINING_JOB,
            {"InputDataConfig": [{"DataSource": {"FileSystemDataSource": {"FileSystemID": "fs-1"}}}]},
            ["InputDataConfig[].DataSource.FileSystemDataSource.FileSystemID"],
        ),
    ],
)
def test_arguments_that_step_functions_refuses(resource: str, given: dict, unknown: list[str]):
    assert integration(resource).unknown_arguments(given) == unknown


def test_the_partition_of_a_resource():
    china = integration(DESCRIBE_TASKS).arn("aws-cn")
    assert china == "arn:aws-cn:states:::aws-sdk:fsx:describeDataRepositoryTasks"
    assert integration(china) is integration(DESCRIBE_TASKS)
    with pytest.raises(KeyError):
        integration("arn:aws:states:::aws-sdk:fsx:describeDataRepositoryTask")


def test_a_training_job_needs_its_rights_when_created_called_followed_and_stopped():
    job = integration(CREATE_TRAINING_JOB)
    actions = {moment: {right.action for right in job.rights_at(moment)} for moment in Moment}
    assert actions == {
        Moment.CREATE: {"events:PutTargets", "events:PutRule", "events:DescribeRule"},
        Moment.CALL: {"sagemaker:CreateTrainingJob", "sagemaker:AddTags", "iam:PassRole"},
        Moment.FOLLOW: {"sagemaker:DescribeTrainingJob", "sagemaker:ListTags"},
        Moment.STOP: {"sagemaker:StopTrainingJob"},
    }

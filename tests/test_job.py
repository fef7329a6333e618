"""The CreateTrainingJob request: plain, in JSONata, and what its role may do."""

import json

import jsonata
import pytest
from botocore.loaders import create_loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from trainfeed.execution_role import execution_role_grants
from trainfeed.job import (
    ENTRYPOINT,
    MetricDefinition,
    PlainRun,
    StateMachineRun,
    TrainingJob,
    create_training_job_request,
    facts_variable,
    requested,
)
from trainfeed.rules.job import RULES
from trainfeed.rules.job_request import JobRequest
from trainfeed.rules.rule import check
from trainfeed.sources import (
    AccessMode,
    Channel,
    FileSystemFacts,
    InputMode,
    LustreSource,
    S3Source,
    S3Uri,
)

ROLE = "arn:aws:iam::123456789012:role/training"
IMAGE = "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-scikit-learn:1.4-2-cpu-py3"
NAME = "training-20261201-161500-ab12"
FACTS = FileSystemFacts(
    file_system_id="fs-0123456789abcdef0",
    mount_name="abcdefgh",
    subnet_id="subnet-0aaa",
    security_group_ids=("sg-0aaa",),
    imported_paths=("/data",),
)
OTHER = FileSystemFacts(
    file_system_id="fs-0fedcba9876543210",
    mount_name="hgfedcba",
    subnet_id="subnet-0aaa",
    security_group_ids=("sg-0bbb", "sg-0aaa"),
)
S3 = Channel(name="raw", source=S3Source(uri=S3Uri("data", "raw")))
LUSTRE = Channel(name="training", source=LustreSource(facts="fsx-lustre", path="/data"))
SECOND = Channel(
    name="scratch",
    source=LustreSource(facts="fsx-second", path="/", access=AccessMode.READ_WRITE),
)


def job(*channels, **given):
    return TrainingJob(
        name="training",
        image=IMAGE,
        channels=channels,
        output=S3Uri("out", "models"),
        code=S3Uri("out", "code"),
        **given,
    )


def plain(**given):
    return PlainRun(
        job_name=NAME,
        role_arn=ROLE,
        packed_code=S3Uri("out", "code/0a1b"),
        script="train.py",
        facts={"fsx-lustre": FACTS, "fsx-second": OTHER},
        **given,
    )


JOBS = {
    "s3": job(S3),
    "fast file": job(Channel(name="raw", source=S3Source(uri=S3Uri("data"), mode=InputMode.FAST_FILE))),
    "lustre": job(LUSTRE),
    "two file systems": job(LUSTRE, SECOND, S3),
    "everything": job(
        LUSTRE,
        S3,
        instance_type="ml.c5.2xlarge",
        instance_count=4,
        volume_size_gib=120,
        max_run_seconds=3600,
        environment={"LEVEL": "debug", "ODD": "{% $states %}"},
        hyperparameters={"c": "10", "text": 'a "quoted" %} \\ é\n'},
        tags={"team": "vision"},
        network_isolation=True,
        metric_definitions=(MetricDefinition(name="loss", regex="loss=([0-9.]+)"),),
    ),
}


@pytest.fixture(scope="module")
def sagemaker():
    return ServiceModel(create_loader().load_service_model("sagemaker", "service-2"))


@pytest.mark.parametrize("stated", JOBS.values(), ids=JOBS)
def test_the_request_is_one_of_the_api_and_breaks_no_rule(stated, sagemaker):
    request = create_training_job_request(stated, plain(overrides={"epochs": "3"}))
    shape = sagemaker.operation_model("CreateTrainingJob").input_shape
    report = ParamValidator().validate(request, shape)
    assert not report.has_errors(), report.generate_report()
    assert check(RULES, JobRequest.of(request)) == ()
    assert check(RULES, requested(stated)) == ()


def test_an_s3_job_needs_no_vpc():
    request = create_training_job_request(job(S3), plain())
    assert "VpcConfig" not in request
    assert request["InputDataConfig"][0] == {
        "ChannelName": "raw",
        "InputMode": "File",
        "DataSource": {
            "S3DataSource": {
                "S3DataType": "S3Prefix",
                "S3Uri": "s3://data/raw/",
                "S3DataDistributionType": "FullyReplicated",
            }
        },
    }
    assert request["OutputDataConfig"] == {"S3OutputPath": "s3://out/models"}
    assert "HyperParameters" not in request
    assert "EnableNetworkIsolation" not in request


def test_the_script_arrives_as_the_last_channel_and_is_started_by_the_driver():
    request = create_training_job_request(job(S3), plain())
    assert request["InputDataConfig"][-1]["ChannelName"] == "code"
    assert request["InputDataConfig"][-1]["DataSource"]["S3DataSource"]["S3Uri"] == "s3://out/code/0a1b/"
    assert request["AlgorithmSpecification"] == {
        "TrainingImage": IMAGE,
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["python3", "/opt/ml/input/data/code/trainfeed_entry.py"],
        "ContainerArguments": ["train.py"],
    }
    assert ENTRYPOINT[1] == "/opt/ml/input/data/code/trainfeed_entry.py"


def test_a_lustre_job_runs_where_its_file_system_is():
    request = create_training_job_request(job(LUSTRE), plain())
    assert request["InputDataConfig"][0] == {
        "ChannelName": "training",
        "DataSource": {
            "FileSystemDataSource": {
                "FileSystemId": "fs-0123456789abcdef0",
                "FileSystemType": "FSxLustre",
                "FileSystemAccessMode": "ro",
                "DirectoryPath": "/abcdefgh/data",
            }
        },
    }
    assert request["VpcConfig"] == {"Subnets": ["subnet-0aaa"], "SecurityGroupIds": ["sg-0aaa"]}


@pytest.mark.parametrize(
    ("path", "directory"),
    [
        ("/", "/abcdefgh"),
        ("/data", "/abcdefgh/data"),
        ("/data/", "/abcdefgh/data"),
        ("/a b/c", "/abcdefgh/a b/c"),
    ],
)
def test_a_directory_begins_with_the_mount_name(path, directory):
    stated = job(Channel(name="training", source=LustreSource(facts="fsx-lustre", path=path)))
    request = create_training_job_request(stated, plain())
    source = request["InputDataConfig"][0]["DataSource"]["FileSystemDataSource"]
    assert source["DirectoryPath"] == directory


def test_the_subnets_and_groups_of_several_file_systems_are_joined():
    request = create_training_job_request(job(LUSTRE, SECOND), plain())
    assert request["VpcConfig"] == {"Subnets": ["subnet-0aaa"], "SecurityGroupIds": ["sg-0aaa", "sg-0bbb"]}
    assert job(LUSTRE, SECOND, LUSTRE).file_systems == ("fsx-lustre", "fsx-second")


def test_a_run_overrides_the_jobs_hyperparameters():
    request = create_training_job_request(
        job(S3, hyperparameters={"c": "1", "epochs": "5"}), plain(overrides={"c": "2"})
    )
    assert request["HyperParameters"] == {"c": "2", "epochs": "5"}


def test_every_job_is_tagged_with_its_template():
    request = create_training_job_request(job(S3, tags={"team": "vision", "trainfeed:job": "fake"}), plain())
    assert request["Tags"] == [
        {"Key": "team", "Value": "vision"},
        {"Key": "trainfeed:job", "Value": "training"},
    ]


def published(facts):
    return {
        "FileSystemId": facts.file_system_id,
        "MountName": facts.mount_name,
        "SubnetId": facts.subnet_id,
        "SecurityGroupIds": list(facts.security_group_ids),
        "ImportedPaths": list(facts.imported_paths),
    }


def evaluated(value, variables):
    """A request of a state machine as Step Functions would complete it."""
    if isinstance(value, dict):
        return {key: evaluated(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [evaluated(item, variables) for item in value]
    if isinstance(value, str) and value.startswith("{%") and value.endswith("%}"):
        return json.loads(json.dumps(jsonata.Jsonata(value[2:-2]).evaluate(None, variables)))
    return value


@pytest.mark.parametrize("stated", JOBS.values(), ids=JOBS)
@pytest.mark.parametrize("overrides", [{}, {"c": "2", "epochs": "3"}])
def test_the_state_machine_completes_the_same_request(stated, overrides):
    template = create_training_job_request(stated, StateMachineRun(role_arn=ROLE))
    variables = {
        "run": {"Code": "s3://out/code/0a1b", "Script": "train.py", "HyperParameters": overrides},
        "fsx_lustre": published(FACTS),
        "fsx_second": published(OTHER),
        "states": {"context": {"Execution": {"Name": NAME}}},
    }
    completed = evaluated(json.loads(json.dumps(template)), variables)
    expected = create_training_job_request(stated, plain(overrides=overrides))
    expected.setdefault("HyperParameters", {})
    assert completed == expected


def test_a_source_names_a_variable():
    assert facts_variable("fsx-lustre") == "fsx_lustre"


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        (job(*(Channel(name=f"c{n}", source=S3.source) for n in range(20))), "JOB-CHANNELS"),
        (job(Channel(name="code", source=S3.source)), "JOB-CHANNELS-UNIQUE"),
        (job(Channel(name="train.data", source=S3.source)), "JOB-CHANNEL-NAME"),
        (job(Channel(name="x", source=LustreSource(facts="fsx-lustre", path="data"))), "JOB-DIRECTORY-PATH"),
        (job(S3, hyperparameters={"k": "v" * 3000}), "JOB-HYPERPARAMETERS"),
        (job(Channel(name="x", source=S3Source(uri=S3Uri("Data")))), "JOB-S3-ADDRESS"),
    ],
)
def test_a_template_is_judged_before_any_run(stated, rule):
    assert [finding.rule.id for finding in check(RULES, requested(stated))] == [rule]


def test_twenty_channels_with_the_code_are_accepted():
    stated = job(*(Channel(name=f"c{n}", source=S3.source) for n in range(19)))
    assert check(RULES, requested(stated)) == ()


# The role.


def allowed(stated, **given):
    place = {"partition": "aws", "region": "us-east-1", "account": "123456789012"}
    statements = [grant.statement() for grant in execution_role_grants(stated, **{**place, **given})]
    assert all(statement["Effect"] == "Allow" for statement in statements)
    return {statement["Sid"]: statement for statement in statements}


def actions(stated, **given):
    return {action for statement in allowed(stated, **given).values() for action in statement["Action"]}


def test_an_s3_job_reads_its_prefixes_and_writes_its_output():
    role = allowed(job(S3))
    assert role["ListData"]["Resource"] == ["arn:aws:s3:::data"]
    assert role["ListData"]["Condition"] == {"StringLike": {"s3:prefix": ["raw/*"]}}
    assert role["ListData1"]["Resource"] == ["arn:aws:s3:::out"]
    assert role["ListData1"]["Condition"] == {"StringLike": {"s3:prefix": ["code/*"]}}
    assert role["ReadData"]["Resource"] == ["arn:aws:s3:::data/raw/*", "arn:aws:s3:::out/code/*"]
    assert role["WriteOutput"]["Action"] == ["s3:PutObject", "s3:AbortMultipartUpload"]
    assert role["WriteOutput"]["Resource"] == ["arn:aws:s3:::out/models/*"]
    assert not any(action.startswith("ec2:") for action in actions(job(S3)))


def test_a_whole_bucket_has_no_prefix_to_narrow():
    role = allowed(job(Channel(name="all", source=S3Source(uri=S3Uri("data")))))
    assert "Condition" not in role["ListData"]
    assert role["ReadData"]["Resource"][0] == "arn:aws:s3:::data/*"


def test_a_lustre_job_joins_the_network_and_reads_no_data_from_s3():
    role = allowed(job(LUSTRE))
    assert role["ListData"]["Resource"] == ["arn:aws:s3:::out"]
    assert role["ReadData"]["Resource"] == ["arn:aws:s3:::out/code/*"]
    assert "ec2:CreateNetworkInterfacePermission" in role["AttachToNetwork"]["Action"]
    assert len(role["AttachToNetwork"]["Action"]) == 9


def test_the_image_is_pulled_from_its_own_registry():
    role = allowed(job(S3))
    assert role["PullImage"]["Resource"] == [
        "arn:aws:ecr:us-east-1:683313688378:repository/sagemaker-scikit-learn"
    ]
    assert role["LogInToRegistry"]["Action"] == ["ecr:GetAuthorizationToken"]


@pytest.mark.parametrize(
    ("given", "sid"),
    [
        ({"metric_definitions": (MetricDefinition(name="loss", regex="x"),)}, "SendMetrics"),
    ],
)
def test_metrics_are_sent_only_by_jobs_that_have_some(given, sid):
    assert sid in allowed(job(S3, **given))
    assert sid not in allowed(job(S3))


def test_keys_are_used_only_where_buckets_have_their_own():
    key = "arn:aws:kms:us-east-1:123456789012:key/0"
    assert allowed(job(S3), kms_key_arns=(key,))["UseBucketKeys"]["Resource"] == [key]
    assert not any(action.startswith("kms:") for action in actions(job(S3)))


def test_names_known_only_at_deployment_are_put_together_unread():
    stated = TrainingJob(
        name="training",
        image="${Token[Image.1]}",
        channels=(Channel(name="raw", source=S3Source(uri=S3Uri("${Token[TOKEN.2]}", "raw"))),),
        output=S3Uri("${Token[TOKEN.3]}", "models"),
        code=S3Uri("${Token[TOKEN.3]}", "code"),
    )
    place = {"partition": "${P}", "region": "${R}", "account": "${A}"}
    role = allowed(stated, **place)
    assert role["ListData"]["Resource"] == ["arn:${P}:s3:::${Token[TOKEN.2]}"]
    assert role["WriteOutput"]["Resource"] == ["arn:${P}:s3:::${Token[TOKEN.3]}/models/*"]
    assert role["WriteLogs"]["Resource"] == ["arn:${P}:logs:${R}:${A}:log-group:/aws/sagemaker/TrainingJobs*"]
    assert role["PullImage"]["Resource"] == ["arn:${P}:ecr:${R}:*:repository/*"]


def test_every_grant_says_why_and_by_which_page():
    grants = execution_role_grants(
        JOBS["everything"], partition="aws", region="us-east-1", account="123456789012", kms_key_arns=("k",)
    )
    assert len({grant.sid for grant in grants}) == len(grants)
    for grant in grants:
        assert grant.why
        assert grant.source.startswith("https://docs.aws.amazon.com/")

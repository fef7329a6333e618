import json

import pytest
from aws_cdk import App

from stacks.main import build
from stacks.settings import read
from stacks.yaml_file import SettingsError

NETWORK, DATASET, LUSTRE, JOB, FILE_JOB = (
    "NetworkStack",
    "DatasetStack",
    "FsxLustreStack",
    "TrainingJobStack",
    "TrainingFileJobStack",
)
EXISTING = {"vpc_id": "vpc-01234567", "subnet_id": "subnet-01234567", "security_group_id": "sg-01234567"}


def s3_job(content):
    del content["sources"]
    del content["jobs"]["training"]


def lustre_only(content):
    del content["jobs"]


def existing_network(content):
    content["network"]["existing"] = dict(EXISTING)


def existing_buckets(content):
    content["dataset"].update(data_bucket="my-data", output_bucket="my-output")


def existing_everything(content):
    existing_network(content)
    existing_buckets(content)


def links_elsewhere(content):
    lustre_only(content)
    content["sources"]["fsx-lustre"]["links"] = [{"path": "/data", "uri": "s3://their-data/set"}]


@pytest.mark.parametrize(
    ("change", "stacks"),
    [
        (
            lambda _: None,
            {
                NETWORK: set(),
                DATASET: set(),
                LUSTRE: {NETWORK, DATASET},
                JOB: {LUSTRE, DATASET},
                FILE_JOB: {DATASET},
            },
        ),
        (s3_job, {DATASET: set(), FILE_JOB: {DATASET}}),
        (lustre_only, {NETWORK: set(), DATASET: set(), LUSTRE: {NETWORK, DATASET}}),
        (
            existing_network,
            {DATASET: set(), LUSTRE: {DATASET}, JOB: {LUSTRE, DATASET}, FILE_JOB: {DATASET}},
        ),
        (existing_buckets, {NETWORK: set(), LUSTRE: {NETWORK}, JOB: {LUSTRE}, FILE_JOB: set()}),
        (existing_everything, {LUSTRE: set(), JOB: {LUSTRE}, FILE_JOB: set()}),
        (links_elsewhere, {NETWORK: set(), LUSTRE: {NETWORK}}),
    ],
)
def test_a_stack_exists_only_where_something_needs_it(synth, change, stacks):
    assert synth(change).dependencies == stacks


def imports(value):
    """The names that a template imports from other stacks."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "Fn::ImportValue":
                yield inner
            else:
                yield from imports(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from imports(inner)


def test_what_one_stack_imports_the_stacks_it_needs_always_export(app_as_shipped):
    exported = {
        output["Export"]["Name"]: stack
        for stack, template in app_as_shipped.templates.items()
        for output in template.get("Outputs", {}).values()
        if "Export" in output
    }
    for stack, template in app_as_shipped.templates.items():
        for name in imports(template):
            assert exported[name] in app_as_shipped.dependencies[stack]
    assert set(exported) == {
        "NetworkStack:VpcId",
        "NetworkStack:SubnetId",
        "NetworkStack:SecurityGroupId",
        "DatasetStack:DataBucket",
        "DatasetStack:OutputBucket",
    }


def test_no_job_imports_anything_of_a_file_system(app_as_shipped):
    assert set(imports(app_as_shipped.templates[JOB])) == {"DatasetStack:OutputBucket"}


def test_the_file_system_links_the_dataset_and_the_output(app_as_shipped):
    links = app_as_shipped.resources(LUSTRE, "AWS::FSx::DataRepositoryAssociation").values()
    linked = {
        link["Properties"]["FileSystemPath"]: link["Properties"]["DataRepositoryPath"]["Fn::Join"][1]
        for link in links
    }
    assert linked == {
        "/data": ["s3://", {"Fn::ImportValue": "DatasetStack:DataBucket"}, "/data/"],
        "/out": ["s3://", {"Fn::ImportValue": "DatasetStack:OutputBucket"}, "/out/"],
    }


def test_outputs_name_what_a_person_needs_next(app_as_shipped):
    assert set(app_as_shipped.outputs(NETWORK)) == {"VpcId", "SubnetId", "SecurityGroupId"}
    assert set(app_as_shipped.outputs(DATASET)) == {"DataBucket", "OutputBucket", "Upload"}
    assert set(app_as_shipped.outputs(LUSTRE)) == {"FileSystemId", "MountName"}
    assert app_as_shipped.outputs(JOB)["Run"] == "trainfeed run training --script PATH"
    assert app_as_shipped.outputs(FILE_JOB)["Run"] == "trainfeed run training-file --script PATH"


TAGGED = {
    NETWORK: {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup"},
    DATASET: {"AWS::S3::Bucket"},
    LUSTRE: {"AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation", "AWS::EC2::SecurityGroup"},
    JOB: {"AWS::IAM::Role", "AWS::StepFunctions::StateMachine", "AWS::Logs::LogGroup"},
}


def test_resources_tell_which_stack_made_them(app_as_shipped):
    for stack, types in TAGGED.items():
        for type_ in types:
            for body in app_as_shipped.resources(stack, type_).values():
                assert {"Key": "trainfeed:stack", "Value": stack} in body["Properties"]["Tags"], type_


def test_a_file_system_that_no_job_uses_is_named(synth):
    (note,) = synth(lustre_only).messages[LUSTRE]

    assert "fsx-lustre" in note
    assert "cdk destroy FsxLustreStack" in note


def test_nothing_is_said_about_the_app_as_shipped(app_as_shipped):
    assert not any(app_as_shipped.messages.values())


def test_existing_buckets_are_named_as_they_are(synth):
    assembly = synth(existing_buckets)

    links = assembly.resources(LUSTRE, "AWS::FSx::DataRepositoryAssociation").values()
    assert [link["Properties"]["DataRepositoryPath"] for link in links] == [
        "s3://my-data/data/",
        "s3://my-output/out/",
    ]
    value = assembly.resources(JOB, "AWS::SSM::Parameter").popitem()[1]["Properties"]["Value"]
    assert "s3://my-output/code" in json.dumps(value)
    (endpoint,) = assembly.resources(NETWORK, "AWS::EC2::VPCEndpoint").values()
    assert "my-data" in json.dumps(endpoint["Properties"]["PolicyDocument"])


def test_an_existing_network_gets_the_file_system_and_nothing_else(synth):
    def change(content):
        existing_network(content)
        content["sources"]["fsx-lustre"]["security_group_id"] = "sg-89abcdef"

    assembly = synth(change)
    (file_system,) = assembly.resources(LUSTRE, "AWS::FSx::FileSystem").values()
    assert file_system["Properties"]["SubnetIds"] == ["subnet-01234567"]
    assert file_system["Properties"]["SecurityGroupIds"] == ["sg-89abcdef"]
    types = {body["Type"] for body in assembly.templates[LUSTRE]["Resources"].values()}
    assert not [type_ for type_ in types if type_.startswith("AWS::EC2")]


def test_the_zone_named_by_its_id_is_that_of_the_subnet(synth):
    def change(content):
        content["network"]["zone_id"] = "use1-az6"

    (subnet,) = synth(change).resources(NETWORK, "AWS::EC2::Subnet").values()
    assert subnet["Properties"]["AvailabilityZoneId"] == "use1-az6"


def test_a_second_file_system_is_a_stack_of_its_own(synth):
    def change(content):
        links = [{"path": "/data", "uri": "dataset"}]
        content["sources"]["fast-scratch"] = {"storage_capacity_gib": 2400, "links": links}
        content["jobs"]["training"]["channels"]["more"] = {"source": "fast-scratch"}

    assembly = synth(change)
    names = {
        parameter["Properties"]["Name"]
        for stack in (LUSTRE, "FastScratchStack")
        for parameter in assembly.resources(stack, "AWS::SSM::Parameter").values()
    }
    assert names == {"/trainfeed/sources/fsx-lustre", "/trainfeed/sources/fast-scratch"}
    assert assembly.dependencies[JOB] == {LUSTRE, "FastScratchStack", DATASET}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"removal": None}, "Delete"),
        ({"removal": "retain"}, "Retain"),
        ({"deployment_type": "PERSISTENT_2", "per_unit_storage_throughput": 250}, "Retain"),
        (
            {"deployment_type": "PERSISTENT_2", "per_unit_storage_throughput": 250, "removal": "destroy"},
            "Delete",
        ),
    ],
)
def test_removal_is_as_the_settings_say(synth, settings, expected):
    assembly = synth(lambda content: content["sources"]["fsx-lustre"].update(settings))

    (file_system,) = assembly.resources(LUSTRE, "AWS::FSx::FileSystem").values()
    assert file_system["DeletionPolicy"] == expected


@pytest.mark.parametrize(
    ("settings", "metadata"),
    [
        ({}, None),
        ({"deployment_type": "PERSISTENT_2", "per_unit_storage_throughput": 125}, {"Mode": "AUTOMATIC"}),
        (
            {"deployment_type": "PERSISTENT_2", "per_unit_storage_throughput": 125, "metadata_iops": 6000},
            {"Mode": "USER_PROVISIONED", "Iops": 6000},
        ),
    ],
)
def test_metadata_is_configured_when_a_persistent_2_is_made(synth, settings, metadata):
    assembly = synth(lambda content: content["sources"]["fsx-lustre"].update(settings))

    (file_system,) = assembly.resources(LUSTRE, "AWS::FSx::FileSystem").values()
    assert file_system["Properties"]["LustreConfiguration"].get("MetadataConfiguration") == metadata


def test_the_image_is_that_of_the_region_or_looked_up_at_deployment(synth):
    here = json.dumps(synth(s3_job, region="eu-west-1").templates[FILE_JOB])
    anywhere = synth(s3_job, region=None).templates[FILE_JOB]

    assert ".dkr.ecr.eu-west-1.amazonaws.com/sagemaker-scikit-learn:" in here
    (images,) = anywhere["Mappings"].values()
    assert ".dkr.ecr.eu-west-1.amazonaws.com/sagemaker-scikit-learn:" in images["eu-west-1"]["Uri"]
    assert '{"Ref": "AWS::Region"}' in json.dumps(anywhere["Resources"])


S3_IN = {"path": "/data", "uri": "s3://mine/in/deep"}


def export(uri):
    return {"path": "/out", "uri": uri, "import_on_create": False, "auto_export": ["NEW"]}


REFUSED = [
    ("us-east-1", "sources.fsx-lustre", {"storage_capacity_gib": 3600}, "Choose 2400 or 4800"),
    ("us-east-1", "sources.fsx-lustre", {"storage_capacity_gib": 1200.5}, "LUSTRE-CAPACITY"),
    ("us-east-1", "sources.fsx-lustre", {"per_unit_storage_throughput": 200}, "LUSTRE-THROUGHPUT-TIER"),
    ("us-east-1", "sources.fsx-lustre", {"deployment_type": "PERSISTENT_2"}, "125, 250, 500, 1000"),
    ("us-east-1", "sources.fsx-lustre", {"deployment_type": "SCRATCH_1"}, "LINK-SUPPORTED"),
    ("mx-central-1", "sources.fsx-lustre", {}, "LUSTRE-REGION"),
    ("us-east-1", "network.zone_id", "us-east-1a", "NETWORK-ZONE-ID"),
    ("us-east-1", "network.zone_id", "usw2-az1", "NETWORK-ZONE-REGION"),
    (
        "us-east-1",
        "sources",
        {"another": {}},
        "/out of fsx-lustre exports to s3://(the output bucket)/out, where /out of another exports to too",
    ),
    (
        "us-east-1",
        "sources",
        {"fsx-lustre": {"links": [export("dataset")]}},
        "exports to s3://(the data bucket)/data, over the data at s3://(the data bucket)/data",
    ),
    (
        "us-east-1",
        "sources",
        {"fsx-lustre": {"links": [export("s3://mine/in")]}, "another": {"links": [S3_IN]}},
        "over what /data of another imports from s3://mine/in/deep",
    ),
    ("us-east-1", "jobs.training", {"instance_type": "m5.large"}, "JOB-INSTANCE-TYPE"),
    ("xx-east-1", "jobs.training", {}, "no scikit-learn image"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[1]}-{case[3]}")
def test_what_aws_would_refuse_is_told_with_its_place(write, monkeypatch, case):
    region, where, value, message = case

    def change(content):
        *path, last = where.split(".")
        for name in path:
            content = content[name]
        if isinstance(value, dict):
            content[last].update(value)
        else:
            content[last] = value

    monkeypatch.setenv("CDK_DEFAULT_REGION", region)
    file = read(write(change))
    with pytest.raises(SettingsError) as caught:
        build(App(), file)

    assert [told for told in str(caught.value).splitlines() if f": {where}: " in told and message in told], (
        str(caught.value)
    )
    assert all(told.startswith(f"{file.path}:") for told in str(caught.value).splitlines())


def test_what_aws_would_refuse_of_several_stacks_is_told_at_once(write, monkeypatch):
    def change(content):
        content["network"]["zone_id"] = "usw2-az1"
        content["sources"]["fsx-lustre"]["storage_capacity_gib"] = 3600
        content["jobs"]["training"]["instance_type"] = "m5.large"

    monkeypatch.setenv("CDK_DEFAULT_REGION", "us-east-1")
    with pytest.raises(SettingsError) as caught:
        build(App(), read(write(change)))

    for rule in ("NETWORK-ZONE-REGION", "LUSTRE-CAPACITY", "JOB-INSTANCE-TYPE"):
        assert rule in str(caught.value)


@pytest.mark.parametrize(("zone", "rule"), [("usw2-az1", "NETWORK-ZONE-REGION"), ("use1-az1", None)])
def test_a_zone_is_judged_though_no_network_is_made(write, monkeypatch, zone, rule):
    monkeypatch.setenv("CDK_DEFAULT_REGION", "us-east-1")
    file = read(write(f"network: {{zone_id: {zone}}}\njobs: {{j: {{channels: {{c: {{source: s3}}}}}}}}\n"))
    if rule is None:
        build(App(), file)
        return
    with pytest.raises(SettingsError, match=rf":1: network.zone_id: {rule}"):
        build(App(), file)

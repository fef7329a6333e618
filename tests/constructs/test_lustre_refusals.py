"""What people asked of a file system, waited an hour for, and did not get; and the right neighbours."""

import re

import pytest
from aws_cdk import App, CfnParameter, Environment, Fn, Stack
from aws_cdk.assertions import Annotations, Match

from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.rules.rule import RuleViolationError
from trainfeed.sources import DataEvent, S3Link, S3Uri
from trainfeed_constructs import LustreFileSystem, TrainingNetwork


def link(path="/data", uri="s3://bucket/data", **more):
    return S3Link(uri=S3Uri.parse(uri), path=path, **more)


def persistent(number, tier, **more):
    return {"deployment_type": f"PERSISTENT_{number}", "per_unit_storage_throughput": tier, **more}


def hdd(capacity, tier, cache="NONE"):
    return persistent(1, tier, storage_type="HDD", storage_capacity_gib=capacity, drive_cache_type=cache)


def efa(capacity, tier=1000):
    automatic = {"metadata_mode": "AUTOMATIC", "efa_enabled": True}
    return persistent(2, tier, storage_capacity_gib=capacity, **automatic)


EVERYTHING = tuple(DataEvent)

CASES = [
    # capacity
    ({"storage_capacity_gib": 3600}, "Choose 2400 or 4800"),
    ({"storage_capacity_gib": 10800}, "Choose 9600 or 12000"),
    ({"storage_capacity_gib": 0}, "LUSTRE-CAPACITY"),
    ({"storage_capacity_gib": -2400}, "LUSTRE-CAPACITY"),
    ({"storage_capacity_gib": 1300}, "LUSTRE-CAPACITY"),
    ({"storage_capacity_gib": 1200.5}, "LUSTRE-CAPACITY"),
    ({"storage_capacity_gib": 1200}, None),
    ({"storage_capacity_gib": 2400}, None),
    ({"storage_capacity_gib": 4800}, None),
    ({"deployment_type": "SCRATCH_1", "storage_capacity_gib": 3600}, None),
    # throughput tiers
    (persistent(2, None), "125, 250, 500, 1000"),
    (persistent(1, 125), "50, 100, 200"),
    (persistent(2, 50), "125, 250, 500, 1000"),
    ({"per_unit_storage_throughput": 200}, "LUSTRE-THROUGHPUT-TIER"),
    (persistent(1, 50), None),
    (persistent(2, 125), None),
    # disks
    (hdd(6000, 50), "12, 40"),
    (hdd(1200, 12), "LUSTRE-CAPACITY"),
    (hdd(6000, 12, cache=None), "LUSTRE-DRIVE-CACHE"),
    (hdd(6000, 12), None),
    (hdd(1800, 40), None),
    ({"storage_type": "HDD"}, "LUSTRE-STORAGE-TYPE"),
    # import paths and links
    (persistent(2, 125, import_path="s3://bucket/data"), "data repository association"),
    ({"import_path": "s3://bucket/data", "links": (link(),)}, "LUSTRE-IMPORT-OR-LINKS"),
    ({"import_path": "s3://bucket/data", "export_path": "s3://bucket/data"}, "LUSTRE-EXPORT-OVERWRITES"),
    ({"import_path": "s3://", "storage_capacity_gib": 1200}, "LUSTRE-IMPORT-PATH"),
    ({"import_path": "s3://bucket/data"}, None),
    ({"file_system_type_version": "2.10", "links": (link(),)}, "LINK-SUPPORTED"),
    ({"deployment_type": "SCRATCH_1", "links": (link(),)}, "LINK-SUPPORTED"),
    ({"file_system_type_version": "2.12", "links": (link(),)}, None),
    ({"links": (link(),)}, None),
    # keys, adapters, Regions
    ({"kms_key_id": "arn:aws:kms:us-east-1:123456789012:key/1"}, "LUSTRE-KMS"),
    (persistent(2, 125, kms_key_id="arn:aws:kms:us-east-1:123456789012:key/1"), None),
    (efa(1200), "LUSTRE-EFA"),
    (efa(4800), None),
    ({"efa_enabled": True}, "LUSTRE-EFA"),
    ({"region": "mx-central-1"}, "PERSISTENT_2"),
    ({"region": "il-central-1"}, None),
    # one subnet
    ({"subnet_ids": ("subnet-1", "subnet-2")}, "LUSTRE-ONE-SUBNET"),
    ({"subnet_ids": ("subnet-2",)}, "given the subnet subnet-2, and its jobs run in subnet-1"),
    ({"subnet_ids": ("subnet-1",)}, None),
    # what links say
    ({"links": (link(auto_export=EVERYTHING),)}, "LINK-EXPORT-OVERWRITES"),
    ({"links": (link(auto_export=EVERYTHING, export_overwrites_source=True),)}, None),
    ({"links": (link(auto_export=EVERYTHING, import_on_create=False),)}, None),
    ({"links": (link(uri="s3://Bucket/data"),)}, "LINK-BUCKET"),
    ({"links": (link(), link(path="/data/more", uri="s3://other"))}, "LINK-PATH-OVERLAP"),
    ({"links": (link(), link(path="/data2", uri="s3://other"))}, None),
    ({"links": (link(path="/"), link(path="/more", uri="s3://other"))}, "LINK-PATH-OVERLAP"),
    ({"links": (link(path="/"),)}, None),
    ({"links": (link(), link(path="/more", uri="s3://bucket/data/more"))}, "LINK-S3-OVERLAP"),
    ({"links": (link(), link(path="/more", uri="s3://bucket/data2"))}, None),
    ({"links": (link(path="data"),)}, "LINK-PATH"),
    ({"links": tuple(link(f"/{n}", f"s3://bucket/{n}") for n in range(9))}, "LINK-COUNT"),
    ({"links": tuple(link(f"/{n}", f"s3://bucket/{n}") for n in range(8))}, None),
    ({"links": (link(imported_file_chunk_size_mib=0),)}, "LINK-CHUNK-SIZE"),
    ({"links": (link(imported_file_chunk_size_mib=512_000),)}, None),
    # data that is larger than the file system
    ({"dataset_bytes": 2 * 1200 * 2**30}, "LUSTRE-DATA-FITS"),
    ({"dataset_bytes": 500 * 2**30}, None),
]


def make(stack, configuration):
    network = TrainingNetwork.from_network_attributes(
        stack, "Network", vpc_id="vpc-1", subnet_id="subnet-1", security_group_id="sg-1", rules_welcome=True
    )
    configuration = LustreConfiguration(**{"storage_capacity_gib": 1200, **configuration})
    return LustreFileSystem(stack, "FileSystem", network=network, configuration=configuration)


@pytest.mark.parametrize(("configuration", "message"), CASES)
def test_a_file_system_that_aws_would_refuse_is_refused_at_synth(stack, configuration, message):
    if message is None:
        make(stack, configuration)
        return
    with pytest.raises(RuleViolationError, match=message):
        make(stack, configuration)


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"storage_capacity_gib": "1200"}, "storage_capacity_gib cannot be '1200'. Allowed: a number."),
        ({"storage_capacity_gib": True}, "storage_capacity_gib cannot be True. Allowed: a number."),
        (persistent(2, "125"), "per_unit_storage_throughput cannot be '125'. Allowed: a whole number."),
        ({"efa_enabled": "yes"}, "efa_enabled cannot be 'yes'. Allowed: True, False."),
        ({"subnet_ids": "subnet-1"}, "subnet_ids cannot be 'subnet-1'. Allowed: a tuple, each item a text."),
        ({"links": [link()]}, "Allowed: a tuple, each item a S3Link."),
        ({"links": ("/data",)}, "links[0] cannot be '/data'. Allowed: a S3Link."),
        ({"links": (S3Link(uri="s3://bucket/data", path="/data"),)}, "links[0].uri cannot be 's3://bucket"),  # type: ignore[arg-type]
        (
            {"links": (link(), link("/out", "s3://other", auto_import=("new",)))},
            "links[1].auto_import[0] cannot be 'new'. Allowed: NEW, CHANGED, DELETED.",
        ),
        ({"links": (link(auto_import="NEW"),)}, "links[0].auto_import cannot be 'NEW'."),
        ({"deployment_type": None}, "deployment_type cannot be None. Allowed: a text."),
        (persistent(2, 125.0, storage_capacity_gib=1200.0), None),
        ({"links": (link(auto_import=("NEW",)),)}, None),
        ({"subnet_ids": Fn.split(",", Fn.import_value("Subnets"))}, None),
    ],
)
def test_a_value_of_another_type_is_refused_in_words(stack, configuration, message):
    if message is None:
        make(stack, configuration)
        return
    with pytest.raises(ValueError, match=re.escape(message)):
        make(stack, configuration)


def test_all_errors_are_told_at_once(stack):
    wrong = {
        "storage_capacity_gib": 3600,
        "per_unit_storage_throughput": 200,
        "kms_key_id": "key",
        "links": (link("x"),),
    }
    with pytest.raises(RuleViolationError) as caught:
        make(stack, wrong)

    told = {finding.rule.id for finding in caught.value.findings}
    assert {"LUSTRE-CAPACITY", "LUSTRE-THROUGHPUT-TIER", "LUSTRE-KMS", "LINK-PATH"} <= told


def test_what_is_only_known_at_deployment_is_never_judged(stack, only):
    capacity = CfnParameter(stack, "Capacity", type="Number", default=3600)
    tier = CfnParameter(stack, "Tier", type="Number", default=7)
    bucket = CfnParameter(stack, "Bucket", default="NOT-A-BUCKET")
    make(
        stack,
        {
            "storage_capacity_gib": capacity.value_as_number,
            "deployment_type": "PERSISTENT_2",
            "per_unit_storage_throughput": tier.value_as_number,
            "links": (S3Link(uri=S3Uri(bucket.value_as_string, "data"), path="/data"),),
        },
    )

    assert only("AWS::FSx::FileSystem")[1]["Properties"]["StorageCapacity"] == {"Ref": "Capacity"}


def test_an_export_path_that_never_exports_by_itself_is_told_at_synth(stack):
    make(stack, {"import_path": "s3://bucket/data", "export_path": "s3://bucket/out"})

    warning = Match.string_like_regexp("LUSTRE-EXPORT-BY-ITSELF")
    Annotations.from_stack(stack).has_warning("/Stack/FileSystem", warning)


def test_the_subnet_of_a_new_network_is_the_only_one_for_its_file_systems(stack):
    network = TrainingNetwork(stack, "Network")

    def make_in(id_, subnet_id):
        configuration = LustreConfiguration(storage_capacity_gib=1200, subnet_ids=(subnet_id,))
        LustreFileSystem(stack, id_, network=network, configuration=configuration, name=id_.lower())

    make_in("Same", network.subnet_id)
    with pytest.raises(RuleViolationError, match="LUSTRE-JOBS-SUBNET"):
        make_in("Other", "subnet-other")


NAMES = [
    ("fsx-lustre", None),
    ("a", None),
    ("a" * 56, None),
    ("My FS!", "LUSTRE-NAME"),
    ("a" * 57, "LUSTRE-NAME"),
    ("a_b", "LUSTRE-NAME"),
    ("", "LUSTRE-NAME"),
]


@pytest.mark.parametrize(("name", "message"), NAMES)
def test_a_name_fits_the_parameter_and_the_states_that_are_named_by_it(stack, name, message):
    network = TrainingNetwork(stack, "Network")
    if message is None:
        LustreFileSystem(stack, "FileSystem", network=network, name=name)
        return
    with pytest.raises(RuleViolationError, match=message):
        LustreFileSystem(stack, "FileSystem", network=network, name=name)


def in_stacks(one, other, names):
    """File systems of some names in two stacks of one app, each with an account and a Region."""
    app = App(analytics_reporting=False)
    for id_, (account, region), name in zip(("One", "Other"), (one, other), names, strict=True):
        stack = Stack(app, id_, env=Environment(account=account, region=region))
        LustreFileSystem(stack, "FileSystem", network=TrainingNetwork(stack, "Network"), name=name)


HERE = ("111111111111", "us-east-1")


@pytest.mark.parametrize(
    ("other", "names", "refused"),
    [
        (HERE, ("same", "same"), True),
        (HERE, ("one", "other"), False),
        (("111111111111", "eu-west-1"), ("same", "same"), False),
        (("222222222222", "us-east-1"), ("same", "same"), False),
        ((None, "us-east-1"), ("same", "same"), False),  # the account is only known at deployment
    ],
)
def test_a_name_is_there_once_in_an_account_and_region(other, names, refused):
    if not refused:
        in_stacks(HERE, other, names)
        return
    with pytest.raises(RuleViolationError, match="this one and One/FileSystem"):
        in_stacks(HERE, other, names)


def test_a_name_is_there_once_in_a_stack_wherever_it_is_deployed(make_stack):
    stack = make_stack(None)
    network = TrainingNetwork(stack, "Network")
    LustreFileSystem(stack, "One", network=network)
    with pytest.raises(RuleViolationError, match="this one and Stack/One"):
        LustreFileSystem(stack, "Other", network=network)

"""What `trainfeed check` finds in an account, with what it must leave alone."""

import json
from dataclasses import replace
from typing import Any

import pytest

from trainfeed.rules.job_request import JobRequest, RequestedChannel
from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.rules.rule import UNRESOLVED
from trainfeed.run import network_facts
from trainfeed.run.preflight import ExistingNetwork, FileSystemPlan, Plan, examine
from trainfeed.sources import S3Link, S3Source, S3Uri


def ids(aws: Any, plan: Plan) -> set[str]:
    """The rules that a plan breaks, apart from the bootstrap's, which no bare account has."""
    return {finding.rule.id for finding in examine(aws.client, plan)} - {"ACCOUNT-BOOTSTRAP"}


def network(
    aws: Any, *, endpoint: bool = True, own_table: bool = True, ports: str = "lustre"
) -> tuple[ExistingNetwork, str]:
    """A network as a company might have it, and the group of the file system in it."""
    ec2 = aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    table = tables[0]["RouteTableId"]
    if own_table:
        table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    if endpoint:
        service = "com.amazonaws.us-east-1.s3"
        ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=service, RouteTableIds=[table])
    job, lustre = (
        ec2.create_security_group(VpcId=vpc, GroupName=name, Description=name)["GroupId"]
        for name in ("job", "lustre")
    )
    for group, peer in ((lustre, lustre), (lustre, job), (job, lustre)):
        for low, high in {"lustre": [(988, 988), (1018, 1023)], "988": [(988, 988)]}[ports]:
            rule = {
                "IpProtocol": "tcp",
                "FromPort": low,
                "ToPort": high,
                "UserIdGroupPairs": [{"GroupId": peer}],
            }
            ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    return ExistingNetwork(vpc_id=vpc, subnet_id=subnet, security_group_id=job), lustre


def file_system(group: str | None = None, *links: S3Link, capacity: int = 1200) -> FileSystemPlan:
    configuration = LustreConfiguration(storage_capacity_gib=capacity, links=links)
    return FileSystemPlan(configuration=configuration, security_group_id=group)


def job(*, instances: int = 1) -> JobRequest:
    return JobRequest(output="s3://outputs/models", instance_count=instances)


def bucket(aws: Any, *keys: str, name: str = "datasets", **put: Any) -> S3Uri:
    s3 = aws.client("s3")
    s3.create_bucket(Bucket=name)
    for key in keys:
        s3.put_object(Bucket=name, Key=key, Body=b"x", **put)
    return S3Uri(name, "data")


def test_a_new_network_needs_nothing(aws: Any) -> None:
    assert ids(aws, Plan()) == set()


@pytest.mark.parametrize(
    ("zone", "found"),
    [
        ("use1-az1", set()),
        ("use1-az77", {"ACCOUNT-ZONE"}),
        ("us-east-1a", {"NETWORK-ZONE-ID"}),
        ("euw1-az1", {"NETWORK-ZONE-REGION"}),
    ],
)
def test_the_zone(aws: Any, zone: str, found: set[str]) -> None:
    assert ids(aws, Plan(zone_id=zone)) == found


@pytest.mark.parametrize(
    ("given", "instances", "found"),
    [
        ({}, 1, set()),
        ({"own_table": False}, 1, set()),
        ({"endpoint": False}, 1, {"NETWORK-S3-ROUTE"}),
        ({"ports": "988"}, 1, {"NETWORK-LUSTRE-SERVERS", "NETWORK-LUSTRE-CLIENTS"}),
        ({}, 125, {"NETWORK-INSTANCES"}),
        ({}, 126, {"NETWORK-INSTANCES", "NETWORK-ADDRESSES"}),
    ],
)
def test_an_existing_network(aws: Any, given: dict[str, Any], instances: int, found: set[str]) -> None:
    existing, group = network(aws, **given)
    plan = Plan(network=existing, file_systems=(file_system(group),), jobs=(job(instances=instances),))
    assert ids(aws, plan) == found


def test_an_existing_group_of_jobs_that_is_shut(aws: Any) -> None:
    existing, group = network(aws)
    plan = Plan(network=existing, file_systems=(file_system(), file_system(), file_system(group)))
    ec2, anywhere = aws.client("ec2"), [{"CidrIp": "0.0.0.0/0"}]
    assert ids(aws, plan) == {"NETWORK-NEW-GROUP"}
    lustre = [
        {"IpProtocol": "tcp", "FromPort": low, "ToPort": high, "IpRanges": [{"CidrIp": "10.0.0.0/24"}]}
        for low, high in ((988, 988), (1018, 1023))
    ]
    ec2.authorize_security_group_ingress(GroupId=existing.security_group_id, IpPermissions=lustre)
    assert ids(aws, plan) == set()
    everything = [{"IpProtocol": "-1", "IpRanges": anywhere}]
    ec2.revoke_security_group_egress(GroupId=existing.security_group_id, IpPermissions=everything)
    ec2.authorize_security_group_egress(GroupId=existing.security_group_id, IpPermissions=lustre)
    assert ids(aws, plan) == {"NETWORK-S3-PORT"}
    https = [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": anywhere}]
    ec2.authorize_security_group_egress(GroupId=existing.security_group_id, IpPermissions=https)
    assert ids(aws, plan) == set()


def test_existing_groups_of_a_file_system_with_efa(aws: Any) -> None:
    existing, group = network(aws)
    fast = FileSystemPlan(
        configuration=LustreConfiguration(
            storage_capacity_gib=4800,
            deployment_type="PERSISTENT_2",
            per_unit_storage_throughput=1000,
            metadata_mode="AUTOMATIC",
            efa_enabled=True,
        ),
        security_group_id=group,
    )
    plan = Plan(network=existing, file_systems=(fast,))
    assert ids(aws, plan) == {"NETWORK-LUSTRE-EFA"}
    ec2, job = aws.client("ec2"), existing.security_group_id
    for own, peer in ((group, group), (group, job), (job, group)):
        everything = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": peer}]}]
        ec2.authorize_security_group_ingress(GroupId=own, IpPermissions=everything)
        ec2.authorize_security_group_egress(GroupId=own, IpPermissions=everything)
    assert ids(aws, plan) == set()


def test_prefix_lists_stand_for_their_addresses(aws: Any) -> None:
    blocks = ["10.0.0.0/25", "10.0.0.128/25"]
    made = aws.client("ec2").create_managed_prefix_list(
        PrefixListName="halves", MaxEntries=2, AddressFamily="IPv4", Entries=[{"Cidr": one} for one in blocks]
    )["PrefixList"]["PrefixListId"]

    def peers(list_id: str) -> list[str]:
        rule = {
            "IpProtocol": "tcp",
            "FromPort": 988,
            "ToPort": 988,
            "PrefixListIds": [{"PrefixListId": list_id}],
        }
        described = {"GroupId": "sg-1", "IpPermissions": [rule]}
        return [one.peer for one in network_facts.group_rules(aws.client, described).ingress]

    assert peers(made) == blocks
    assert peers("pl-0123456789abcdef0") == [UNRESOLVED]


def test_the_group_of_a_file_system_is_looked_at(aws: Any) -> None:
    existing, _ = network(aws)
    _, elsewhere = network(aws)
    for group, found in {"sg-0123456789abcdef0": "ACCOUNT-NETWORK", elsewhere: "ACCOUNT-ONE-VPC"}.items():
        assert found in ids(aws, Plan(network=existing, file_systems=(file_system(group),)))


def test_a_network_that_is_not_there(aws: Any) -> None:
    existing, _ = network(aws)
    other, _ = network(aws)
    gone = replace(existing, security_group_id="sg-0123456789abcdef0")
    assert ids(aws, Plan(network=gone)) == {"ACCOUNT-NETWORK"}
    mixed = replace(existing, security_group_id=other.security_group_id)
    assert ids(aws, Plan(network=mixed)) == {"ACCOUNT-ONE-VPC"}


@pytest.mark.parametrize(
    ("keys", "put", "found"),
    [
        (["data/a.png", "data/deep/b.png"], {}, set()),
        (["data/"], {}, set()),
        ([], {}, {"DATA-LINK-EMPTY"}),
        (["database/a.png"], {}, {"DATA-LINK-EMPTY"}),
        (["data//a.png"], {}, {"DATA-LINK-KEYS"}),
        (["data/a.png"], {"StorageClass": "DEEP_ARCHIVE"}, {"DATA-LINK-ARCHIVED"}),
        (["data/a.png"], {"StorageClass": "GLACIER_IR"}, set()),
    ],
)
def test_the_data_behind_a_link(aws: Any, keys: list[str], put: dict[str, str], found: set[str]) -> None:
    link = S3Link(uri=bucket(aws, *keys, **put), path="/data")
    assert ids(aws, Plan(file_systems=(file_system(None, link),))) == found


def test_data_larger_than_the_file_system(aws: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainfeed.run.preflight.dataset_facts.observe", lambda *_: _facts(1_300 * 2**30))
    link = S3Link(uri=S3Uri("datasets", "data"), path="/data")
    assert ids(aws, Plan(file_systems=(file_system(None, link, capacity=2400),))) == set()
    small = Plan(file_systems=(file_system(None, link, capacity=1200),))
    (finding,) = [one for one in examine(aws.client, small) if one.rule.id != "ACCOUNT-BOOTSTRAP"]
    assert "The data is 1300 GiB and the file system 1200 GiB. Take 2400 GiB" in finding.message


@pytest.mark.parametrize(
    ("mode", "gib", "found"),
    [("File", 30, set()), ("File", 31, {"JOB-VOLUME-FITS"}), ("FastFile", 31, set())],
)
def test_data_larger_than_the_volume(
    aws: Any, monkeypatch: pytest.MonkeyPatch, mode: str, gib: int, found: set[str]
) -> None:
    monkeypatch.setattr("trainfeed.run.preflight.dataset_facts.observe", lambda *_: _facts(gib * 2**30))
    channel = RequestedChannel(name="train", input_mode=mode, s3_uri="s3://datasets/data/")
    reading = replace(job(), channels=(channel,))
    plan = Plan(jobs=(reading,), s3_sources=(S3Source(uri=S3Uri("datasets", "data")),))
    assert ids(aws, plan) == found


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"storage_capacity_gib": 2400}, set()),
        ({"storage_capacity_gib": 4800}, set()),
        ({"storage_capacity_gib": 1200}, {"LUSTRE-GROWTH"}),
        # of another kind it is replaced
        (
            {
                "storage_capacity_gib": 1200,
                "deployment_type": "PERSISTENT_1",
                "per_unit_storage_throughput": 50,
            },
            set(),
        ),
    ],
)
def test_the_growth_of_a_file_system_that_is_deployed(
    aws: Any, asked: dict[str, Any], found: set[str]
) -> None:
    existing, group = network(aws)
    made = aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=2400,
        SubnetIds=[existing.subnet_id],
        SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]
    facts = json.dumps({"FileSystemId": made})
    aws.client("ssm").put_parameter(Name="/trainfeed/sources/ours", Value=facts, Type="String")
    for source, expected in {"ours": found, "another": set()}.items():
        plan = FileSystemPlan(configuration=LustreConfiguration(**asked), source=source)
        assert ids(aws, Plan(file_systems=(plan,))) == expected


def _facts(size: int) -> Any:
    from trainfeed.rules.data import DatasetFacts

    return DatasetFacts(objects=1, bytes=size, region="us-east-1")


def test_a_bucket_that_is_not_there(aws: Any) -> None:
    bucket(aws, "data/a.png")
    assert ids(aws, Plan(buckets=("datasets",))) == set()
    gone = S3Source(uri=S3Uri("no-such-bucket", "data"))
    findings = examine(aws.client, Plan(buckets=("no-such-bucket",), s3_sources=(gone,)))
    told = [str(finding) for finding in findings if "no-such-bucket" in finding.message]
    assert told == [
        "ACCOUNT-BUCKET (error): There is no bucket named no-such-bucket. Correct the name, or create it."
    ]


def test_buckets_that_have_to_be_in_the_region(aws: Any) -> None:
    bucket(aws, "data/a.png")
    far = {"LocationConstraint": "eu-west-1"}
    aws.client("s3").create_bucket(Bucket="far-away", CreateBucketConfiguration=far)
    assert ids(aws, Plan(buckets=("far-away",), buckets_here=("datasets",))) == set()
    (_, finding) = examine(aws.client, Plan(buckets_here=("far-away",)))  # the first is the bootstrap's
    assert finding.rule.id == "ACCOUNT-BUCKET-REGION"
    assert "The bucket far-away is in eu-west-1." in finding.message
    assert "Name one in us-east-1, or deploy to eu-west-1." in finding.message


def bootstrap(aws: Any, *statements: dict[str, Any]) -> str:
    """As much of a bootstrap as a check asks for; the execution role has these statements."""
    aws.client("ssm").put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String")
    iam, role = aws.client("iam"), "cdk-hnb659fds-cfn-exec-role-123456789012-us-east-1"
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": "cloudformation.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    iam.create_role(RoleName=role, AssumeRolePolicyDocument=_policy(trust))
    for number, statement in enumerate(statements):
        iam.put_role_policy(RoleName=role, PolicyName=f"p{number}", PolicyDocument=_policy(statement))
    return role


def _policy(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


ALL = {"Effect": "Allow", "Action": "*", "Resource": "*"}


@pytest.mark.parametrize(
    ("statements", "missing"),
    [
        ([ALL], None),
        (
            [ALL, {"Effect": "Deny", "Action": "iam:AttachRolePolicy", "Resource": "*"}],
            "may not call iam:AttachRolePolicy. Have",
        ),
        (
            [
                {
                    "Effect": "Allow",
                    "NotAction": ["iam:CreateServiceLinkedRole", "fsx:TagResource"],
                    "Resource": "*",
                }
            ],
            "may not call fsx:TagResource, iam:CreateServiceLinkedRole. Have",
        ),
    ],
)
def test_the_rights_of_the_execution_role(aws: Any, statements: list[Any], missing: str | None) -> None:
    bootstrap(aws, *statements)
    findings = examine(aws.client, Plan())
    assert [finding.rule.id for finding in findings] == (["ACCOUNT-RIGHTS"] if missing else [])
    if missing:
        assert "cfn-exec-role" in findings[0].message
        assert missing in findings[0].message


@pytest.mark.parametrize(("version", "found"), [("5", True), ("6", False), (None, True)])
def test_the_bootstrap(aws: Any, version: str | None, found: bool) -> None:
    if version:
        bootstrap(aws, ALL)
        aws.client("ssm").put_parameter(
            Name="/cdk-bootstrap/hnb659fds/version", Value=version, Type="String", Overwrite=True
        )
    assert (["ACCOUNT-BOOTSTRAP"] if found else []) == [one.rule.id for one in examine(aws.client, Plan())]

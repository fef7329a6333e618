import json

import pytest
from aws_cdk import CfnParameter, RemovalPolicy, aws_ec2, aws_iam
from aws_cdk.assertions import Annotations, Match

from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.rules.network import LUSTRE_PATH_RULES, LUSTRE_PORTS, LustrePaths
from trainfeed.rules.rule import check
from trainfeed.rules.security_groups import Permission, SecurityGroup
from trainfeed.sources import DataEvent, S3Link, S3Uri
from trainfeed_constructs import LustreFileSystem, TrainingNetwork

FILE_SYSTEM = "AWS::FSx::FileSystem"
LINK = "AWS::FSx::DataRepositoryAssociation"
INGRESS, EGRESS = "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"
DATA = S3Link(uri=S3Uri("bucket", "data"), path="/data")
EFA = {
    "deployment_type": "PERSISTENT_2",
    "per_unit_storage_throughput": 1000,
    "storage_capacity_gib": 4800,
    "metadata_mode": "AUTOMATIC",
    "efa_enabled": True,
}
OUT = S3Link(
    uri=S3Uri("bucket", "out"),
    path="/out",
    import_on_create=False,
    auto_export=(DataEvent.NEW, DataEvent.CHANGED),
)


@pytest.fixture
def network(stack):
    return TrainingNetwork.from_network_attributes(
        stack,
        "Network",
        vpc_id="vpc-1",
        subnet_id="subnet-1",
        security_group_id="sg-jobs",
        rules_welcome=True,
    )


@pytest.fixture
def make(stack, network):
    def make(*links, removal_policy=None, **configuration):
        configuration = {"storage_capacity_gib": 1200, **configuration}
        return LustreFileSystem(
            stack,
            "FileSystem",
            network=network,
            configuration=LustreConfiguration(links=links, **configuration),
            removal_policy=removal_policy,
        )

    return make


def as_text(reference):
    """A group by a short name, whether it is an id or a reference."""
    return reference if isinstance(reference, str) else "sg-servers"


def opened(found):
    """Every Lustre rule of the template: direction, group, peer, first and last port."""
    for type_, peer in ((INGRESS, "SourceSecurityGroupId"), (EGRESS, "DestinationSecurityGroupId")):
        for body in found(type_).values():
            rule = body["Properties"]
            assert rule["IpProtocol"] == "tcp"
            yield type_, as_text(rule["GroupId"]), as_text(rule[peer]), rule["FromPort"], rule["ToPort"]


def test_a_minimal_file_system_is_scratch_2_of_1200_gib_on_lustre_2_15(stack, network, only):
    LustreFileSystem(stack, "FileSystem", network=network)

    properties = only(FILE_SYSTEM)[1]["Properties"]
    assert properties["FileSystemType"] == "LUSTRE"
    assert properties["StorageCapacity"] == 1200
    assert properties["FileSystemTypeVersion"] == "2.15"
    assert properties["LustreConfiguration"] == {"DeploymentType": "SCRATCH_2", "DataCompressionType": "LZ4"}
    assert {"Key": "Name", "Value": "Stack/FileSystem"} in properties["Tags"]


@pytest.mark.parametrize(
    "configuration",
    [
        {},
        {"deployment_type": "PERSISTENT_1", "per_unit_storage_throughput": 100},
        {"deployment_type": "PERSISTENT_2", "per_unit_storage_throughput": 125},
        {"deployment_type": "SCRATCH_1"},
    ],
)
def test_the_lustre_version_is_always_set(make, only, configuration):
    make(**configuration, file_system_type_version=None)

    assert only(FILE_SYSTEM)[1]["Properties"]["FileSystemTypeVersion"] == "2.15"


def test_988_and_1018_to_1023_are_open_both_ways_between_servers_and_jobs_and_nothing_else(make, found):
    make()

    pairs = [("sg-servers", "sg-servers"), ("sg-servers", "sg-jobs"), ("sg-jobs", "sg-servers")]
    ports = [(988, 988), (1018, 1023)]
    wanted = {
        (way, group, peer, *port) for way in (INGRESS, EGRESS) for group, peer in pairs for port in ports
    }
    assert set(opened(found)) == wanted
    assert {port for first, last in ports for port in range(first, last + 1)} == LUSTRE_PORTS


def test_the_rules_pass_the_check_by_which_fsx_judges_security_groups(make, found):
    make()

    def group(name):
        ways = {
            way: tuple(
                Permission(protocol="tcp", peer=peer, from_port=first, to_port=last)
                for type_, owner, peer, first, last in opened(found)
                if (type_, owner) == (way, name)
            )
            for way in (INGRESS, EGRESS)
        }
        return SecurityGroup(id=name, ingress=ways[INGRESS], egress=ways[EGRESS])

    paths = LustrePaths(file_system=(group("sg-servers"),), clients=(group("sg-jobs"),), cidr="10.42.0.0/20")
    assert check(LUSTRE_PATH_RULES, paths) == ()


def test_with_efa_all_traffic_is_open_both_ways_by_group_and_the_file_system_made_after(make, found, only):
    make(**EFA)

    wanted = {("sg-servers", "sg-servers"), ("sg-servers", "sg-jobs"), ("sg-jobs", "sg-servers")}
    for way, peer in ((INGRESS, "SourceSecurityGroupId"), (EGRESS, "DestinationSecurityGroupId")):
        rules = [body["Properties"] for body in found(way).values()]
        assert {rule["IpProtocol"] for rule in rules} == {"-1"}
        assert not any("FromPort" in rule or "CidrIp" in rule for rule in rules)
        assert {(as_text(rule["GroupId"]), as_text(rule[peer])) for rule in rules} == wanted
        assert len(rules) == len(wanted)
    assert {*found(INGRESS), *found(EGRESS)} <= set(only(FILE_SYSTEM)[1]["DependsOn"])
    assert only(FILE_SYSTEM)[1]["Properties"]["LustreConfiguration"]["EfaEnabled"] is True


def test_the_servers_group_lets_nothing_else_out(make, only):
    make()

    (rule,) = only("AWS::EC2::SecurityGroup")[1]["Properties"]["SecurityGroupEgress"]
    assert rule["CidrIp"] == "127.0.0.1/32"


def test_the_file_system_is_made_after_each_of_its_rules(make, found, only):
    make()

    assert {*found(INGRESS), *found(EGRESS)} <= set(only(FILE_SYSTEM)[1]["DependsOn"])


def test_the_file_system_is_in_the_jobs_subnet(make, only):
    file_system = make(DATA)

    _, body = only(FILE_SYSTEM)
    assert body["Properties"]["SubnetIds"] == ["subnet-1"]
    assert facts(only)["SubnetId"] == "subnet-1"
    assert file_system.mount_name


def test_one_link_is_made_after_another_and_the_facts_after_all(make, found, only):
    make(DATA, OUT, S3Link(uri=S3Uri("bucket", "more"), path="/more"))

    file_system, _ = only(FILE_SYSTEM)
    links = found(LINK)
    assert all(body["Properties"]["FileSystemId"] == {"Ref": file_system} for body in links.values())
    by_path = {body["Properties"]["FileSystemPath"]: id_ for id_, body in links.items()}
    assert links[by_path["/out"]]["DependsOn"] == [by_path["/data"]]
    assert links[by_path["/more"]]["DependsOn"] == [by_path["/out"]]
    assert only("AWS::SSM::Parameter")[1]["DependsOn"] == [by_path["/more"]]


def test_a_link_renders_everything_it_says(make, found):
    make(DATA, OUT)

    said = {body["Properties"]["FileSystemPath"]: body["Properties"] for body in found(LINK).values()}
    assert said["/data"]["DataRepositoryPath"] == "s3://bucket/data/"
    assert said["/data"]["BatchImportMetaDataOnCreate"] is True
    assert "S3" not in said["/data"]  # nothing happens by itself unless asked for
    assert said["/out"]["BatchImportMetaDataOnCreate"] is False
    assert said["/out"]["S3"] == {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert said["/data"]["ImportedFileChunkSize"] == 1024


def test_each_path_has_an_id_of_its_own_and_that_of_a_plain_folder_never_changes(stack, make, found):
    plain = ("/data", "/out")
    others = ("/a/b", "/a-b", "/a%2Db", "/a/-b", "/a-/b", CfnParameter(stack, "Path").value_as_string)
    paths = (*plain, *others)
    file_system = make(*(S3Link(uri=S3Uri("bucket", str(n)), path=path) for n, path in enumerate(paths)))

    ids = {child.node.id for child in file_system.node.children}
    assert {"Link-data", "Link-out"} <= ids
    said = [body["Properties"]["FileSystemPath"] for body in found(LINK).values()]
    assert len(said) == len(paths)
    assert {"Ref": "Path"} in said


def test_auto_import_is_there_when_asked_for(make, found):
    make(S3Link(uri=S3Uri("bucket", "data"), path="/data", auto_import=tuple(DataEvent)))

    (link,) = found(LINK).values()
    assert link["Properties"]["S3"] == {"AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}}


def facts(only):
    value = only("AWS::SSM::Parameter")[1]["Properties"]["Value"]
    parts = value["Fn::Join"][1] if isinstance(value, dict) else [value]
    return json.loads("".join(part if isinstance(part, str) else next(iter(part)) for part in parts))


def test_the_facts_tell_a_job_all_it_must_know(make, only):
    make(DATA, OUT)

    _, parameter = only("AWS::SSM::Parameter")
    assert parameter["Properties"]["Name"] == "/trainfeed/sources/fsx-lustre"
    assert facts(only) == {
        "FileSystemId": "Ref",
        "MountName": "Fn::GetAtt",
        "SubnetId": "subnet-1",
        "SecurityGroupIds": ["sg-jobs"],
        "ImportedPaths": ["/data"],
    }


PERSISTENT = {"deployment_type": "PERSISTENT_2", "per_unit_storage_throughput": 125}


@pytest.mark.parametrize(
    ("configuration", "asked", "policy"),
    [
        ({}, None, "Delete"),
        ({"deployment_type": "SCRATCH_1"}, None, "Delete"),
        ({}, RemovalPolicy.RETAIN, "Retain"),
        (PERSISTENT, None, "Retain"),
        (PERSISTENT, RemovalPolicy.DESTROY, "Delete"),
    ],
)
def test_scratch_goes_with_its_stack_and_persistent_stays(make, only, configuration, asked, policy):
    make(**configuration, removal_policy=asked)

    _, body = only(FILE_SYSTEM)
    assert body["DeletionPolicy"] == body["UpdateReplacePolicy"] == policy


def test_what_stays_keeps_its_rules_and_links_but_not_its_facts(make, found):
    make(DATA, **PERSISTENT)

    kept = {body["Type"] for body in found().values() if body.get("DeletionPolicy") == "Retain"}
    assert kept == {FILE_SYSTEM, LINK, INGRESS, EGRESS, "AWS::EC2::SecurityGroup"}


def test_no_rule_is_added_where_the_file_systems_group_was_there_before(stack, network, found, only):
    LustreFileSystem(stack, "FileSystem", network=network, security_group_id="sg-mine")

    assert only(FILE_SYSTEM)[1]["Properties"]["SecurityGroupIds"] == ["sg-mine"]
    assert {body["Type"] for body in found().values()} == {FILE_SYSTEM, "AWS::SSM::Parameter"}


@pytest.mark.parametrize("rules_welcome", [True, False])
@pytest.mark.parametrize(("configuration", "traffic"), [({}, "TCP 988 and 1018-1023"), (EFA, "all traffic")])
def test_one_note_says_that_no_rule_is_added_where_groups_were_there_before(
    stack, rules_welcome, configuration, traffic
):
    network = TrainingNetwork.from_network_attributes(
        stack,
        "Network",
        vpc_id="vpc-1",
        subnet_id="subnet-1",
        security_group_id="sg-jobs",
        rules_welcome=rules_welcome,
    )
    LustreFileSystem(
        stack,
        "FileSystem",
        network=network,
        security_group_id="sg-mine",
        configuration=LustreConfiguration(**{"storage_capacity_gib": 1200, **configuration}),
    )

    (note,) = Annotations.from_stack(stack).find_info("*", Match.any_value())
    assert "No rule is added for the existing security group sg-mine" in note.entry.data
    assert f"{traffic} through within itself and to and from the jobs' group sg-jobs" in note.entry.data


def test_the_note_on_an_existing_group_of_jobs_asks_for_what_efa_needs(stack):
    network = TrainingNetwork.from_network_attributes(
        stack, "Network", vpc_id="vpc-1", subnet_id="subnet-1", security_group_id="sg-jobs"
    )
    LustreFileSystem(stack, "FileSystem", network=network, configuration=LustreConfiguration(**EFA))

    note = Match.string_like_regexp("sg-jobs. It must let all traffic through")
    Annotations.from_stack(stack).has_info("/Stack/FileSystem", note)


def test_no_rule_is_added_to_an_existing_group_of_jobs_and_a_note_says_so(stack, found):
    network = TrainingNetwork.from_network_attributes(
        stack, "Network", vpc_id="vpc-1", subnet_id="subnet-1", security_group_id="sg-jobs"
    )
    LustreFileSystem(stack, "FileSystem", network=network)

    assert {group for _, group, *_ in opened(found)} == {"sg-servers"}
    assert {peer for _, _, peer, *_ in opened(found)} == {"sg-servers", "sg-jobs"}
    note = Match.string_like_regexp("No rule is added to the existing security group sg-jobs")
    Annotations.from_stack(stack).has_info("/Stack/FileSystem", note)


def test_an_existing_file_system_can_be_connected_to_and_granted(stack, found, only):
    file_system = LustreFileSystem.from_lustre_file_system_attributes(
        stack, "FileSystem", file_system_id="fs-1", mount_name="abcdefgh", security_group_id="sg-mine"
    )
    role = aws_iam.Role(stack, "Role", assumed_by=aws_iam.ServicePrincipal("states.amazonaws.com"))
    file_system.grant_describe(role)
    file_system.grant_tasks(role)
    file_system.connections.allow_default_port_from(aws_ec2.Peer.ipv4("10.0.0.0/8"))

    describing, tasks = only("AWS::IAM::Policy")[1]["Properties"]["PolicyDocument"]["Statement"]
    assert describing["Action"] == [
        "fsx:DescribeDataRepositoryAssociations",
        "fsx:DescribeDataRepositoryTasks",
        "fsx:DescribeFileSystems",
    ]
    assert "fsx:CreateDataRepositoryTask" in tasks["Action"]
    assert json.dumps(tasks["Resource"]).count("file-system/fs-1") == 1
    assert found(INGRESS) == {}


def test_clients_elsewhere_can_be_let_in(make, found):
    make().connections.allow_default_port_from(aws_ec2.Peer.ipv4("10.0.0.0/8"))

    added = [body["Properties"] for body in found(INGRESS).values() if "CidrIp" in body["Properties"]]
    assert [(rule["CidrIp"], rule["FromPort"], rule["ToPort"]) for rule in added] == [
        ("10.0.0.0/8", 988, 988)
    ]

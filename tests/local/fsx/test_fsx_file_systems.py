import pytest

P1 = {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 50}
P2 = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
HDD = {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 12, "DriveCacheType": "NONE"}


@pytest.mark.parametrize(
    ("lustre", "changes", "version", "mount_name"),
    [
        ({}, {}, "2.15", None),
        ({}, {"FileSystemTypeVersion": None}, "2.10", None),
        ({"DeploymentType": "SCRATCH_1"}, {"FileSystemTypeVersion": None}, "2.10", "fsx"),
        (P2, {"FileSystemTypeVersion": None}, "2.12", None),
        (
            {**P2, "MetadataConfiguration": {"Mode": "AUTOMATIC"}},
            {"FileSystemTypeVersion": None},
            "2.15",
            None,
        ),
        (P1, {"KmsKeyId": "alias/mine"}, "2.15", None),
        (HDD, {"StorageType": "HDD", "StorageCapacity": 6000}, "2.15", None),
        ({}, {"StorageCapacity": 4800}, "2.15", None),
    ],
)
def test_a_file_system_that_aws_makes(lab, lustre, changes, version, mount_name):
    file_system_id = lab.create(lustre, **changes)
    assert lab.about(file_system_id)["Lifecycle"] in ("CREATING", "AVAILABLE")
    lab.until(lambda: lab.about(file_system_id)["Lifecycle"] == "AVAILABLE")
    about = lab.about(file_system_id)
    assert about["FileSystemTypeVersion"] == version
    assert about["SubnetIds"] == [lab.subnet]
    assert about["VpcId"] == lab.vpc
    assert about["DNSName"] == f"{file_system_id}.fsx.us-east-1.amazonaws.com"
    assert about["ResourceARN"] == f"arn:aws:fsx:us-east-1:123456789012:file-system/{file_system_id}"
    shown = about["LustreConfiguration"]
    assert shown["DataCompressionType"] == "NONE"
    if mount_name is None:
        assert len(shown["MountName"]) == 8
        assert shown["MountName"] == shown["MountName"].lower()
    else:
        assert shown["MountName"] == mount_name


@pytest.mark.parametrize(
    ("lustre", "changes", "code", "says"),
    [
        ({}, {"StorageCapacity": 3600}, "BadRequest", "2400 or 4800"),
        ({}, {"StorageCapacity": 0}, "BadRequest", "1200"),
        ({}, {"StorageCapacity": 1300}, "BadRequest", "1200"),
        ({}, {"StorageCapacity": None}, "BadRequest", "needs a storage capacity"),
        ({"DeploymentType": "SCRATCH_1"}, {"StorageCapacity": 4800}, "BadRequest", "3600"),
        (HDD, {"StorageType": "HDD", "StorageCapacity": 1200}, "BadRequest", "6000"),
        ({"DeploymentType": "PERSISTENT_2"}, {}, "InvalidPerUnitStorageThroughput", "125"),
        ({**P2, "PerUnitStorageThroughput": 50}, {}, "InvalidPerUnitStorageThroughput", "125"),
        ({**P1, "PerUnitStorageThroughput": 125}, {}, "InvalidPerUnitStorageThroughput", "50"),
        ({"PerUnitStorageThroughput": 125}, {}, "InvalidPerUnitStorageThroughput", "Leave the tier out"),
        ({}, {"KmsKeyId": "alias/mine"}, "BadRequest", "SCRATCH_2"),
        ({**P2, "ImportPath": "s3://data"}, {}, "BadRequest", "association"),
        ({"ImportPath": "s3://missing"}, {}, "InvalidImportPath", "does not exist"),
        (P2, {"FileSystemTypeVersion": "2.10"}, "BadRequest", "2.15"),
        ({"DeploymentType": "SCRATCH_9"}, {}, "ValidationException", "SCRATCH_2"),
        ({}, {"FileSystemType": "ONTAP", "StorageCapacity": 1024}, "BadRequest", "LUSTRE"),
        ({}, {"SubnetIds": ["subnet-0123456789abcdef0"]}, "InvalidNetworkSettings", "does not exist"),
        ({}, {"SecurityGroupIds": ["sg-0123456789abcdef0"]}, "InvalidNetworkSettings", "does not exist"),
    ],
)
def test_a_file_system_that_aws_refuses(lab, lustre, changes, code, says):
    refused = lab.refusal(lab.fsx.create_file_system, **lab.request(lustre, **changes))
    assert refused[0] == code
    assert says in refused[1]
    assert lab.fsx.describe_file_systems()["FileSystems"] == []


def test_two_subnets_are_refused(lab):
    other = lab.subnet_in("us-east-1b", "10.0.1.0/24")
    code, says = lab.refusal(lab.fsx.create_file_system, **lab.request(SubnetIds=[lab.subnet, other]))
    assert code == "BadRequest"
    assert other in says


@pytest.mark.parametrize(
    ("ports", "refused"),
    [
        (((988, 988),), True),
        (((988, 988), (1021, 1023)), True),
        (((1018, 1023),), True),
        (((988, 988), (1018, 1023)), False),
        (((988, 1023),), False),
        (((0, 65535),), False),
    ],
)
def test_the_ports_among_the_servers(lab, ports, refused):
    request = lab.request(SecurityGroupIds=[lab.open_group("other", *ports)])
    if not refused:
        assert lab.fsx.create_file_system(**request)["FileSystem"]["Lifecycle"] == "CREATING"
        return
    code, says = lab.refusal(lab.fsx.create_file_system, **request)
    assert code == "InvalidNetworkSettings"
    assert "do not permit Lustre LNET network traffic on port 988" in says


def test_efa_needs_all_traffic_by_the_id_of_the_group(lab):
    efa = {**P2, "PerUnitStorageThroughput": 1000, "EfaEnabled": True}
    efa["MetadataConfiguration"] = {"Mode": "AUTOMATIC"}
    request = lab.request(efa, StorageCapacity=4800)
    group = lab.group
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]

    # Lustre's ports, then all traffic in, while all traffic leaves by addresses alone.
    for missing in (f"out of {group} to {group}; into {group} from {group}", f"out of {group} to {group}"):
        code, says = lab.refusal(lab.fsx.create_file_system, **request)
        assert code == "InvalidNetworkSettings"
        assert "Insufficient security group permissions to create an EFA-enabled file system" in says
        assert f"Missing: {missing}. Add" in says
        if ";" in missing:
            lab.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
    lab.ec2.authorize_security_group_egress(GroupId=group, IpPermissions=itself)
    assert lab.fsx.create_file_system(**request)["FileSystem"]["LustreConfiguration"]["EfaEnabled"] is True


def test_the_servers_of_two_groups_reach_each_other_through_either(lab):
    one, other = lab.empty_group("one"), lab.empty_group("other")
    lab.let_in(one, other, (988, 988), (1018, 1023))
    assert lab.file_system(SecurityGroupIds=[one, other])


def test_without_a_group_the_default_one_of_the_vpc_is_taken(lab):
    groups = lab.ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [lab.vpc]}])
    default = next(each["GroupId"] for each in groups["SecurityGroups"] if each["GroupName"] == "default")
    assert lab.mount(lab.file_system(SecurityGroupIds=None), security_group_ids=[default])


def test_a_group_of_another_vpc_is_refused(lab):
    elsewhere = lab.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    group = lab.empty_group("elsewhere", elsewhere)
    code, says = lab.refusal(lab.fsx.create_file_system, **lab.request(SecurityGroupIds=[group]))
    assert code == "InvalidNetworkSettings"
    assert "same VPC" in says


def test_a_token_makes_one_file_system(lab):
    request = lab.request(ClientRequestToken="once", Tags=[{"Key": "run", "Value": "1"}])
    first = lab.fsx.create_file_system(**request)["FileSystem"]
    again = lab.fsx.create_file_system(**request)["FileSystem"]
    assert again["FileSystemId"] == first["FileSystemId"]
    code, says = lab.refusal(lab.fsx.create_file_system, **{**request, "StorageCapacity": 2400})
    assert code == "IncompatibleParameterError"
    assert first["FileSystemId"] in says
    assert len(lab.fsx.describe_file_systems()["FileSystems"]) == 1
    other = lab.fsx.create_file_system(**{**request, "ClientRequestToken": "twice"})["FileSystem"]
    assert other["FileSystemId"] != first["FileSystemId"]


def test_a_token_is_free_again_once_its_file_system_is_gone(lab):
    first = lab.file_system(ClientRequestToken="once")
    lab.fsx.delete_file_system(FileSystemId=first)
    lab.until(lambda: lab.gone(first))
    assert lab.create(ClientRequestToken="once") != first


@pytest.mark.parametrize("lifecycle", ["FAILED", "MISCONFIGURED"])
def test_a_creation_that_fails(lab, lifecycle):
    lab.aws.fsx.fail_next("file-system", message="no capacity in the zone", lifecycle=lifecycle)
    file_system_id = lab.create()
    lab.until(lambda: lab.about(file_system_id)["Lifecycle"] != "CREATING")
    about = lab.about(file_system_id)
    assert (about["Lifecycle"], about["FailureDetails"]["Message"]) == (lifecycle, "no capacity in the zone")
    assert lab.file_system()
    lab.fsx.delete_file_system(FileSystemId=file_system_id)
    lab.until(lambda: lab.gone(file_system_id))


def test_pages(lab):
    made = {lab.create() for _ in range(3)}
    first = lab.fsx.describe_file_systems(MaxResults=2)
    second = lab.fsx.describe_file_systems(MaxResults=2, NextToken=first["NextToken"])
    assert {each["FileSystemId"] for each in first["FileSystems"] + second["FileSystems"]} == made
    assert "NextToken" not in second
    assert lab.refusal(lab.fsx.describe_file_systems, NextToken="bm9uZQ==")[0] == "BadRequest"


UNKNOWN = "fs-0123456789abcdef0"


@pytest.mark.parametrize(
    ("operation", "parameters", "code"),
    [
        ("describe_file_systems", {"FileSystemIds": [UNKNOWN]}, "FileSystemNotFound"),
        ("update_file_system", {"FileSystemId": UNKNOWN, "StorageCapacity": 2400}, "FileSystemNotFound"),
        ("delete_file_system", {"FileSystemId": UNKNOWN}, "FileSystemNotFound"),
        (
            "create_data_repository_association",
            {"FileSystemId": UNKNOWN, "FileSystemPath": "/data", "DataRepositoryPath": "s3://data"},
            "FileSystemNotFound",
        ),
        (
            "create_data_repository_task",
            {"FileSystemId": UNKNOWN, "Type": "EXPORT_TO_REPOSITORY", "Report": {"Enabled": False}},
            "FileSystemNotFound",
        ),
        (
            "describe_data_repository_associations",
            {"AssociationIds": ["dra-0123456789abcdef0"]},
            "DataRepositoryAssociationNotFound",
        ),
        (
            "update_data_repository_association",
            {"AssociationId": "dra-0123456789abcdef0"},
            "DataRepositoryAssociationNotFound",
        ),
        (
            "delete_data_repository_association",
            {"AssociationId": "dra-0123456789abcdef0"},
            "DataRepositoryAssociationNotFound",
        ),
        (
            "describe_data_repository_tasks",
            {"TaskIds": ["task-0123456789abcdef0"]},
            "DataRepositoryTaskNotFound",
        ),
        ("cancel_data_repository_task", {"TaskId": "task-0123456789abcdef0"}, "DataRepositoryTaskNotFound"),
        (
            "list_tags_for_resource",
            {"ResourceARN": f"arn:aws:fsx:us-east-1:123456789012:file-system/{UNKNOWN}"},
            "ResourceNotFound",
        ),
    ],
)
def test_what_does_not_exist(lab, operation, parameters, code):
    refused, says = lab.refusal(getattr(lab.fsx, operation), **parameters)
    assert refused == code
    assert "does not exist" in says


def test_tags(lab):
    file_system_id = lab.create(Tags=[{"Key": "owner", "Value": "me"}])
    arn = lab.about(file_system_id)["ResourceARN"]
    lab.fsx.tag_resource(
        ResourceARN=arn, Tags=[{"Key": "run", "Value": "1"}, {"Key": "owner", "Value": "you"}]
    )
    lab.fsx.untag_resource(ResourceARN=arn, TagKeys=["run", "absent"])
    assert lab.fsx.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "owner", "Value": "you"}]
    assert lab.about(file_system_id)["Tags"] == [{"Key": "owner", "Value": "you"}]
    many = [{"Key": f"tag{number}", "Value": ""} for number in range(50)]
    assert lab.refusal(lab.fsx.tag_resource, ResourceARN=arn, Tags=many)[0] == "BadRequest"


# Updates


@pytest.mark.parametrize(
    ("lustre", "asked", "says"),
    [
        ({}, {"StorageCapacity": 3600}, "2400 or 4800"),
        ({}, {"StorageCapacity": 1200}, "already"),
        ({}, {"StorageType": "HDD"}, "cannot be changed"),
        ({}, {"FileSystemTypeVersion": "2.12"}, "newer"),
        ({}, {"LustreConfiguration": {"AutoImportPolicy": "NEW"}}, "UpdateDataRepositoryAssociation"),
        ({}, {}, "changes nothing"),
        ({"DeploymentType": "SCRATCH_1"}, {"StorageCapacity": 2400}, "cannot grow"),
    ],
)
def test_an_update_that_aws_refuses(lab, lustre, asked, says):
    file_system_id = lab.file_system(lustre)
    code, message = lab.refusal(lab.fsx.update_file_system, FileSystemId=file_system_id, **asked)
    assert code == "BadRequest"
    assert says in message
    assert lab.about(file_system_id)["Lifecycle"] == "AVAILABLE"


def test_a_capacity_never_shrinks(lab):
    file_system_id = lab.file_system(StorageCapacity=4800)
    code, says = lab.refusal(lab.fsx.update_file_system, FileSystemId=file_system_id, StorageCapacity=2400)
    assert code == "BadRequest"
    assert "never shrinks" in says


def test_growth(lab):
    file_system_id = lab.file_system()
    lab.aws.durations.file_system_update = 0.3
    begun = lab.fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=2400)["FileSystem"]
    assert (begun["Lifecycle"], begun["StorageCapacity"]) == ("UPDATING", 1200)
    update, optimization = begun["AdministrativeActions"]
    assert update["AdministrativeActionType"] == "FILE_SYSTEM_UPDATE"
    assert (update["Status"], update["TargetFileSystemValues"]["StorageCapacity"]) == ("IN_PROGRESS", 2400)
    assert (optimization["AdministrativeActionType"], optimization["Status"]) == (
        "STORAGE_OPTIMIZATION",
        "PENDING",
    )
    again = lab.refusal(lab.fsx.update_file_system, FileSystemId=file_system_id, StorageCapacity=4800)
    assert "UPDATING" in again[1]
    lab.until(lambda: lab.about(file_system_id)["Lifecycle"] == "AVAILABLE")
    grown = lab.about(file_system_id)
    assert grown["StorageCapacity"] == 2400
    assert grown["AdministrativeActions"][0]["Status"] in ("UPDATED_OPTIMIZING", "COMPLETED")
    lab.until(lambda: lab.about(file_system_id)["AdministrativeActions"][0]["Status"] == "COMPLETED")
    assert len(lab.about(file_system_id)["AdministrativeActions"]) == 1


@pytest.mark.parametrize(
    ("lustre", "changes", "asked", "shown"),
    [
        (
            {},
            {},
            {"LustreConfiguration": {"DataCompressionType": "LZ4"}},
            lambda about: about["LustreConfiguration"]["DataCompressionType"] == "LZ4",
        ),
        (
            P2,
            {},
            {"LustreConfiguration": {"PerUnitStorageThroughput": 250}},
            lambda about: about["LustreConfiguration"]["PerUnitStorageThroughput"] == 250,
        ),
        (
            {},
            {"FileSystemTypeVersion": "2.12"},
            {"FileSystemTypeVersion": "2.15"},
            lambda about: about["FileSystemTypeVersion"] == "2.15",
        ),
    ],
)
def test_an_update_in_place(lab, lustre, changes, asked, shown):
    file_system_id = lab.file_system(lustre, **changes)
    assert not shown(lab.about(file_system_id))
    lab.fsx.update_file_system(FileSystemId=file_system_id, **asked)
    lab.until(lambda: lab.about(file_system_id)["Lifecycle"] == "AVAILABLE")
    assert shown(lab.about(file_system_id))


def test_an_update_that_fails_leaves_the_file_system_as_it_was(lab):
    file_system_id = lab.file_system()
    lab.aws.fsx.fail_next("update", message="no capacity")
    lab.fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=2400)
    lab.until(lambda: lab.about(file_system_id)["Lifecycle"] == "AVAILABLE")
    about = lab.about(file_system_id)
    assert about["StorageCapacity"] == 1200
    (action,) = about["AdministrativeActions"]
    assert (action["Status"], action["FailureDetails"]["Message"]) == ("FAILED", "no capacity")


# Deletion


@pytest.mark.parametrize(
    ("deployment", "body", "code"),
    [
        ({}, {}, None),
        ({}, {"LustreConfiguration": {}}, "BadRequest"),
        ({}, {"LustreConfiguration": {"SkipFinalBackup": True}}, "BadRequest"),
        ({"DeploymentType": "SCRATCH_1"}, {"LustreConfiguration": {"SkipFinalBackup": True}}, "BadRequest"),
        (P1, {}, None),
        (P1, {"LustreConfiguration": {"SkipFinalBackup": True}}, None),
        (P2, {"LustreConfiguration": {"SkipFinalBackup": False}}, None),
    ],
)
def test_deletion(lab, deployment, body, code):
    file_system_id = lab.file_system(deployment)
    if code is not None:
        assert lab.refusal(lab.fsx.delete_file_system, FileSystemId=file_system_id, **body)[0] == code
        assert lab.about(file_system_id)["Lifecycle"] == "AVAILABLE"
        return
    answer = lab.fsx.delete_file_system(FileSystemId=file_system_id, **body)
    assert answer["Lifecycle"] == "DELETING"
    asked_for_backup = body.get("LustreConfiguration", {}).get("SkipFinalBackup") is False
    assert ("LustreResponse" in answer) is asked_for_backup
    lab.until(lambda: lab.gone(file_system_id))


def test_a_linked_file_system_has_no_final_backup(lab):
    file_system_id = lab.file_system(P1)
    lab.link(file_system_id, imports=False)
    body = {"LustreConfiguration": {"SkipFinalBackup": False}}
    code, says = lab.refusal(lab.fsx.delete_file_system, FileSystemId=file_system_id, **body)
    assert code == "BadRequest"
    assert "no backups" in says


def test_deletion_waits_for_tasks(lab):
    file_system_id = lab.file_system()
    lab.put("a")
    lab.aws.durations.task = 60
    lab.begin_link(file_system_id, "/data", "s3://data", BatchImportMetaDataOnCreate=True)
    lab.until(lambda: [each["Lifecycle"] for each in lab.tasks(file_system_id)] == ["EXECUTING"])
    (task,) = lab.tasks(file_system_id)
    code, says = lab.refusal(lab.fsx.delete_file_system, FileSystemId=file_system_id)
    assert code == "BadRequest"
    assert task["TaskId"] in says
    lab.fsx.cancel_data_repository_task(TaskId=task["TaskId"])
    lab.fsx.delete_file_system(FileSystemId=file_system_id)
    lab.until(lambda: lab.gone(file_system_id))
    assert lab.fsx.describe_data_repository_associations()["Associations"] == []


def test_the_network_interfaces_live_as_long_as_the_file_system(lab):
    def interfaces():
        found = lab.ec2.describe_network_interfaces()["NetworkInterfaces"]
        return {each["NetworkInterfaceId"] for each in found if each["SubnetId"] == lab.subnet}

    file_system_id = lab.file_system()
    assert interfaces() == set(lab.about(file_system_id)["NetworkInterfaceIds"])
    assert len(interfaces()) == 2
    lab.fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=4800)
    lab.until(lambda: lab.about(file_system_id)["Lifecycle"] == "AVAILABLE")
    assert interfaces() == set(lab.about(file_system_id)["NetworkInterfaceIds"])
    assert len(interfaces()) == 3
    lab.fsx.delete_file_system(FileSystemId=file_system_id)
    lab.until(lambda: lab.gone(file_system_id))
    assert interfaces() == set()


def test_the_quota_of_a_region(lab):
    for _ in range(2):
        lab.create(StorageCapacity=48000)
    code, says = lab.refusal(lab.fsx.create_file_system, **lab.request(StorageCapacity=7200))
    assert code == "ServiceLimitExceeded"
    assert "100800" in says
    assert lab.create(StorageCapacity=4800)
    assert lab.create(P1, StorageCapacity=48000)


def test_another_region_has_other_file_systems(lab):
    from trainfeed.local import ministack

    lab.create()
    with ministack.scope("123456789012", "eu-west-1"):
        assert lab.aws.fsx.service.call("DescribeFileSystems", {})["FileSystems"] == []

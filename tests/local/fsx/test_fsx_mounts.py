import os

import pytest

from trainfeed.local.fsx import MountRefused


def refusal(call, *arguments, **named):
    with pytest.raises(MountRefused) as caught:
        call(*arguments, **named)
    assert caught.value.reason.startswith("ClientError: ")
    return caught.value.reason


@pytest.fixture
def linked(lab):
    """A file system whose /data is run1 of the bucket."""
    lab.put("run1/a", "run1/sub/b", "run10/c")
    file_system_id = lab.file_system()
    lab.link(file_system_id, "/data", "s3://data/run1")
    return file_system_id


def opened(lab, file_system_id, path="", *, read_only=True):
    return lab.mount(file_system_id).open(f"/{lab.mount_name(file_system_id)}{path}", read_only=read_only)


# Where the job is


def test_the_job_is_in_the_zone_of_the_file_system(lab, linked):
    near = lab.subnet_in("us-east-1a", "10.0.1.0/24")
    far = lab.subnet_in("us-east-1b", "10.0.2.0/24")
    assert lab.mount(linked, subnet_id=near)
    says = refusal(lab.mount, linked, subnet_id=far)
    assert "us-east-1b" in says
    assert "us-east-1a" in says


def test_the_job_is_in_the_network_of_the_file_system(lab, linked):
    elsewhere = lab.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    place = {
        "subnet_id": lab.subnet_in("us-east-1a", "10.1.0.0/24", elsewhere),
        "security_group_ids": [lab.empty_group("elsewhere", elsewhere)],
    }
    assert "VPC" in refusal(lab.mount, linked, **place)
    assert "does not exist" in refusal(lab.mount, linked, subnet_id="subnet-0123456789abcdef0")
    assert "does not exist" in refusal(lab.mount, "fs-0123456789abcdef0")


ALL = ((988, 988), (1018, 1023))


@pytest.mark.parametrize(
    ("into_file_system", "into_job", "refused"),
    [
        (ALL, ALL, False),
        (((988, 1023),), ((0, 65535),), False),
        ((), ALL, True),
        (ALL, (), True),
        (((988, 988),), ALL, True),
        (ALL, ((988, 988), (1021, 1023)), True),
    ],
)
def test_the_ports_between_job_and_file_system(lab, linked, into_file_system, into_job, refused):
    job = lab.empty_group("job")
    if into_file_system:
        lab.let_in(lab.group, job, *into_file_system)
    if into_job:
        lab.let_in(job, lab.group, *into_job)
    if not refused:
        assert lab.mount(linked, security_group_ids=[job])
        return
    says = refusal(lab.mount, linked, security_group_ids=[job])
    assert "timed out" in says
    assert "1018-1023" in says


def test_ports_opened_to_addresses_are_those_of_the_jobs_subnet(lab, linked):
    near, job = lab.subnet_in("us-east-1a", "10.0.1.0/24"), lab.empty_group("job")
    lab.let_in(job, lab.group, *ALL)
    lustre = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023}
    for cidr in ("10.0.0.0/24", "10.0.1.0/24"):
        says = refusal(lab.mount, linked, subnet_id=near, security_group_ids=[job])
        assert f"into the file system ({lab.group}) from the job ({job}): 988, 1018-1023" in says
        opened = [{**lustre, "IpRanges": [{"CidrIp": cidr}]}]
        lab.ec2.authorize_security_group_ingress(GroupId=lab.group, IpPermissions=opened)
    assert lab.mount(linked, subnet_id=near, security_group_ids=[job])


def test_what_the_job_may_not_send_does_not_arrive(lab, linked):
    job = lab.empty_group("job")
    lab.let_in(lab.group, job, *ALL)
    lab.let_in(job, lab.group, *ALL)
    everything = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    lab.ec2.revoke_security_group_egress(GroupId=job, IpPermissions=everything)
    assert f"out of the job ({job})" in refusal(lab.mount, linked, security_group_ids=[job])
    to_servers = [
        {"IpProtocol": "tcp", "FromPort": low, "ToPort": high, "IpRanges": [{"CidrIp": "10.0.0.0/24"}]}
        for low, high in ALL
    ]
    lab.ec2.authorize_security_group_egress(GroupId=job, IpPermissions=to_servers)
    assert lab.mount(linked, security_group_ids=[job])


@pytest.mark.parametrize(
    ("lifecycle", "refused"),
    [("AVAILABLE", False), ("UPDATING", False), ("CREATING", True), ("FAILED", True), ("DELETING", True)],
)
def test_the_file_system_is_there(lab, linked, lifecycle, refused):
    lab.aws.fsx.turn(linked, lifecycle)
    if refused:
        assert lifecycle in refusal(lab.mount, linked)
    else:
        assert lab.mount(linked)


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("/{mount}", False),
        ("/{mount}/", False),
        ("/{mount}/data", False),
        ("/{mount}/data/sub/", False),
        ("/fsx", True),
        ("/fsx/data", True),
        ("{mount}/data", True),
        ("/", True),
        ("/{mount}x/data", True),
        ("/{mount}/missing", True),
        ("/{mount}/data/a", True),
        ("/{mount}/../data", True),
    ],
)
def test_the_directory_path(lab, linked, path, refused):
    path = path.format(mount=lab.mount_name(linked))
    mount = lab.mount(linked)
    if refused:
        says = refusal(mount.open, path, read_only=True)
        assert path in says
        assert "Incorrect mount path" in says
    else:
        assert mount.open(path, read_only=True).is_dir()


def test_scratch_1_mounts_as_fsx(lab):
    lab.put("a")
    file_system_id = lab.file_system({"DeploymentType": "SCRATCH_1", "ImportPath": "s3://data"})
    assert (lab.mount(file_system_id).open("/fsx", read_only=True) / "a").read_text() == "a"


# What is read


def test_a_file_is_fetched_at_the_first_read_and_kept(lab, linked):
    assert lab.files(linked) == {"data/a": "released", "data/sub/b": "released"}
    folder = opened(lab, linked, "/data/sub")
    assert (folder / "b").read_text() == "run1/sub/b"
    assert lab.files(linked) == {"data/a": "released", "data/sub/b": "restored"}
    lab.s3.delete_object(Bucket="data", Key="run1/sub/b")
    assert (opened(lab, linked, "/data") / "sub" / "b").read_text() == "run1/sub/b"


def test_a_prefix_is_a_folder(lab, linked):
    folder = opened(lab, linked)
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) == [
        "data",
        "data/a",
        "data/sub",
        "data/sub/b",
    ]


#: Stands for a file that is there by name and cannot be read.
GONE = None


@pytest.mark.parametrize(
    ("follows", "read_before", "seen"),
    [
        ((), True, {"kept": "1", "changed": "1", "deleted": "1"}),
        (("NEW",), True, {"kept": "1", "changed": "1", "deleted": "1", "new": "2"}),
        (("CHANGED",), True, {"kept": "1", "changed": "22", "deleted": "1"}),
        (("DELETED",), True, {"kept": "1", "changed": "1"}),
        (("NEW", "CHANGED", "DELETED"), True, {"kept": "1", "changed": "22", "new": "2"}),
        # A first read fetches what S3 has by then.
        ((), False, {"kept": "1", "changed": "22", "deleted": GONE}),
        (("NEW",), False, {"kept": "1", "changed": "22", "deleted": GONE, "new": "2"}),
        (("DELETED",), False, {"kept": "1", "changed": "22"}),
        (("NEW", "CHANGED", "DELETED"), False, {"kept": "1", "changed": "22", "new": "2"}),
    ],
)
def test_later_changes_in_s3(lab, follows, read_before, seen):
    for key in ("kept", "changed", "deleted"):
        lab.s3.put_object(Bucket="data", Key=key, Body=b"1")
    file_system_id = lab.file_system()
    lab.link(file_system_id, auto_import=follows)
    if read_before:
        opened(lab, file_system_id)
    lab.s3.put_object(Bucket="data", Key="new", Body=b"2")
    lab.s3.put_object(Bucket="data", Key="changed", Body=b"22")
    lab.s3.delete_object(Bucket="data", Key="deleted")
    folder = opened(lab, file_system_id, "/data")
    assert {name: text(folder / name) for name in os.listdir(folder)} == seen


def text(file):
    try:
        return file.read_text()
    except FileNotFoundError:
        return GONE


def test_what_was_there_before_the_link_is_no_news(lab):
    lab.put("old")
    file_system_id = lab.file_system()
    lab.link(file_system_id, imports=False, auto_import=("NEW",))
    lab.put("new")
    assert set(lab.files(file_system_id)) == {"data/new"}


def test_an_updated_policy_follows_from_then_on(lab):
    file_system_id = lab.file_system()
    association_id = lab.link(file_system_id)
    lab.put("before")
    lab.fsx.update_data_repository_association(
        AssociationId=association_id, S3={"AutoImportPolicy": {"Events": ["NEW"]}}
    )
    lab.until(lambda: lab.association(association_id)["Lifecycle"] == "AVAILABLE")
    lab.put("after")
    assert set(lab.files(file_system_id)) == {"data/after"}


@pytest.mark.parametrize("storage_class", ["GLACIER", "DEEP_ARCHIVE"])
def test_an_archived_object_is_a_name_that_cannot_be_read(lab, storage_class):
    lab.put("warm")
    lab.put("cool", StorageClass="GLACIER_IR")
    lab.put("cold", StorageClass=storage_class)
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    assert lab.tasks(file_system_id)[0]["Lifecycle"] == "SUCCEEDED"
    folder = opened(lab, file_system_id, "/data")
    assert sorted(os.listdir(folder)) == ["cold", "cool", "warm"]
    assert (folder / "cool").read_text() == "cool"
    with pytest.raises(OSError, match="cold"):
        (folder / "cold").read_text()
    assert lab.files(file_system_id)["data/cold"] == "unreadable"
    assert "InvalidObjectState" in os.readlink(folder / "cold")


def test_an_object_that_is_gone_can_be_read_once_it_is_back(lab, linked):
    lab.s3.delete_object(Bucket="data", Key="run1/a")
    folder = opened(lab, linked, "/data")
    with pytest.raises(FileNotFoundError):
        (folder / "a").read_text()
    lab.put("run1/a")
    assert (opened(lab, linked, "/data") / "a").read_text() == "run1/a"


# What is written


@pytest.mark.parametrize(
    ("exports", "keys"),
    [
        ((), ["changed", "deleted"]),
        (("NEW",), ["changed", "deleted", "new"]),
        (("CHANGED",), ["changed", "deleted"]),
        (("DELETED",), ["changed"]),
        (("NEW", "CHANGED", "DELETED"), ["changed", "new"]),
    ],
)
def test_automatic_export(lab, exports, keys):
    lab.put("changed", "deleted")
    file_system_id = lab.file_system()
    lab.link(file_system_id, auto_export=exports)
    mount = lab.mount(file_system_id)
    folder = mount.open(f"/{lab.mount_name(file_system_id)}/data", read_only=False)
    (folder / "new").write_text("2")
    (folder / "changed").write_text("22")
    (folder / "deleted").unlink()
    assert lab.keys() == ["changed", "deleted"]
    mount.close()
    assert lab.keys() == keys
    body = lab.s3.get_object(Bucket="data", Key="changed")["Body"].read()
    assert body == (b"22" if "CHANGED" in exports else b"changed")


def test_its_own_exports_are_no_news_to_it(lab):
    events = ("NEW", "CHANGED", "DELETED")
    file_system_id = lab.file_system()
    lab.link(file_system_id, auto_import=events, auto_export=events)
    mount = lab.mount(file_system_id)
    folder = mount.open(f"/{lab.mount_name(file_system_id)}/data", read_only=False)
    (folder / "new").write_text("2")
    mount.close()
    assert lab.keys() == ["new"]
    assert lab.files(file_system_id) == {"data/new": "restored"}


def test_nothing_is_exported_of_what_was_opened_for_reading(lab):
    file_system_id = lab.file_system()
    lab.link(file_system_id, auto_export=("NEW",))
    mount = lab.mount(file_system_id)
    folder = mount.open(f"/{lab.mount_name(file_system_id)}/data", read_only=True)
    (folder / "new").write_text("2")
    mount.close()
    assert lab.keys() == []


def test_a_job_sees_what_another_wrote(lab, linked):
    mount = lab.mount(linked)
    (mount.open(f"/{lab.mount_name(linked)}", read_only=False) / "scratch").write_text("kept")
    mount.close()
    assert (opened(lab, linked) / "scratch").read_text() == "kept"


def test_more_than_the_file_system_holds(lab, linked):
    mount = lab.mount(linked)
    folder = mount.open(f"/{lab.mount_name(linked)}", read_only=False)
    with (folder / "large").open("wb") as file:
        file.truncate(1300 * 2**30)
    says = refusal(mount.close)
    assert "No space left on device" in says
    assert "1200 GiB" in says
    lab.fsx.update_file_system(FileSystemId=linked, StorageCapacity=2400)
    lab.until(lambda: lab.about(linked)["Lifecycle"] == "AVAILABLE")
    again = lab.mount(linked)
    assert again.open(f"/{lab.mount_name(linked)}", read_only=False)
    again.close()


def test_first_reads_need_space_too(lab, linked):
    mount = lab.mount(linked)
    folder = mount.open(f"/{lab.mount_name(linked)}/data/sub", read_only=False)
    with (folder / "large").open("wb") as file:
        file.truncate(1200 * 2**30)
    assert "No space left on device" in refusal(
        lab.mount(linked).open, f"/{lab.mount_name(linked)}/data", read_only=True
    )


def test_the_files_are_gone_with_the_file_system(lab, linked):
    folder = opened(lab, linked)
    assert folder.is_dir()
    lab.fsx.delete_file_system(FileSystemId=linked)
    lab.until(lambda: lab.gone(linked))
    lab.until(lambda: not folder.exists())


@pytest.mark.parametrize(
    ("policy", "seen"),
    [
        ("NONE", {"old", "gone"}),
        ("NEW", {"old", "gone", "new"}),
        ("NEW_CHANGED_DELETED", {"old", "new"}),
    ],
)
def test_an_import_path_imports_before_it_is_available(lab, policy, seen):
    lab.put("in/old", "in/gone", "other")
    file_system_id = lab.file_system({"ImportPath": "s3://data/in", "AutoImportPolicy": policy})
    about = lab.about(file_system_id)["LustreConfiguration"]["DataRepositoryConfiguration"]
    assert (about["Lifecycle"], about["ImportPath"]) == ("AVAILABLE", "s3://data/in")
    assert set(lab.files(file_system_id)) == {"old", "gone"}
    lab.put("in/new")
    lab.s3.delete_object(Bucket="data", Key="in/gone")
    assert set(lab.files(file_system_id)) == seen


def test_an_import_path_exports_beside_it_by_a_task_alone(lab):
    lab.put("in/a")
    file_system_id = lab.file_system({"ImportPath": "s3://data/in"})
    mount = lab.mount(file_system_id)
    (mount.open(f"/{lab.mount_name(file_system_id)}", read_only=False) / "b").write_text("b")
    mount.close()
    assert lab.keys() == ["in/a"]
    lab.task(file_system_id, "EXPORT_TO_REPOSITORY")
    about = lab.about(file_system_id)["LustreConfiguration"]["DataRepositoryConfiguration"]
    assert about["ExportPath"].startswith("s3://data/FSxLustre20")
    assert lab.keys() == sorted(["in/a", about["ExportPath"].removeprefix("s3://data/") + "/b"])

import pytest

#: What AWS says of the second of two associations made at once.
MISLEADING = "Amazon FSx does not have the required permissions for the S3 bucket."


def test_an_association_that_aws_makes(lab):
    file_system_id = lab.file_system()
    association_id = lab.begin_link(
        file_system_id, "/data", "s3://data/run1", Tags=[{"Key": "a", "Value": "b"}]
    )
    about = lab.association(association_id)
    assert about["Lifecycle"] in ("CREATING", "AVAILABLE")
    lab.until(lambda: lab.association(association_id)["Lifecycle"] == "AVAILABLE")
    about = lab.association(association_id)
    assert about["FileSystemPath"] == "/data"
    assert about["DataRepositoryPath"] == "s3://data/run1"
    assert about["BatchImportMetaDataOnCreate"] is False
    assert about["ImportedFileChunkSize"] == 1024
    assert about["ResourceARN"].endswith(f":association/{file_system_id}/{association_id}")
    assert lab.fsx.list_tags_for_resource(ResourceARN=about["ResourceARN"])["Tags"] == about["Tags"]
    assert lab.tasks(file_system_id) == []


P2 = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}


@pytest.mark.parametrize(
    ("lustre", "changes", "refused"),
    [
        ({}, {}, False),
        ({}, {"FileSystemTypeVersion": "2.12"}, False),
        (P2, {"FileSystemTypeVersion": None}, False),
        ({}, {"FileSystemTypeVersion": "2.10"}, True),
        ({}, {"FileSystemTypeVersion": None}, True),
        ({"DeploymentType": "SCRATCH_1"}, {}, True),
        ({"ImportPath": "s3://data"}, {}, True),
    ],
)
def test_the_file_systems_that_take_associations(lab, lustre, changes, refused):
    file_system_id = lab.file_system(lustre, **changes)
    asked = {"FileSystemId": file_system_id, "FileSystemPath": "/data", "DataRepositoryPath": "s3://data"}
    if not refused:
        made = lab.fsx.create_data_repository_association(**asked)["Association"]
        assert made["Lifecycle"] == "CREATING"
        return
    assert lab.refusal(lab.fsx.create_data_repository_association, **asked)[0] == "BadRequest"


@pytest.mark.parametrize(
    ("there", "asked", "refused"),
    [
        (("/data", "s3://data/a"), ("/out", "s3://data/b"), False),
        (("/data", "s3://data/run1"), ("/data2", "s3://data/run10"), False),
        (("/data", "s3://data/a"), ("/out", "s3://other"), False),
        (("/data", "s3://data/a"), ("/data", "s3://data/b"), True),
        (("/data", "s3://data/a"), ("/data/", "s3://data/b"), True),
        (("/data", "s3://data/a"), ("/data/sub", "s3://data/b"), True),
        (("/data/sub", "s3://data/a"), ("/data", "s3://data/b"), True),
        (("/data", "s3://data/a"), ("/out", "s3://data/a"), True),
        (("/data", "s3://data/a"), ("/out", "s3://data/a/b"), True),
        (("/data", "s3://data"), ("/out", "s3://data/a"), True),
        (("/data", "s3://data/a"), ("/", "s3://data/b"), True),
        (("/", "s3://data/a"), ("/out", "s3://data/b"), True),
    ],
)
def test_overlaps(lab, there, asked, refused):
    lab.s3.create_bucket(Bucket="other")
    file_system_id = lab.file_system()
    lab.link(file_system_id, *there, imports=False)
    request = {"FileSystemId": file_system_id, "FileSystemPath": asked[0], "DataRepositoryPath": asked[1]}
    if not refused:
        assert lab.fsx.create_data_repository_association(**request)["Association"]["Lifecycle"] == "CREATING"
        return
    code, says = lab.refusal(lab.fsx.create_data_repository_association, **request)
    assert code == "BadRequest"
    assert "overlap" in says


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        ({"FileSystemPath": None}, "BadRequest", "has no path"),
        ({"FileSystemPath": "data"}, "BadRequest", "slash"),
        ({"DataRepositoryPath": "s3://missing"}, "BadRequest", "unable to validate access to the S3 bucket"),
        ({"DataRepositoryPath": "s3:///prefix"}, "BadRequest", "not an S3 address"),
        ({"DataRepositoryPath": "https://data"}, "BadRequest", "not an S3 address"),
        ({"DataRepositoryPath": "s3://Data"}, "BadRequest", "Data"),
        ({"ImportedFileChunkSize": 512001}, "ValidationException", "512000"),
        ({"S3": {"AutoImportPolicy": {"Events": ["ADDED"]}}}, "ValidationException", "NEW"),
    ],
)
def test_an_association_that_aws_refuses(lab, changes, code, says):
    file_system_id = lab.file_system()
    asked = {
        "FileSystemId": file_system_id,
        "FileSystemPath": "/data",
        "DataRepositoryPath": "s3://data",
        **changes,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    refused = lab.refusal(lab.fsx.create_data_repository_association, **asked)
    assert refused[0] == code
    assert says in refused[1]


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"BatchImportMetaDataOnCreate": True}, True),
        ({"S3": {"AutoImportPolicy": {"Events": ["NEW"]}}}, True),
        ({"S3": {"AutoExportPolicy": {"Events": ["NEW"]}}}, False),
    ],
)
def test_a_bucket_of_another_region(lab, options, refused):
    lab.s3.create_bucket(Bucket="far", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    file_system_id = lab.file_system()
    asked = {"FileSystemId": file_system_id, "FileSystemPath": "/data", "DataRepositoryPath": "s3://far"}
    if not refused:
        made = lab.fsx.create_data_repository_association(**asked, **options)["Association"]
        lab.until(lambda: lab.association(made["AssociationId"])["Lifecycle"] == "AVAILABLE")
        return
    code, says = lab.refusal(lab.fsx.create_data_repository_association, **asked, **options)
    assert code == "BadRequest"
    assert "eu-west-1" in says


def test_at_most_eight(lab):
    file_system_id = lab.file_system()
    for number in range(8):
        lab.link(file_system_id, f"/data{number}", f"s3://data/{number}", imports=False)
    code, _ = lab.refusal(
        lab.fsx.create_data_repository_association,
        FileSystemId=file_system_id,
        FileSystemPath="/data8",
        DataRepositoryPath="s3://data/8",
    )
    assert code == "ServiceLimitExceeded"


@pytest.mark.parametrize("lifecycle", ["CREATING", "UPDATING", "FAILED", "DELETING"])
def test_the_file_system_must_be_available(lab, lifecycle):
    file_system_id = lab.file_system()
    lab.aws.fsx.turn(file_system_id, lifecycle)
    code, says = lab.refusal(
        lab.fsx.create_data_repository_association,
        FileSystemId=file_system_id,
        FileSystemPath="/data",
        DataRepositoryPath="s3://data",
    )
    assert code == "BadRequest"
    assert lifecycle in says


def test_of_two_at_the_same_time_the_second_fails(lab):
    lab.aws.durations.association_create = 0.3
    file_system_id = lab.file_system()
    first = lab.begin_link(file_system_id, "/data", "s3://data/a")
    second = lab.begin_link(file_system_id, "/out", "s3://data/b")
    lab.until(lambda: lab.association(second)["Lifecycle"] != "CREATING")
    lab.until(lambda: lab.association(first)["Lifecycle"] == "AVAILABLE")
    failed = lab.association(second)
    assert failed["Lifecycle"] == "FAILED"
    assert failed["FailureDetails"]["Message"].startswith(MISLEADING)
    lab.fsx.delete_data_repository_association(AssociationId=second, DeleteDataInFileSystem=True)
    listed = lab.fsx.describe_data_repository_associations
    lab.until(lambda: len(listed()["Associations"]) == 1)
    lab.link(file_system_id, "/out", "s3://data/b")


def test_a_token_makes_one_association(lab):
    file_system_id = lab.file_system()
    options = {"ClientRequestToken": "once"}
    first = lab.begin_link(file_system_id, "/data", "s3://data/a", **options)
    assert lab.begin_link(file_system_id, "/data", "s3://data/a", **options) == first
    code, _ = lab.refusal(
        lab.fsx.create_data_repository_association,
        FileSystemId=file_system_id,
        FileSystemPath="/data",
        DataRepositoryPath="s3://data/b",
        **options,
    )
    assert code == "IncompatibleParameterError"


def test_available_does_not_mean_imported(lab):
    lab.put("a", "b")
    lab.aws.durations.task_pending = 0.3
    lab.aws.durations.task = 0.3
    file_system_id = lab.file_system()
    association_id = lab.begin_link(file_system_id, "/data", "s3://data", BatchImportMetaDataOnCreate=True)
    lab.until(lambda: lab.association(association_id)["Lifecycle"] == "AVAILABLE")
    assert lab.files(file_system_id) == {}
    (task,) = lab.tasks(file_system_id)
    assert (task["Type"], task["Lifecycle"]) == ("IMPORT_METADATA_FROM_REPOSITORY", "PENDING")
    lab.until(lambda: lab.tasks(file_system_id)[0]["Lifecycle"] == "EXECUTING")
    lab.until(lambda: lab.tasks(file_system_id)[0]["Lifecycle"] == "SUCCEEDED")
    status = lab.tasks(file_system_id)[0]["Status"]
    assert [status[name] for name in ("TotalCount", "SucceededCount", "FailedCount")] == [2, 2, 0]
    assert lab.files(file_system_id) == {"data/a": "released", "data/b": "released"}


@pytest.mark.parametrize("lifecycle", ["MISCONFIGURED", "FAILED"])
def test_a_link_that_fails(lab, lifecycle):
    file_system_id = lab.file_system()
    lab.aws.fsx.fail_next("association", message="the policy of the bucket", lifecycle=lifecycle)
    association_id = lab.begin_link(file_system_id, "/data", "s3://data", BatchImportMetaDataOnCreate=True)
    lab.until(lambda: lab.association(association_id)["Lifecycle"] == lifecycle)
    assert lab.association(association_id)["FailureDetails"]["Message"] == "the policy of the bucket"
    assert lab.tasks(file_system_id) == []


def test_an_update_puts_a_misconfigured_link_right(lab):
    file_system_id = lab.file_system()
    association_id = lab.link(file_system_id)
    lab.aws.fsx.turn(association_id, "MISCONFIGURED", "the event notification is gone")
    lab.fsx.update_data_repository_association(
        AssociationId=association_id, S3={"AutoImportPolicy": {"Events": ["NEW"]}}
    )
    lab.until(lambda: lab.association(association_id)["Lifecycle"] == "AVAILABLE")
    about = lab.association(association_id)
    assert about["S3"] == {"AutoImportPolicy": {"Events": ["NEW"]}}
    assert "FailureDetails" not in about


def test_an_update_needs_a_link_that_stands(lab):
    file_system_id = lab.file_system()
    association_id = lab.link(file_system_id)
    lab.aws.fsx.turn(association_id, "FAILED", "the bucket is gone")
    code, says = lab.refusal(lab.fsx.update_data_repository_association, AssociationId=association_id)
    assert code == "BadRequest"
    assert "FAILED" in says


def test_filters_and_pages(lab):
    one, other = lab.file_system(), lab.file_system()
    mine = [lab.link(one, f"/data{number}", f"s3://data/{number}", imports=False) for number in range(2)]
    lab.link(other, imports=False)
    describe = lab.fsx.describe_data_repository_associations
    chosen = describe(Filters=[{"Name": "file-system-id", "Values": [one]}])["Associations"]
    assert [each["AssociationId"] for each in chosen] == mine
    first = describe(MaxResults=2)
    assert len(first["Associations"]) == 2
    assert len(describe(NextToken=first["NextToken"])["Associations"]) == 1
    assert lab.refusal(describe, Filters=[{"Name": "volume-id", "Values": ["x"]}])[0] == "BadRequest"
    nfs = [{"Name": "data-repository-type", "Values": ["NFS"]}]
    assert lab.refusal(describe, Filters=nfs)[0] == "InvalidDataRepositoryType"


@pytest.mark.parametrize(
    ("delete_files", "left"),
    [(False, {"data/a": "restored", "data/b": "released", "kept": "local"}), (True, {"kept": "local"})],
)
def test_deletion_unlinks(lab, delete_files, left):
    lab.put("a", "b")
    file_system_id = lab.file_system()
    association_id = lab.link(file_system_id)
    mount = lab.mount(file_system_id)
    folder = mount.open(f"/{lab.mount_name(file_system_id)}", read_only=False)
    (folder / "kept").write_text("on the file system alone")
    mount.close()
    lab.task(file_system_id, "RELEASE_DATA_FROM_FILESYSTEM", Paths=["data/b"])
    lab.fsx.delete_data_repository_association(
        AssociationId=association_id, DeleteDataInFileSystem=delete_files
    )
    lab.until(lambda: lab.fsx.describe_data_repository_associations()["Associations"] == [])
    assert lab.files(file_system_id) == left
    assert lab.keys() == ["a", "b"]

import pytest
from botocore.exceptions import ParamValidationError

IMPORT, EXPORT, RELEASE = (
    "IMPORT_METADATA_FROM_REPOSITORY",
    "EXPORT_TO_REPOSITORY",
    "RELEASE_DATA_FROM_FILESYSTEM",
)
REPORT = {
    "Enabled": True,
    "Path": "s3://data/reports",
    "Format": "REPORT_CSV_20191124",
    "Scope": "FAILED_FILES_ONLY",
}


def counts(task):
    return tuple(task["Status"][name] for name in ("TotalCount", "SucceededCount", "FailedCount"))


def write(lab, file_system_id, files):
    mount = lab.mount(file_system_id)
    folder = mount.open(f"/{lab.mount_name(file_system_id)}", read_only=False)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    mount.close()


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        ({"Type": "AUTO_RELEASE_DATA"}, "BadRequest", "File Cache"),
        ({"CapacityToRelease": 1}, "BadRequest", "File Cache"),
        ({"Report": {"Enabled": True}}, "BadRequest", "Path, Format, Scope"),
        ({"Report": {**REPORT, "Path": "s3://elsewhere"}}, "BadRequest", "s3://data"),
        ({"Paths": [str(number) for number in range(101)]}, "ValidationException", "100"),
        ({"Type": "IMPORT"}, "ValidationException", "EXPORT_TO_REPOSITORY"),
    ],
)
def test_a_task_that_aws_refuses(lab, changes, code, says):
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    asked = {"FileSystemId": file_system_id, "Type": EXPORT, "Report": {"Enabled": False}, **changes}
    refused = lab.refusal(lab.fsx.create_data_repository_task, **asked)
    assert refused[0] == code
    assert says in refused[1]


def test_a_task_needs_a_report(lab):
    with pytest.raises(ParamValidationError, match="Report"):
        lab.fsx.create_data_repository_task(FileSystemId=lab.file_system(), Type=EXPORT)


def test_a_task_needs_a_repository(lab):
    code, says = lab.refusal(
        lab.fsx.create_data_repository_task,
        FileSystemId=lab.file_system(),
        Type=EXPORT,
        Report={"Enabled": False},
    )
    assert code == "BadRequest"
    assert "no linked data repository" in says


def test_one_task_at_a_time(lab):
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    lab.aws.durations.task = 60
    task_id = lab.begin_task(file_system_id, IMPORT)
    waiting = lab.begin_task(file_system_id, IMPORT)
    lab.until(lambda: lab.about_task(task_id)["Lifecycle"] == "EXECUTING")
    code, _ = lab.refusal(
        lab.fsx.create_data_repository_task,
        FileSystemId=file_system_id,
        Type=IMPORT,
        Report={"Enabled": False},
    )
    assert code == "DataRepositoryTaskExecuting"
    assert lab.about_task(waiting)["Lifecycle"] == "PENDING"
    lab.aws.durations.task = 0.05
    lab.fsx.cancel_data_repository_task(TaskId=task_id)
    lab.until(lambda: lab.about_task(waiting)["Lifecycle"] == "SUCCEEDED")


def test_the_imports_of_two_links_follow_each_other(lab):
    lab.put("a/1", "b/1")
    lab.aws.durations.task = 0.2
    file_system_id = lab.file_system()
    for name in ("a", "b"):
        made = lab.begin_link(
            file_system_id, f"/{name}", f"s3://data/{name}", BatchImportMetaDataOnCreate=True
        )
        lab.until(lambda made=made: lab.association(made)["Lifecycle"] == "AVAILABLE")
    lab.until(lambda: [task["Lifecycle"] for task in lab.tasks(file_system_id)] == ["SUCCEEDED"] * 2)
    first, second = lab.tasks(file_system_id)
    assert second["StartTime"] >= first["EndTime"]
    chosen = [{"Name": "data-repository-association-id", "Values": [made]}]
    found = lab.fsx.describe_data_repository_tasks(Filters=chosen)["DataRepositoryTasks"]
    assert [task["TaskId"] for task in found] == [second["TaskId"]]


def test_cancellation_keeps_what_is_done(lab):
    lab.put("a", "b", "c", "d")
    lab.aws.durations.task = 60
    file_system_id = lab.file_system()
    lab.begin_link(file_system_id, "/data", "s3://data", BatchImportMetaDataOnCreate=True)
    lab.until(lambda: [task["Lifecycle"] for task in lab.tasks(file_system_id)] == ["EXECUTING"])
    lab.until(lambda: lab.tasks(file_system_id)[0]["Status"]["SucceededCount"] == 2)
    (task,) = lab.tasks(file_system_id)
    assert lab.fsx.cancel_data_repository_task(TaskId=task["TaskId"])["Lifecycle"] == "CANCELING"
    lab.until(lambda: lab.about_task(task["TaskId"])["Lifecycle"] == "CANCELED")
    assert set(lab.files(file_system_id)) == {"data/a", "data/b"}
    code, _ = lab.refusal(lab.fsx.cancel_data_repository_task, TaskId=task["TaskId"])
    assert code == "DataRepositoryTaskEnded"


def test_an_import_brings_what_came_since(lab):
    lab.put("run1/a", "run2/a")
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    lab.put("run1/b", "run10/b", "run2/b")
    assert "data/run1/b" not in lab.files(file_system_id)
    task = lab.task(file_system_id, IMPORT, Paths=["s3://data/run1/"])
    assert (task["Lifecycle"], counts(task)) == ("SUCCEEDED", (2, 2, 0))
    assert sorted(lab.files(file_system_id)) == ["data/run1/a", "data/run1/b", "data/run2/a"]
    lab.s3.delete_object(Bucket="data", Key="run1/a")
    assert lab.task(file_system_id, IMPORT)["Lifecycle"] == "SUCCEEDED"
    assert len(lab.files(file_system_id)) == 5


@pytest.mark.parametrize(
    ("kind", "paths"),
    [(IMPORT, ["s3://elsewhere/a"]), (EXPORT, ["missing"]), (RELEASE, ["missing"])],
)
def test_a_path_that_is_not_there_fails_the_task(lab, kind, paths):
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    task = lab.task(file_system_id, kind, Paths=paths)
    assert task["Lifecycle"] == "FAILED"
    assert paths[0] in task["FailureDetails"]["Message"]


@pytest.mark.parametrize(
    ("key", "imported"),
    [
        ("a/b", True),
        ("a b/c;d", True),
        (".hidden", True),
        ("a//b", False),
        ("a/../b", False),
        ("./b", False),
        ("a/" + "x" * 256, False),
        ("first/below-a-file", False),
    ],
)
def test_keys_that_are_no_paths(lab, key, imported):
    lab.put("first", key)
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    (task,) = lab.tasks(file_system_id)
    assert (f"data/{key}" in lab.files(file_system_id)) is imported
    if imported:
        assert (task["Lifecycle"], counts(task)) == ("SUCCEEDED", (2, 2, 0))
    else:
        assert (task["Lifecycle"], counts(task)) == ("FAILED", (2, 1, 1))
        assert "S3ObjectPathNotPosixCompliant" in task["FailureDetails"]["Message"]


def test_a_report_names_what_failed(lab):
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    lab.put("good", "bad//name")
    task = lab.task(file_system_id, IMPORT, Report=REPORT)
    body = lab.s3.get_object(Bucket="data", Key=f"reports/{task['TaskId']}/failures.csv")["Body"].read()
    assert body.decode().splitlines()[1:] == ['"bad//name",failed,S3ObjectPathNotPosixCompliant']


@pytest.mark.parametrize(
    ("fault", "lifecycle", "status"),
    [
        ({}, "FAILED", (3, 0, 3)),
        ({"failed_files": 1}, "FAILED", (3, 2, 1)),
        ({"failed_files": 2, "lifecycle": "SUCCEEDED"}, "SUCCEEDED", (3, 1, 2)),
    ],
)
def test_a_task_that_fails(lab, fault, lifecycle, status):
    lab.put("a", "b", "c")
    lab.aws.fsx.fail_next("task", message="S3 is slow", **fault)
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    (task,) = lab.tasks(file_system_id)
    assert (task["Lifecycle"], counts(task)) == (lifecycle, status)
    assert task["FailureDetails"]["Message"] == "S3 is slow"
    assert len(lab.files(file_system_id)) == status[1]


def test_an_export_goes_to_the_prefix_of_its_link(lab):
    lab.s3.create_bucket(Bucket="results")
    lab.put("in/a")
    file_system_id = lab.file_system()
    lab.link(file_system_id, "/data", "s3://data/in")
    lab.link(file_system_id, "/out", "s3://results/runs", imports=False)
    write(lab, file_system_id, {"out/model/weights": "w", "out/log": "l", "data/new": "n", "unlinked": "u"})
    assert lab.keys(bucket="results") == []
    task = lab.task(file_system_id, EXPORT, Paths=["out/model"])
    assert (task["Lifecycle"], counts(task)) == ("SUCCEEDED", (1, 1, 0))
    assert lab.keys(bucket="results") == ["runs/model/weights"]
    task = lab.task(file_system_id, EXPORT)
    assert counts(task) == (2, 2, 0)
    assert lab.keys(bucket="results") == ["runs/log", "runs/model/weights"]
    assert lab.keys() == ["in/a", "in/new"]
    assert counts(lab.task(file_system_id, EXPORT)) == (0, 0, 0)
    write(lab, file_system_id, {"out/log": "longer"})
    assert counts(lab.task(file_system_id, EXPORT)) == (1, 1, 0)
    assert lab.s3.get_object(Bucket="results", Key="runs/log")["Body"].read() == b"longer"


def test_an_export_that_s3_does_not_take(lab):
    lab.s3.create_bucket(Bucket="results")
    file_system_id = lab.file_system()
    lab.link(file_system_id, "/out", "s3://results", imports=False)
    write(lab, file_system_id, {"out/a": "a"})
    lab.s3.delete_bucket(Bucket="results")
    task = lab.task(file_system_id, EXPORT)
    assert (task["Lifecycle"], counts(task)) == ("FAILED", (1, 0, 1))


def test_release_keeps_the_name_and_drops_the_bytes(lab):
    lab.put("a", "b")
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    write(lab, file_system_id, {"data/b": "changed", "data/c": "new"})
    task = lab.task(file_system_id, RELEASE, Paths=["/"])
    # What was never exported cannot be released.
    assert (task["Lifecycle"], counts(task)) == ("FAILED", (3, 1, 2))
    assert lab.files(file_system_id) == {"data/a": "released", "data/b": "local", "data/c": "local"}
    lab.task(file_system_id, EXPORT)
    task = lab.task(file_system_id, RELEASE, Paths=["data"])
    assert (task["Lifecycle"], counts(task)) == ("SUCCEEDED", (2, 2, 0))
    assert set(lab.files(file_system_id).values()) == {"released"}
    folder = lab.mount(file_system_id).open(f"/{lab.mount_name(file_system_id)}/data", read_only=True)
    assert {name: (folder / name).read_text() for name in "abc"} == {"a": "a", "b": "changed", "c": "new"}


def test_release_leaves_what_was_used_lately(lab):
    lab.put("a")
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    lab.mount(file_system_id).open(f"/{lab.mount_name(file_system_id)}", read_only=True)
    age = {"DurationSinceLastAccess": {"Unit": "DAYS", "Value": 10}}
    task = lab.task(file_system_id, RELEASE, Paths=["/"], ReleaseConfiguration=age)
    assert (task["Lifecycle"], counts(task)) == ("SUCCEEDED", (0, 0, 0))
    assert lab.files(file_system_id) == {"data/a": "restored"}


def test_filters(lab):
    file_system_id = lab.file_system()
    lab.link(file_system_id)
    describe = lab.fsx.describe_data_repository_tasks
    for lifecycle, found in (("SUCCEEDED", 1), ("FAILED", 0)):
        chosen = [{"Name": "task-lifecycle", "Values": [lifecycle]}]
        assert len(describe(Filters=chosen)["DataRepositoryTasks"]) == found
    caches = [{"Name": "file-cache-id", "Values": ["fc-0123456789abcdef0"]}]
    assert lab.refusal(describe, Filters=caches)[0] == "BadRequest"

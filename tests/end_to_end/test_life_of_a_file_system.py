"""One file system's life, from the first deployment to the last. The tests follow one another."""

import time

import pytest

from tests.end_to_end.conftest import Project

pytestmark = pytest.mark.end_to_end


def _capacity(gib: int):
    def change(settings) -> None:
        settings["sources"]["fsx-lustre"]["storage_capacity_gib"] = gib

    return change


def test_the_file_system_and_its_job_are_deployed_by_name(project: Project) -> None:
    project.cdk("deploy", "DatasetStack")
    project.upload({"a.txt": b"1", "run1/b.txt": b"2"})
    project.cdk("deploy", "FsxLustreStack", "TrainingJobStack", "TrainingFileJobStack")

    (file_system,) = project.file_systems()
    assert file_system["Lifecycle"] == "AVAILABLE"
    assert file_system["StorageCapacity"] == 1200
    assert file_system["FileSystemTypeVersion"] == "2.15"
    assert file_system["LustreConfiguration"]["DeploymentType"] == "SCRATCH_2"
    assert project.outputs("FsxLustreStack", "FileSystemId", "MountName") == [
        file_system["FileSystemId"],
        file_system["LustreConfiguration"]["MountName"],
    ]


def test_both_jobs_read_what_was_uploaded(project: Project) -> None:
    assert project.listing("training") == {"a.txt=1", "run1/b.txt=2"}
    assert project.listing("training-file") == {"a.txt=1", "run1/b.txt=2"}


def test_an_object_added_after_the_import_is_in_s3_alone(project: Project) -> None:
    project.upload({"late.txt": b"3"})
    assert project.listing("training") == {"a.txt=1", "run1/b.txt=2"}
    assert project.listing("training-file") == {"a.txt=1", "run1/b.txt=2", "late.txt=3"}


def test_deploying_again_changes_nothing(project: Project) -> None:
    before = project.file_systems()
    assert "Number of stacks with differences: 0" in project.cdk("diff", "--all", "--fail")
    again = project.cdk("deploy", "--all")
    assert again.count("(no changes)") == 5
    assert project.file_systems() == before


def test_it_grows_in_place(project: Project) -> None:
    (before,) = project.file_systems()
    project.settings(_capacity(2400))
    project.cdk("deploy", "FsxLustreStack")
    (after,) = project.file_systems()
    assert (after["FileSystemId"], after["StorageCapacity"]) == (before["FileSystemId"], 2400)


def test_a_refused_update_rolls_back(project: Project) -> None:
    project.settings(_capacity(1200))
    refusal = project.cdk("deploy", "FsxLustreStack", fails=True)
    assert "never shrinks" in refusal
    described = project.aws.client("cloudformation").describe_stacks(StackName="FsxLustreStack")
    assert described["Stacks"][0]["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    (file_system,) = project.file_systems()
    assert (file_system["Lifecycle"], file_system["StorageCapacity"]) == ("AVAILABLE", 2400)
    project.settings(_capacity(2400))


def test_a_job_runs_on_the_replacement_without_being_deployed_again(project: Project) -> None:
    (before,) = project.file_systems()

    def persistent(settings) -> None:
        settings["sources"]["fsx-lustre"].update(
            deployment_type="PERSISTENT_1", per_unit_storage_throughput=50, removal="destroy"
        )

    project.settings(persistent)
    project.cdk("deploy", "FsxLustreStack")
    (after,) = project.file_systems()
    assert after["FileSystemId"] != before["FileSystemId"]
    assert project.listing("training") == {"a.txt=1", "run1/b.txt=2", "late.txt=3"}


def test_a_job_runs_on_the_file_system_destroyed_and_made_again(project: Project) -> None:
    project.cdk("destroy", "FsxLustreStack", "--exclusively")
    assert project.file_systems() == []
    gone = project.run("trainfeed", "run", "training", "--script", project.folder / "list.py")
    assert gone.returncode == 1
    assert "cdk deploy FsxLustreStack" in gone.stdout, gone.stdout

    project.cdk("deploy", "FsxLustreStack", "--exclusively")
    assert project.listing("training") == {"a.txt=1", "run1/b.txt=2", "late.txt=3"}


def test_a_job_waits_for_the_import_and_the_import_for_nobody(project: Project) -> None:
    project.cdk("destroy", "FsxLustreStack", "--exclusively")
    project.aws.durations.task = 15.0
    project.cdk("deploy", "FsxLustreStack", "--exclusively")
    (imported,) = _imports(project)
    assert imported["Lifecycle"] in ("PENDING", "EXECUTING")
    assert project.listing("training") == {"a.txt=1", "run1/b.txt=2", "late.txt=3"}
    (imported,) = _imports(project)
    assert imported["Lifecycle"] == "SUCCEEDED"


def test_it_is_destroyed_while_the_import_runs(project: Project) -> None:
    project.cdk("destroy", "FsxLustreStack", "--exclusively")
    project.aws.durations.task = 12.0
    project.cdk("deploy", "FsxLustreStack", "--exclusively")
    (imported,) = _imports(project)
    assert imported["Lifecycle"] in ("PENDING", "EXECUTING")

    project.cdk("destroy", "--all")
    assert project.file_systems() == []
    assert _imports(project, unfinished=True) == []
    stacks = project.aws.client("cloudformation").list_stacks(
        StackStatusFilter=["CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_FAILED", "ROLLBACK_COMPLETE"]
    )["StackSummaries"]
    assert {stack["StackName"] for stack in stacks} == {"CDKToolkit"}
    interfaces = project.aws.client("ec2").describe_network_interfaces()["NetworkInterfaces"]
    assert interfaces == []


def test_the_buckets_are_retained_until_they_are_deleted_by_name(project: Project) -> None:
    buckets = {bucket["Name"] for bucket in project.aws.client("s3").list_buckets()["Buckets"]}
    ours = {name for name in buckets if not name.startswith("cdk-")}
    assert len(ours) == 2
    done = project.run("trainfeed", "delete-bucket", *ours, "--yes")
    assert done.returncode == 0, done.stdout
    left = {bucket["Name"] for bucket in project.aws.client("s3").list_buckets()["Buckets"]}
    assert left == buckets - ours


def _imports(project: Project, *, unfinished: bool = False) -> list[dict]:
    """The newest file system's import tasks."""
    tasks = project.aws.client("fsx").describe_data_repository_tasks()["DataRepositoryTasks"]
    imports = [task for task in tasks if task["Type"] == "IMPORT_METADATA_FROM_REPOSITORY"]
    if unfinished:
        return [task for task in imports if task["Lifecycle"] in ("PENDING", "EXECUTING")]
    newest = max((task["CreationTime"] for task in imports), default=time.time())
    return [task for task in imports if task["CreationTime"] == newest]

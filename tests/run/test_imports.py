"""A link that imported nothing is told of."""

import json
from typing import Any

import pytest

from trainfeed.run import imports
from trainfeed.run.launch import Run

RUN = Run(name="training-20261201-161500-ab12", execution_arn="arn")
LINK = {
    "AssociationId": "dra-1",
    "FileSystemId": "fs-1",
    "FileSystemPath": "/data",
    "DataRepositoryPath": "s3://datasets/data/",
    "S3": {"AutoImportPolicy": {"Events": ["DELETED"]}},
}
TASK = {
    "TaskId": "task-1",
    "FileSystemId": "fs-1",
    "Type": imports.IMPORT,
    "Lifecycle": "SUCCEEDED",
    "Paths": ["/data"],
    "Status": {"TotalCount": 0},
}
FULL = TASK | {"TaskId": "task-2", "Status": {"TotalCount": 9}}


def warned(*answers: dict[str, Any]) -> tuple[str, ...]:
    """The warnings for answers of which the newest comes first."""

    class States:
        def get_execution_history(self, **_: Any) -> Any:
            outputs = [{"taskSucceededEventDetails": {"output": json.dumps(each)}} for each in answers]
            return {"events": [{"type": "TaskStateExited"}, *outputs]}

    return imports.warnings(lambda _: States(), RUN)


@pytest.mark.parametrize(
    "paths", [["/data"], ["/data/"], [], ["s3://datasets/data"], ["s3://datasets/data/a"]]
)
def test_an_import_of_no_file_is_told_with_what_to_do(paths: list[str]) -> None:
    (warning,) = warned({"DataRepositoryTasks": [TASK | {"Paths": paths}]}, {"Associations": [LINK]})
    assert warning == (
        "/data of fs-1 is empty: its import found 0 files in s3://datasets/data/. Upload the data there, "
        "then import it: aws fsx create-data-repository-task --file-system-id fs-1 "
        "--type IMPORT_METADATA_FROM_REPOSITORY --report Enabled=false"
    )


@pytest.mark.parametrize(
    ("tasks", "link"),
    [
        ([FULL], LINK),
        ([TASK, FULL], LINK),
        ([TASK, FULL | {"Paths": ["s3://datasets/data"]}], LINK),
        ([], LINK),
        ([TASK | {"Lifecycle": "FAILED"}], LINK),
        ([TASK | {"Type": "EXPORT_TO_REPOSITORY"}], LINK),
        ([TASK | {"FileSystemId": "fs-2"}], LINK),
        ([TASK | {"Paths": ["/data-2"]}], LINK),
        ([TASK], LINK | {"S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}}),
    ],
)
def test_no_warning_where_files_are_there_or_may_come(
    tasks: list[dict[str, Any]], link: dict[str, Any]
) -> None:
    assert warned({"DataRepositoryTasks": tasks}, {"Associations": [link]}) == ()


def test_the_newest_look_counts() -> None:
    begun = TASK | {"Lifecycle": "EXECUTING"}
    assert warned({"DataRepositoryTasks": [begun]}, {"Associations": [LINK]}) == ()
    assert (
        len(
            warned(
                {"DataRepositoryTasks": [TASK]}, {"DataRepositoryTasks": [begun]}, {"Associations": [LINK]}
            )
        )
        == 1
    )

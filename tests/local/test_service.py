import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from trainfeed.local.service import ApiError, JsonService, encode

MADE = datetime(2026, 12, 1, tzinfo=UTC)


def create(request):
    if request.get("StorageCapacity") == 1300:
        raise ApiError("BadRequest", "Invalid storage capacity: 1300")
    return {"FileSystem": {"FileSystemId": "fs-1", "CreationTime": MADE, "KmsKeyId": None}}


FSX = JsonService(
    name="fsx",
    target_prefix="AWSSimbaAPIService_v20180301",
    operations={"CreateFileSystem": create, "DeleteFileSystem": lambda _: {"Colour": "red"}},
)
REQUEST = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-0123456789abcdef0"]}


def test_an_operation_is_called_with_a_valid_request():
    assert FSX.call("CreateFileSystem", {**REQUEST, "Tags": None})["FileSystem"]["FileSystemId"] == "fs-1"


@pytest.mark.parametrize(
    ("operation", "request_", "code", "text"),
    [
        ("CreateFileSystem", {}, "ValidationException", "Value null at 'fileSystemType'"),
        (
            "CreateFileSystem",
            {**REQUEST, "StorageCapacity": "x"},
            "SerializationException",
            "cannot be converted",
        ),
        (
            "CreateFileSystem",
            {**REQUEST, "StorageCapacity": 1300},
            "BadRequest",
            "Invalid storage capacity: 1300",
        ),
        ("CreateVolume", {}, "UnknownOperationException", "It has CreateFileSystem, DeleteFileSystem"),
    ],
)
def test_a_refusal_has_a_code_and_says_why(operation, request_, code, text):
    with pytest.raises(ApiError, match=text) as refused:
        FSX.call(operation, request_)
    assert refused.value.code == code
    status, answer = FSX.answer(operation, json.dumps(request_).encode())
    assert (status, answer["__type"]) == (400, code)
    assert text in answer["Message"]


@pytest.mark.parametrize("body", [b"[]", b"{", b'"text"'])
def test_a_body_that_is_no_object(body):
    status, answer = FSX.answer("CreateFileSystem", body)
    assert (status, answer["__type"]) == (400, "SerializationException")


def test_an_answer_that_aws_never_gives_is_a_fault_of_ours():
    with pytest.raises(RuntimeError, match="fsx:DeleteFileSystem answered unknown members: colour"):
        FSX.call("DeleteFileSystem", {"FileSystemId": "fs-0123456789abcdef0"})


def test_answers_are_written_as_the_protocol_has_them():
    written = json.loads(
        encode({"At": MADE, "Nothing": None, "Nested": [{"Nothing": None, "Cost": Decimal("0.5")}]})
    )
    assert written == {"At": MADE.timestamp(), "Nested": [{"Cost": 0.5}]}
    with pytest.raises(TypeError, match="object has no JSON form"):
        encode({"Thing": object()})

"""AWS's errors in words a person can act on."""

import socket

import pytest
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ProfileNotFound

from trainfeed.run import aws
from trainfeed.run.aws import UserError, explain


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (NoCredentialsError(), "No AWS credentials were found. Sign in first"),
        (ProfileNotFound(profile="ml"), "The config profile (ml) could not be found"),
        (
            ClientError({"Error": {"Code": "ExpiredToken", "Message": "old"}}, "GetParameter"),
            "AWS does not accept these credentials (ExpiredToken: old). Sign in first",
        ),
        (
            ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "StartExecution"),
            "Your AWS identity may not call StartExecution: no",
        ),
        (
            ClientError({"Error": {"Code": "Throttling", "Message": "slow down"}}, "GetParameter"),
            "GetParameter failed with Throttling: slow down",
        ),
    ],
)
def test_errors_say_what_to_do(error: BotoCoreError | ClientError, says: str) -> None:
    assert explain(error).startswith(says)
    assert "\n" not in explain(error)


def test_an_endpoint_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "123456789012")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    with pytest.raises(BotoCoreError) as raised:
        aws.connect()("sts").get_caller_identity()
    said = explain(raised.value)
    assert said.startswith(f"No local AWS answers at {url}, which this shell is set to")
    assert said.endswith('eval "$(trainfeed local env)"')
    assert said.count(url) == 1
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://vpce-1.example.com")
    assert explain(raised.value).startswith("AWS does not answer: ")


def test_a_region_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match="No AWS Region is set"):
        aws.connect()


@pytest.mark.parametrize(
    ("variables", "region"),
    [
        ({"AWS_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "us-east-2"}, "eu-west-1"),
    ],
)
def test_clients_work_where_the_cdk_would(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], region: str
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert aws.connect()("s3").meta.region_name == region

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from queue import Empty, SimpleQueue

import boto3
import pytest

from trainfeed.local import ministack
from trainfeed.local.server import LocalAws

ROOT = Path(__file__).parents[2]


def test_reset_empties_the_account(aws):
    aws.client("s3").create_bucket(Bucket="some-data")
    aws.client("ssm").put_parameter(Name="/one", Type="String", Value="1")
    aws.client("ec2").create_vpc(CidrBlock="10.0.0.0/16")
    vpcs = len(aws.client("ec2").describe_vpcs()["Vpcs"])
    aws.reset()
    assert aws.client("s3").list_buckets()["Buckets"] == []
    assert aws.client("ssm").describe_parameters()["Parameters"] == []
    assert len(aws.client("ec2").describe_vpcs()["Vpcs"]) == vpcs - 1


def test_a_process_has_one(aws, tmp_path):
    with pytest.raises(RuntimeError, match="runs in this process already"):
        LocalAws(state=tmp_path).start()
    assert aws.client("sts").get_caller_identity()["Account"] == "123456789012"


def test_the_environment_is_all_that_a_client_needs(aws, monkeypatch):
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    client = boto3.Session().client("sts")
    assert client.get_caller_identity()["Account"] == "123456789012"
    client.close()
    assert Path(aws.environment()["CDK_HOME"]).is_absolute()


def test_it_listens_on_this_machine_only(aws):
    host, _, port = aws.url.removeprefix("http://").partition(":")
    assert host == "127.0.0.1"
    for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
        if not str(address).startswith("127."):
            with socket.socket() as probe:
                assert probe.connect_ex((address, int(port))) != 0


def test_services_that_need_containers_are_not_offered(aws):
    client = aws.client("ecs")
    with pytest.raises(client.exceptions.ClientError):
        client.list_clusters()


def test_what_is_timed_runs_in_the_account_that_asked_for_it(aws):
    heard = SimpleQueue()
    with ministack.scope("210987654321", "eu-west-1"):
        ministack.later(0.01, lambda: heard.put((ministack.account_id(), ministack.region())))
    assert heard.get(timeout=10) == ("210987654321", "eu-west-1")


def test_what_is_timed_is_dropped_at_a_reset(aws):
    heard = SimpleQueue()
    ministack.later(0.2, lambda: heard.put("too late"))
    aws.reset()
    with pytest.raises(Empty):
        heard.get(timeout=0.4)


def test_it_leaves_nothing_behind_and_starts_again(tmp_path):
    """In a process of its own, since this one's is in use."""
    program = textwrap.dedent(
        """
        import os, socket, sys, threading, warnings
        from pathlib import Path
        warnings.simplefilter("error")
        from trainfeed.local.server import LocalAws

        before = dict(os.environ)
        for _ in range(2):
            aws = LocalAws(state=Path(sys.argv[1]), account_id="210987654321", region="eu-west-1").start()
            aws.client("s3").create_bucket(
                Bucket="some-data", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
            )
            assert len(aws.client("s3").list_buckets()["Buckets"]) == 1
            assert aws.client("sts").get_caller_identity()["Account"] == "210987654321"
            port = int(aws.url.rpartition(":")[2])
            aws.stop()
            aws.stop()
            with socket.socket() as probe:
                assert probe.connect_ex(("127.0.0.1", port)) != 0
        # MiniStack starts this one as it is imported; it sleeps, and ends with the process.
        left = {thread.name for thread in threading.enumerate()} - {"MainThread", "dynamodb-ttl-reaper"}
        assert not left, left
        assert dict(os.environ) == before

        from ministack import app
        from ministack.core import persistence
        assert persistence.STATE_DIR.startswith(sys.argv[1])
        assert "fsx" not in app.SERVICE_HANDLERS and "rds" in app.SERVICE_HANDLERS
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import boto3
import pytest
from click.testing import CliRunner

from trainfeed.cli import main
from trainfeed.local import daemon
from trainfeed.local.durations import DurationError, Durations


@pytest.fixture
def folder(tmp_path):
    yield tmp_path
    if daemon.status(tmp_path) is not None:
        daemon.stop(tmp_path)


def answers(url: str) -> bool:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def runs(pid: int) -> bool:
    """Whether a process is there and no mere entry in the process table; known on Linux."""
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_starts_serves_and_stops(folder):
    started = daemon.start(folder)
    assert daemon.status(folder) == started
    assert started.url.startswith("http://127.0.0.1:")
    settings = daemon.environment(folder)
    assert settings["AWS_ENDPOINT_URL"] == started.url
    assert settings["CDK_HOME"].startswith(str(folder))
    client = boto3.client(
        "sts",
        endpoint_url=started.url,
        region_name=settings["AWS_REGION"],
        aws_access_key_id=settings["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=settings["AWS_SECRET_ACCESS_KEY"],
    )
    assert client.get_caller_identity()["Account"] == "123456789012"
    client.close()

    with pytest.raises(daemon.AlreadyRunningError, match=f"pid {started.pid}"):
        daemon.start(folder)

    assert daemon.stop(folder) == started
    assert not runs(started.pid)
    assert daemon.status(folder) is None
    assert not answers(started.url)
    with pytest.raises(daemon.NotRunningError, match="trainfeed local start"):
        daemon.stop(folder)


def test_a_killed_one_is_known_to_be_gone_and_another_can_start(folder):
    killed = daemon.start(folder)
    os.kill(killed.pid, signal.SIGKILL)
    while answers(killed.url):
        time.sleep(0.01)
    assert (daemon.state(folder) / "running.json").exists()
    assert daemon.status(folder) is None
    with pytest.raises(daemon.NotRunningError):
        daemon.environment(folder)
    assert daemon.start(folder).pid != killed.pid


def test_a_process_that_took_over_the_pid_is_left_alone(folder):
    """The record of a dead one names a process of somebody else's."""
    somebody = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    files = daemon.state(folder)
    files.mkdir(parents=True)
    (files / "lock").touch()
    (files / "running.json").write_text(
        f'{{"pid": {somebody.pid}, "url": "http://127.0.0.1:1", "log": "log", "environment": {{}}}}'
    )
    try:
        with pytest.raises(daemon.NotRunningError):
            daemon.stop(folder)
        assert somebody.poll() is None
    finally:
        somebody.kill()
        somebody.wait()


def test_a_port_that_is_taken_is_said(folder):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(daemon.StartError, match=f"Port {port} of 127.0.0.1: Address already in use"):
            daemon.start(folder, port=port)
    assert daemon.status(folder) is None


def test_asking_where_none_was_ever_started_makes_nothing(folder):
    assert daemon.status(folder) is None
    assert list(folder.iterdir()) == []


def test_its_lifecycles_take_as_long_as_was_asked_for(folder):
    """A second that a state machine waits lasts nothing, so an hour of waiting does not either."""
    options = ["--duration", "waited_second=0", "--duration", "task=1.5"]
    started = CliRunner().invoke(main, ["local", "--folder", str(folder), "start", *options])
    assert started.exit_code == 0, started.output
    running = daemon.status(folder)
    assert running is not None
    assert waits_an_hour(running) == "SUCCEEDED"

    again = CliRunner().invoke(main, ["local", "--folder", str(folder), "start", *options])
    assert (again.exit_code, "trainfeed local stop" in again.output) == (1, True)
    assert CliRunner().invoke(main, ["local", "--folder", str(folder), "start"]).exit_code == 0


def waits_an_hour(running: daemon.Running) -> str:
    settings = running.environment

    def client(service: str):
        return boto3.client(
            service,
            endpoint_url=running.url,
            region_name=settings["AWS_REGION"],
            aws_access_key_id=settings["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=settings["AWS_SECRET_ACCESS_KEY"],
        )

    trust = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    wait = {"Type": "Wait", "Seconds": 3600, "End": True}
    with closing(client("iam")) as iam, closing(client("stepfunctions")) as sfn:
        role = iam.create_role(RoleName="machine", AssumeRolePolicyDocument=document)["Role"]["Arn"]
        machine = sfn.create_state_machine(
            name="machine",
            definition=json.dumps({"StartAt": "Wait", "States": {"Wait": wait}}),
            roleArn=role,
        )["stateMachineArn"]
        execution = sfn.start_execution(stateMachineArn=machine)["executionArn"]
        deadline = time.monotonic() + 30
        while (status := sfn.describe_execution(executionArn=execution)["status"]) == "RUNNING":
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return status


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("tasks=1", "There is no duration 'tasks'. There are file_system_create, "),
        ("=1", "There is no duration ''"),
        ("task", "task is ''. Give seconds, from 0 to 86400."),
        ("task=soon", "task is 'soon'. Give seconds"),
        ("task=-1", "task is '-1'"),
        ("task=nan", "task is 'nan'"),
        ("task=inf", "task is 'inf'"),
        ("task=86401", "task is '86401'"),
    ],
)
def test_a_wrong_duration_is_told_and_nothing_starts(folder, given, said):
    name, _, seconds = given.partition("=")
    with pytest.raises(DurationError, match=re.escape(said)):
        Durations.changed({name: seconds})
    ended = CliRunner().invoke(main, ["local", "--folder", str(folder), "start", "--duration", given])
    assert ended.exit_code == 2
    assert said in ended.output
    assert "Traceback" not in ended.output
    assert daemon.status(folder) is None


@pytest.mark.parametrize(("seconds", "expected"), [("0", 0), ("0.25", 0.25), ("3e2", 300), ("86400", 86_400)])
def test_durations_that_are_not_given_stay_as_they_are(seconds, expected):
    assert Durations.changed({"task": seconds}) == Durations(task=expected)

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import boto3
import pytest

from trainfeed.local import daemon


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

"""The local AWS: MiniStack and our services behind one port of 127.0.0.1."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import boto3
from botocore.config import Config
from hypercorn.asyncio import serve
from hypercorn.config import Config as ServerConfig

from trainfeed.local import ministack
from trainfeed.local.durations import Durations

if TYPE_CHECKING:
    from trainfeed.local.fsx import FsxLustre
    from trainfeed.local.sagemaker import TrainingJobs

_log = logging.getLogger("trainfeed.local")
_running = threading.Lock()

#: Signatures are not checked, so this opens nothing.
_SECRET = "local"  # noqa: S105


class LocalAws:
    """An AWS on this machine; one at a time in a process, since MiniStack's state is the process's.

    Use it as a context manager, or call `start` and `stop`.

    Attributes:
        url: the endpoint, once started.
        durations: how long each lifecycle lasts; change its fields at any time.
        fsx: FSx for Lustre, once started.
        sagemaker: training jobs, once started.
    """

    fsx: "FsxLustre"
    sagemaker: "TrainingJobs"

    def __init__(
        self,
        *,
        state: Path,
        port: int = 0,
        account_id: str = "123456789012",
        region: str = "us-east-1",
        durations: Durations | None = None,
    ) -> None:
        """Describe it; nothing runs yet.

        Args:
            state: the folder for everything that is written to disk.
            port: the port on 127.0.0.1; 0 takes a free one.
            account_id: the account that its credentials belong to.
            region: the region that its clients talk to.
            durations: how long each lifecycle lasts.
        """
        self.durations = durations or Durations()
        self.url = ""
        self._state = state
        self._port = port
        self._account_id = account_id
        self._region = region
        self._clients = _Clients()
        self._opened = ExitStack()

    def start(self) -> Self:
        """Serve, and return when requests are answered.

        Raises:
            RuntimeError: another one runs in this process, or MiniStack has another version.
            OSError: the port is taken.
        """
        if not _running.acquire(blocking=False):
            raise RuntimeError("A local AWS runs in this process already. Stop that one first.")
        with ExitStack() as opened:
            opened.callback(_running.release)
            self._state.mkdir(parents=True, exist_ok=True)
            listening = _listen(self._port)
            opened.callback(listening.close)
            port = listening.getsockname()[1]
            self.url = f"http://127.0.0.1:{port}"
            opened.enter_context(_variables(self._settings(port)))
            opened.callback(ministack.release)
            ministack.load()
            self._register()
            opened.callback(_Server(listening).stop)
            opened.callback(self._clients.close)
            opened.callback(self.reset)
            self._opened = opened.pop_all()
        return self

    def stop(self) -> None:
        """End every job, thread and connection, and free the port. A second stop does nothing."""
        self._opened.close()

    def reset(self) -> None:
        """Empty the account: every resource and job goes, as if just started. Durations stay."""
        # What starts jobs ends before they do, and what they wrote until they ended goes last.
        ministack.reset()
        self.sagemaker.reset()
        self.fsx.reset()
        ministack.reset()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def environment(self) -> dict[str, str]:
        """The variables by which the AWS SDKs, the AWS CLI and the CDK CLI find it.

        The CDK CLI reads any variable that begins with CDK as an option, hence CDK_NOTICES.
        """
        return {
            "AWS_ENDPOINT_URL": self.url,
            # MiniStack reads an access key of twelve digits as the account.
            "AWS_ACCESS_KEY_ID": self._account_id,
            "AWS_SECRET_ACCESS_KEY": _SECRET,
            "AWS_REGION": self._region,
            "AWS_DEFAULT_REGION": self._region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CDK_HOME": str((self._state / "cdk").absolute()),
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_NOTICES": "false",
        }

    def client(self, service: str) -> Any:
        """A boto3 client of a service of this AWS."""
        return self._clients.get(self.url, service, self._account_id, self._region)

    def _register(self) -> None:
        # These reach into MiniStack, which reads its environment when it is imported.
        from trainfeed.local import cloudformation, ec2, s3, ssm, stepfunctions  # noqa: PLC0415
        from trainfeed.local.fsx import FsxLustre  # noqa: PLC0415
        from trainfeed.local.sagemaker import TrainingJobs  # noqa: PLC0415

        client = self._client_of_the_caller
        self.fsx = FsxLustre(durations=self.durations, state=self._state / "fsx", client=client)
        self.sagemaker = TrainingJobs(
            durations=self.durations, state=self._state / "sagemaker", client=client, fsx=self.fsx
        )
        services = (self.fsx.service, self.sagemaker.service)
        for service in services:
            ministack.register_service(service)
        for part in (cloudformation, ec2, ssm, self.fsx):
            part.install()
        s3.install(client)
        stepfunctions.install(
            {service.name: service for service in services}, client=client, durations=self.durations
        )

    def _settings(self, port: int) -> dict[str, str]:
        """What MiniStack reads, some of it as it is imported, the rest at each request."""
        return {
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "MINISTACK_ACCOUNT_ID": self._account_id,
            "MINISTACK_HOST": "127.0.0.1",
            "MINISTACK_REGION": self._region,
            "STATE_DIR": str(self._state / "ministack"),
        }

    def _client_of_the_caller(self, service: str) -> Any:
        """A client for the account and region of the request that is being served."""
        return self._clients.get(self.url, service, ministack.account_id(), ministack.region())


class _Clients:
    """boto3 clients, each made once: making one takes longer than most calls."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, str, str], Any] = {}
        self._making = threading.Lock()

    def get(self, url: str, service: str, account_id: str, region: str) -> Any:
        key = (url, service, account_id, region)
        with self._making:
            if key not in self._made:
                self._made[key] = boto3.Session().client(
                    service,
                    endpoint_url=url,
                    region_name=region,
                    aws_access_key_id=account_id,
                    aws_secret_access_key=_SECRET,
                    config=Config(
                        retries={"total_max_attempts": 1},
                        max_pool_connections=50,
                        s3={"addressing_style": "path"},
                    ),
                )
            return self._made[key]

    def close(self) -> None:
        with self._making:
            for client in self._made.values():
                client.close()
            self._made.clear()


class _Server:
    """The event loop that answers HTTP, on a thread of its own."""

    def __init__(self, listening: socket.socket) -> None:
        self._ready: threading.Event = threading.Event()
        self._failure: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(
            target=self._run, args=(listening,), name="trainfeed-local-aws", daemon=True
        )
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise RuntimeError(f"The local AWS did not start: {self._failure}") from self._failure

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(30)
        if self._thread.is_alive():
            raise RuntimeError("The local AWS is still answering a request after 30 seconds.")

    def _run(self, listening: socket.socket) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.set_default_executor(ThreadPoolExecutor(max_workers=16, thread_name_prefix="local-aws"))
        try:
            self._loop.run_until_complete(self._serve(listening))
        except BaseException as error:  # a thread has nobody to raise to: start() raises it
            self._failure = error
            self._ready.set()
            _log.exception("the local AWS ended")
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _serve(self, listening: socket.socket) -> None:
        config = ServerConfig()
        # The socket is bound here and handed over, so that a free port is ours from the moment it is known.
        config.bind = [f"fd://{os.dup(listening.fileno())}"]
        config.errorlog = logging.getLogger("trainfeed.local.http")
        config.keep_alive_timeout = 75
        config.graceful_timeout = 1
        await serve(
            _announcing(ministack.application(), self._ready.set),
            config,
            shutdown_trigger=self._stopping.wait,
        )
        for task in asyncio.all_tasks(self._loop) - {asyncio.current_task()}:
            task.cancel()


def _announcing(application: Callable[..., Any], ready: Callable[[], None]) -> Callable[..., Any]:
    """Call `ready` when the application has started. The socket listens already, so requests wait."""

    async def call(scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        async def announce(message: dict[str, Any]) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                ready()

        await application(scope, receive, announce if scope["type"] == "lifespan" else send)

    return call


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(100)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, f"Port {port} of 127.0.0.1: {error.strerror}.") from error
    return listening


@contextmanager
def _variables(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables inside this block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

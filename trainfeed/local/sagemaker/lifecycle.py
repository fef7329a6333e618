"""One training job from Starting to its end."""

import logging
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.durations import Durations
from trainfeed.local.sagemaker import artifacts, channels, images, instances
from trainfeed.local.sagemaker.admission import FileSystems
from trainfeed.local.sagemaker.container import PLACE, Container
from trainfeed.local.sagemaker.failures import AbandonedError, HaltedError, JobFailedError
from trainfeed.local.sagemaker.job import ABANDON, STOP, TrainingJob
from trainfeed.local.sagemaker.logs import GROUP, LogStream
from trainfeed.local.sagemaker.mounts import Mounts
from trainfeed.local.sagemaker.network import Network
from trainfeed.local.sagemaker.storage import RoleStorage
from trainfeed.local.service import ApiError
from trainfeed.rules.job import DATA_RULES, JobData
from trainfeed.rules.job_request import JobRequest
from trainfeed.rules.rule import check

_log = logging.getLogger("trainfeed.local")

_NO_ROUTE = (
    "Please ensure that the subnet's route table has a route to an S3 VPC endpoint or a NAT device, and both "
    "the security groups and the subnet's network ACL allow outbound traffic to S3."
)
_LONGEST_REASON = 1024


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What every job runs in.

    Attributes:
        durations: how long the phases last that are not real.
        state: the folder below which each job has its own.
        client: gives a client of the local AWS for a service.
        file_systems: the local FSx.
        sealed: whether containers get their own mounts.
        publish: called after each change of a job's status.
    """

    durations: Durations
    state: Path
    client: Callable[[str], Any]
    file_systems: FileSystems
    sealed: bool
    publish: Callable[[TrainingJob], None]


class Run:
    """The running of one job, on a thread of its own."""

    def __init__(self, job: TrainingJob, surroundings: Surroundings) -> None:
        self._job = job
        self._in = surroundings
        self._request = job.request
        self._role = job.request["RoleArn"]
        self._storage = RoleStorage(s3=surroundings.client("s3"), role_arn=self._role)
        self._deadline = 0.0
        self._network: Network | None = None
        self._subnet_id = ""
        self._interfaces: list[str] = []
        self._mounts = Mounts(surroundings.file_systems)
        self._containers: list[Container] = []
        self._begun = False

    def __call__(self) -> None:
        """Run the job to its end. Nothing is left running, mounted or on disk when that end is told."""
        try:
            try:
                ending = self._live()
            finally:
                self._leave()
        except AbandonedError:
            _log.info("%s was abandoned", self._job.name)
            return
        except Exception:
            _log.exception("%s failed by a mistake of the local AWS", self._job.name)
            ending = "Failed", "InternalServerError: We encountered an internal error. Please try again."
        self._enter(*ending)

    def _live(self) -> tuple[str, str | None]:
        """Go through the phases; the last status, and the failure reason."""
        ending, reason = "Completed", None
        try:
            self._start()
            self._download()
            self._train()
        except HaltedError as halt:
            ending = halt.ending
        except JobFailedError as failure:
            ending, reason = "Failed", str(failure)
        if self._begun:
            try:
                self._upload()
            except JobFailedError as failure:
                ending, reason = "Failed", reason or str(failure)
        return ending, reason

    # Phases

    def _start(self) -> None:
        self._listen(self._in.durations.job_starting)
        denial = images.missing_right(self._role, self._request["AlgorithmSpecification"])
        if denial is not None:
            raise JobFailedError(
                "ClientError: Cannot pull algorithm container. Either the image does not exist or its "
                f"permissions are incorrect. {denial}"
            )
        if "VpcConfig" in self._request:
            self._network = Network.of(self._request["VpcConfig"])
            denial = self._network.missing_right(self._role)
            if denial is not None:
                raise JobFailedError(
                    f"ClientError: Unable to create a network interface in your VPC. {denial}"
                )

    def _download(self) -> None:
        self._enter("Downloading")
        limit = self._request["StoppingCondition"]["MaxRuntimeInSeconds"]
        self._deadline = time.monotonic() + limit
        self._make_containers()
        sources = {
            channel["ChannelName"]: channel["DataSource"]
            for channel in self._request.get("InputDataConfig", [])
        }
        file_systems = {
            name: source["FileSystemDataSource"]
            for name, source in sources.items()
            if "FileSystemDataSource" in source
        }
        if self._network is not None:
            self._subnet_id = self._mounts.open(file_systems, self._network)
            self._attach(self._network, self._subnet_id)
        stored = {
            name: source["S3DataSource"] for name, source in sources.items() if "S3DataSource" in source
        }
        if (stored or "CheckpointConfig" in self._request) and not self._reaches_s3():
            raise channels.download_failed(_NO_ROUTE)
        self._fill(stored)

    def _fill(self, stored: dict[str, dict[str, Any]]) -> None:
        """Copy the data of the channels in File mode to each instance."""
        found = {name: channels.objects(self._storage, source) for name, source in stored.items()}
        for index, container in enumerate(self._containers):
            shares = {
                name: channels.share(found[name], source, index=index, instances=len(self._containers))
                for name, source in stored.items()
            }
            self._check_volume({name: sum(item.size for item in items) for name, items in shares.items()})
            for name, items in shares.items():
                channels.download(self._storage, items, container.channel(name), self._proceed)
        if "CheckpointConfig" in self._request:
            channels.download_checkpoints(
                self._storage,
                self._request["CheckpointConfig"]["S3Uri"],
                self._checkpoints(),
                self._proceed,
            )

    def _check_volume(self, sizes: dict[str, int]) -> None:
        data = JobData(request=JobRequest.of(self._request), sizes=sizes)
        for finding in check(DATA_RULES, data):
            raise channels.download_failed(f"Insufficient disk space. {finding.message}")

    def _train(self) -> None:
        self._enter("Training")
        binds = self._mounts.read()
        self._begun = True
        algorithm = self._request["AlgorithmSpecification"]
        command = [*algorithm["ContainerEntrypoint"], *algorithm.get("ContainerArguments", [])]
        environment = self._environment()
        for container in self._containers:
            log = self._open_log(container)
            container.start(
                command=command,
                environment=environment,
                binds=binds,
                # Isolated instances of one job still talk to each other, which ours do by way of the host.
                network=not self._isolated or len(self._containers) > 1,
                output=log.write,
                ended=self._at_end(container, log),
            )
        try:
            self._follow()
        except HaltedError:
            self._halt()
            raise
        finally:
            for container in self._containers:
                container.kill()
            for container in self._containers:
                container.join()
            self._mounts.close()

    def _follow(self) -> None:
        """Wait until all instances have ended well."""
        running = {container.host: container for container in self._containers}
        while running:
            told = self._listen(self._deadline - time.monotonic())
            if told is None:
                self._enter("Stopping")
                raise HaltedError("MaxRuntimeExceeded")
            host, code = told
            container = running.pop(host)
            if code != 0:
                raise JobFailedError(_algorithm_error(container.failure(), code))

    def _halt(self) -> None:
        """Give the job its time to save what it has."""
        for container in self._containers:
            container.terminate()
        deadline = time.monotonic() + self._in.durations.job_stopping
        for container in self._containers:
            container.join(max(0.0, deadline - time.monotonic()))

    def _upload(self) -> None:
        self._enter("Uploading")
        if not self._reaches_s3():
            raise JobFailedError(f"ClientError: Artifact upload failed:{_NO_ROUTE}")
        roots = [container.root for container in self._containers]
        artifacts.upload(self._storage, self._request, roots)
        if "CheckpointConfig" in self._request:
            artifacts.upload_checkpoints(
                self._storage,
                self._request["CheckpointConfig"]["S3Uri"],
                self._checkpoints(),
            )
        self._job.keep_model(artifacts.model_address(self._request))

    def _leave(self) -> None:
        for container in self._containers:
            container.kill()
            container.join()
            container.clear()
        with suppress(JobFailedError):  # the job has its ending already
            self._mounts.close()
        for interface in self._interfaces:
            ministack.delete_network_interface(interface)

    # Parts

    def _make_containers(self) -> None:
        shutil.rmtree(self._in.state, ignore_errors=True)  # a job of this name before a restart
        for host in instances.hosts(self._request):
            folder = self._in.state / host
            folder.mkdir(parents=True)
            container = Container(folder=folder, host=host, sealed=self._in.sealed)
            container.configure(instances.configuration(self._request, host=host, mapped=container.mapped))
            self._containers.append(container)

    def _attach(self, network: Network, subnet_id: str) -> None:
        """Put each instance into the subnet, which cannot be deleted meanwhile."""
        for container in self._containers:
            what = f"[Do not delete] SageMaker training job {self._job.name}, {container.host}"
            try:
                made = ministack.create_network_interface(subnet_id, list(network.security_group_ids), what)
            except ApiError as error:
                raise JobFailedError(f"ClientError: {error}") from error
            self._interfaces.append(made)

    def _environment(self) -> dict[str, str]:
        credentials = None
        if not self._isolated:
            sts = self._in.client("sts")
            credentials = sts.assume_role(RoleArn=self._role, RoleSessionName="SageMaker")["Credentials"]
        return instances.environment(
            self._request,
            arn=self._job.arn,
            region=ministack.region(),
            endpoint=self._in.client("s3").meta.endpoint_url,
            credentials=credentials,
        )

    def _open_log(self, container: Container) -> LogStream:
        name = f"{self._job.name}/{container.host}-{int(time.time())}"
        here = f"arn:aws:logs:{ministack.region()}:{ministack.account_id()}:log-group:{GROUP}"
        wanted = (
            ("logs:CreateLogGroup", here),
            ("logs:CreateLogStream", f"{here}:log-stream:{name}"),
            ("logs:PutLogEvents", f"{here}:log-stream:{name}"),
        )
        denied = any(ministack.role_allows(self._role, action, resource) for action, resource in wanted)
        return LogStream(path=container.log, name=name, client=None if denied else self._in.client("logs"))

    def _at_end(self, container: Container, log: LogStream) -> Callable[[int], None]:
        def tell(code: int) -> None:
            log.close()
            self._job.inbox.put((container.host, code))

        return tell

    def _checkpoints(self) -> Path:
        place = self._request["CheckpointConfig"].get("LocalPath", f"{PLACE}/checkpoints")
        return self._containers[0].root / place.removeprefix(f"{PLACE}/")

    @property
    def _isolated(self) -> bool:
        return self._request.get("EnableNetworkIsolation", False)

    def _reaches_s3(self) -> bool:
        return self._network is None or self._network.reaches_s3(self._subnet_id)

    # Waiting

    def _listen(self, seconds: float) -> tuple[str, int] | None:
        """What an instance ended with, or None when nothing came in time.

        Raises:
            HaltedError: the job is to stop.
            AbandonedError: the local AWS ends.
        """
        try:
            told = self._job.inbox.get(timeout=max(0.0, seconds))
        except Empty:
            return None
        if told is ABANDON:
            raise AbandonedError
        if told is STOP:
            raise HaltedError("Stopped")
        return told

    def _proceed(self) -> None:
        """Look up between two objects of a download, on any thread."""
        if self._job.abandoned:
            raise AbandonedError
        if self._job.status == "Stopping":
            raise HaltedError("Stopped")
        if time.monotonic() > self._deadline:
            raise HaltedError("MaxRuntimeExceeded")

    def _enter(self, secondary: str, reason: str | None = None) -> None:
        """Move the job on, and say so.

        Raises:
            HaltedError: it is being stopped.
        """
        if not self._job.enter(secondary, failure_reason=reason):
            raise HaltedError("Stopped")
        self._in.publish(self._job)


def _algorithm_error(written: str, code: int) -> str:
    """What SageMaker says of a container that failed: its /opt/ml/output/failure, and its exit code."""
    start, end = "AlgorithmError: ", f", exit code: {code}"
    return start + written.strip()[: _LONGEST_REASON - len(start) - len(end)] + end

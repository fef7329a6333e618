"""The file systems that a job mounts, all from one subnet."""

from collections.abc import Mapping
from typing import Any

from trainfeed.local.fsx import MountRefused
from trainfeed.local.sagemaker.admission import FileSystems
from trainfeed.local.sagemaker.container import Bind
from trainfeed.local.sagemaker.failures import JobFailedError
from trainfeed.local.sagemaker.network import Network


class Mounts:
    """What a job has mounted.

    Attributes:
        binds: the folders that its channels show.
    """

    def __init__(self, file_systems: FileSystems) -> None:
        self.binds: list[Bind] = []
        self._file_systems = file_systems
        self._open: list[Any] = []

    def open(self, sources: Mapping[str, dict[str, Any]], network: Network) -> str:
        """Mount what the channels name, from the first subnet that allows it.

        Args:
            sources: the FileSystemDataSource of each channel.
            network: where the job may run.

        Returns:
            The subnet in which the job runs.

        Raises:
            JobFailedError: no subnet does, or a directory is not there.
        """
        failure = None
        for subnet_id in network.subnet_ids:
            try:
                for name, source in sources.items():
                    self._mount(name, source, subnet_id, network)
            except JobFailedError as refused:
                failure = refused
                self.close()
            else:
                return subnet_id
        raise failure or JobFailedError("ClientError: VpcConfig names no subnet.")

    def close(self) -> None:
        """Unmount; what the job wrote is on the file systems from then on.

        Raises:
            JobFailedError: a file system could not hold it.
        """
        self.binds.clear()
        failure = None
        while self._open:
            try:
                self._open.pop().close()
            except MountRefused as refused:
                failure = JobFailedError(refused.reason)
        if failure is not None:
            raise failure

    def _mount(self, channel: str, source: dict[str, Any], subnet_id: str, network: Network) -> None:
        read_only = source["FileSystemAccessMode"] == "ro"
        try:
            mount = self._file_systems.mount(
                source["FileSystemId"],
                subnet_id=subnet_id,
                security_group_ids=list(network.security_group_ids),
            )
            self._open.append(mount)
            folder = mount.open(source["DirectoryPath"], read_only=read_only)
        except MountRefused as refused:
            raise JobFailedError(refused.reason) from refused
        self.binds.append(Bind(source=folder, channel=channel, read_only=read_only))

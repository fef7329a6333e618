"""The file systems that a job mounts, all from one subnet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainfeed.local.fsx import MountRefused
from trainfeed.local.sagemaker.admission import FileSystems
from trainfeed.local.sagemaker.container import Bind
from trainfeed.local.sagemaker.failures import JobFailedError
from trainfeed.local.sagemaker.network import Network


@dataclass(frozen=True, kw_only=True)
class _Mounted:
    """A folder of a mounted file system, and the channel it is for."""

    channel: str
    mount: Any
    directory_path: str
    read_only: bool


class Mounts:
    """What a job has mounted."""

    def __init__(self, file_systems: FileSystems) -> None:
        self._file_systems = file_systems
        self._mounted: list[_Mounted] = []

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

    def read(self) -> list[Bind]:
        """Give the folders that the channels show. First reads from S3 happen now, in the job's own time.

        Raises:
            JobFailedError: a file system cannot hold what is read.
        """
        try:
            return [
                Bind(
                    source=each.mount.open(each.directory_path, read_only=each.read_only),
                    channel=each.channel,
                    read_only=each.read_only,
                )
                for each in self._mounted
            ]
        except MountRefused as refused:
            raise JobFailedError(refused.reason) from refused

    def close(self) -> None:
        """Unmount; what the job wrote is on the file systems from then on.

        Raises:
            JobFailedError: a file system could not hold it.
        """
        failure = None
        while self._mounted:
            try:
                self._mounted.pop().mount.close()
            except MountRefused as refused:
                failure = JobFailedError(refused.reason)
        if failure is not None:
            raise failure

    def _mount(self, channel: str, source: dict[str, Any], subnet_id: str, network: Network) -> None:
        try:
            mount = self._file_systems.mount(
                source["FileSystemId"],
                subnet_id=subnet_id,
                security_group_ids=list(network.security_group_ids),
            )
            self._mounted.append(
                _Mounted(
                    channel=channel,
                    mount=mount,
                    directory_path=source["DirectoryPath"],
                    read_only=source["FileSystemAccessMode"] == "ro",
                )
            )
            mount.check(source["DirectoryPath"])
        except MountRefused as refused:
            raise JobFailedError(refused.reason) from refused

"""A file system as a training job mounts it, and why it cannot.

The texts are SageMaker's failure reasons where those are known:
https://github.com/aws/sagemaker-python-sdk/issues/2204
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from trainfeed.local import ministack
from trainfeed.local.fsx import network
from trainfeed.local.fsx.contents import Link, OutOfSpaceError
from trainfeed.local.fsx.repository import RepositoryError
from trainfeed.local.fsx.resources import FileSystem
from trainfeed.local.service import ApiError


class MountRefused(Exception):  # noqa: N818 - it is how a job fails, not an error of this code
    """The job cannot use the file system.

    Attributes:
        reason: the job's failure reason.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Mount:
    """A file system mounted for one job.

    Args:
        links: gives the links of the file system as they are now.
    """

    def __init__(self, file_system: FileSystem, links: Callable[[], list[Link]]) -> None:
        self._file_system = file_system
        self._links = links
        self._writable = False

    def open(self, directory_path: str, *, read_only: bool) -> Path:
        """Give a directory of this machine with all files of a folder; first reads from S3 happen now.

        Whoever opens it for reading alone must show it to the job so, for the files are the file system's
        own.

        Args:
            directory_path: DirectoryPath of the channel; it begins with the mount name.
            read_only: whether the job may only read; what it writes is then not looked at.

        Raises:
            MountRefused: there is no such folder, or the file system cannot hold its files.
        """
        with ministack.scope(self._file_system.owner, self._file_system.region):
            folder = self._find(directory_path)
            self._writable = self._writable or not read_only
            try:
                return self._file_system.contents.folder(folder)
            except OutOfSpaceError as error:
                raise MountRefused(f"{self._cannot(directory_path)} {error}.") from error

    def check(self, directory_path: str) -> None:
        """Refuse a folder that is not there; nothing is read yet.

        Raises:
            MountRefused: there is no such folder.
        """
        with ministack.scope(self._file_system.owner, self._file_system.region):
            self._find(directory_path)

    def _find(self, directory_path: str) -> str:
        file_system = self._file_system
        mount_name = file_system.lustre["MountName"]
        parts = [part for part in directory_path.split("/") if part]
        if not directory_path.startswith("/") or not parts or parts[0] != mount_name or ".." in parts:
            raise MountRefused(
                f"{self._cannot(directory_path)} Incorrect mount path. Please ensure the mount path "
                f"specified exists on the filesystem. It must begin with /{mount_name}, the mount name of "
                f"{file_system.id}."
            )
        for link in self._links():
            file_system.contents.follow(link)
        folder = "/".join(parts[1:])
        if not file_system.contents.is_folder(folder):
            raise MountRefused(
                f"{self._cannot(directory_path)} Incorrect mount path. Please ensure the mount path "
                f"specified exists on the filesystem. There is no folder /{folder} on {file_system.id}."
            )
        return folder

    def close(self) -> None:
        """Take what the job wrote: it must fit, and what the links export by themselves is exported.

        Raises:
            MountRefused: the job wrote more than the file system holds.
        """
        if self._writable:
            self._writable = False
            with ministack.scope(self._file_system.owner, self._file_system.region):
                self._take()

    def _take(self) -> None:
        try:
            self._file_system.contents.check_space()
        except OutOfSpaceError as error:
            raise MountRefused(
                f"ClientError: Writing to file system {self._file_system.id} failed. {error}."
            ) from error
        for link in self._links():
            try:
                self._file_system.contents.auto_export(link)
            except RepositoryError:
                # AWS writes failed exports to a log; the job is not told.
                continue

    def _cannot(self, directory_path: str) -> str:
        return (
            f"ClientError: Unable to mount file system: {self._file_system.id}, "
            f"directory path: {directory_path}."
        )


def check(file_system: FileSystem, subnet_id: str, security_group_ids: Iterable[str]) -> None:
    """Refuse a mount that the job's place in the network does not allow.

    Raises:
        MountRefused: the file system is not there for it.
    """
    problem = f"ClientError: Unable to mount file system: {file_system.id}."
    if file_system.lifecycle not in ("AVAILABLE", "UPDATING"):
        raise MountRefused(f"{problem} The file system is {file_system.lifecycle}, not AVAILABLE.")
    home = ministack.subnet(file_system.subnet_id)
    try:
        job = network.side(subnet_id, security_group_ids)
        servers = network.side(file_system.subnet_id, file_system.request["SecurityGroupIds"])
    except ApiError as error:
        raise MountRefused(f"{problem} {error}") from error
    here = ministack.subnet(subnet_id)
    if home is None or here is None or here["VpcId"] != home["VpcId"]:
        raise MountRefused(
            f"{problem} The subnet {subnet_id} is not in the VPC {file_system.vpc_id} of the file system."
        )
    if here["AvailabilityZone"] != home["AvailabilityZone"]:
        raise MountRefused(
            f"{problem} The subnet {subnet_id} is in Availability Zone {here['AvailabilityZone']}, and the "
            f"file system in {home['AvailabilityZone']}. Use the subnet {file_system.subnet_id}."
        )
    between = network.closed(servers, job)
    if between is not None:
        raise MountRefused(
            f"{problem} File system connection timed out. Please ensure that the file system is reachable "
            "and that the security groups of the job and of the file system allow Lustre traffic on TCP 988 "
            f"and 1018-1023 in both directions. Closed: {between}."
        )

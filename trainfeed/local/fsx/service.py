"""Amazon FSx for Lustre of the local AWS, and its doors for training jobs and for tests."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trainfeed.local.durations import Durations
from trainfeed.local.fsx import cloudformation, mounts
from trainfeed.local.fsx.associations import Associations
from trainfeed.local.fsx.contents import FileState, Link
from trainfeed.local.fsx.faults import Fault, Faults, Kind
from trainfeed.local.fsx.file_systems import FileSystems
from trainfeed.local.fsx.mounts import Mount, MountRefused
from trainfeed.local.fsx.repository import Repository
from trainfeed.local.fsx.resources import Association, FileSystem, Resources
from trainfeed.local.fsx.tagging import Tagging
from trainfeed.local.fsx.tasks import Tasks
from trainfeed.local.service import ApiError, JsonService


class FsxLustre:
    """FSx for Lustre.

    Args:
        durations: how long each lifecycle lasts.
        state: the directory of this machine that holds the files of the file systems.
        client: gives a boto3 client of the local AWS, by the name of the service.
    """

    def __init__(self, durations: Durations, state: Path, client: Callable[[str], Any]) -> None:
        repository = Repository(client)
        self._state = state
        self._faults = Faults()
        self._resources = Resources()
        tasks = Tasks(self._resources, durations, self._faults, repository)
        associations = Associations(
            self._resources, durations, self._faults, repository, tasks.import_metadata
        )
        file_systems = FileSystems(self._resources, durations, self._faults, repository, state)
        self.service = JsonService(
            name="fsx",
            target_prefix="AWSSimbaAPIService_v20180301",
            operations={
                **file_systems.operations,
                **associations.operations,
                **tasks.operations,
                **Tagging(self._resources).operations,
            },
        )

    def install(self) -> None:
        """Provide the CloudFormation types."""
        cloudformation.install(self.service)

    def reset(self) -> None:
        """Forget every file system, in every account and Region, and remove its files."""
        with self._resources.lock:
            self._resources.clear()
            self._faults.clear()
        shutil.rmtree(self._state, ignore_errors=True)

    def mount(self, file_system_id: str, *, subnet_id: str, security_group_ids: list[str]) -> Mount:
        """Mount a file system for a job that runs in a subnet with these security groups.

        Raises:
            MountRefused: the job cannot reach it.
        """
        try:
            file_system = self._resources.file_system(file_system_id)
        except ApiError as error:
            raise MountRefused(
                f"ClientError: Unable to mount file system: {file_system_id}. {error}"
            ) from error
        mounts.check(file_system, subnet_id, security_group_ids)
        return Mount(file_system, lambda: self._links(file_system))

    def fail_next(
        self,
        kind: Kind,
        *,
        message: str,
        lifecycle: str = "FAILED",
        failed_files: int | None = None,
    ) -> None:
        """Let the next of a kind end badly.

        Args:
            kind: `file-system` (its creation), `update` (of a file system), `association` or `task`.
            message: what FailureDetails says.
            lifecycle: how it ends; MISCONFIGURED for an association, SUCCEEDED for a task of which some files
                failed.
            failed_files: how many files a task fails to process; all where it is left out.
        """
        self._faults.add(kind, Fault(message=message, lifecycle=lifecycle, failed_files=failed_files))

    def turn(self, resource_id: str, lifecycle: str, message: str | None = None) -> None:
        """Turn a file system or an association that exists into another lifecycle state, as a failure would.

        Raises:
            ApiError: there is no such file system or association.
        """
        with self._resources.lock:
            found: FileSystem | Association = (
                self._resources.association(resource_id)
                if resource_id.startswith("dra-")
                else self._resources.file_system(resource_id)
            )
            found.lifecycle, found.failure = lifecycle, message

    def files(self, file_system_id: str) -> dict[str, FileState]:
        """The files of a file system by path, without the mount name, and where the bytes of each are.

        Raises:
            ApiError: there is no such file system.
        """
        file_system = self._resources.file_system(file_system_id)
        for link in self._links(file_system):
            file_system.contents.follow(link)
        return file_system.contents.states()

    def _links(self, file_system: FileSystem) -> list[Link]:
        with self._resources.lock:
            links = [
                each.link
                for each in self._resources.associations_of(file_system)
                if each.lifecycle in ("AVAILABLE", "UPDATING")
            ]
            return [*links, file_system.repository] if file_system.repository is not None else links

"""Data repository associations: the links between folders of a file system and folders of a bucket.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.durations import Durations
from trainfeed.local.fsx.contents import Link
from trainfeed.local.fsx.faults import Faults
from trainfeed.local.fsx.pages import filters, page
from trainfeed.local.fsx.repository import Repository, RepositoryError
from trainfeed.local.fsx.requests import configuration, events, judge, s3_link
from trainfeed.local.fsx.resources import Association, FileSystem, Resources, arn, new_id, tag_map
from trainfeed.local.service import ApiError, Operation
from trainfeed.rules.lustre import RULES as LUSTRE_RULES
from trainfeed.rules.s3_link import RULES as LINK_RULES
from trainfeed.sources import S3Link

#: What AWS says of the second of two associations made at the same time, whatever the bucket's policy.
#: https://github.com/hashicorp/terraform-provider-aws/issues/24678
_SECOND = (
    "Amazon FSx does not have the required permissions for the S3 bucket. Verify that FSx has correct "
    "permissions by checking the bucket policy."
)


class Associations:
    """The operations on associations.

    Args:
        import_metadata: makes the import task of an association that asked for it.
    """

    def __init__(
        self,
        resources: Resources,
        durations: Durations,
        faults: Faults,
        repository: Repository,
        import_metadata: Callable[[Association], None],
    ) -> None:
        self._resources = resources
        self._durations = durations
        self._faults = faults
        self._repository = repository
        self._import_metadata = import_metadata

    @property
    def operations(self) -> Mapping[str, Operation]:
        """The API operations by name."""
        return {
            "CreateDataRepositoryAssociation": self.create,
            "DescribeDataRepositoryAssociations": self.describe,
            "UpdateDataRepositoryAssociation": self.update,
            "DeleteDataRepositoryAssociation": self.delete,
        }

    # Creation

    def create(self, request: dict[str, Any]) -> dict[str, Any]:
        """Begin to link a folder; the metadata is imported after the link is AVAILABLE."""
        with self._resources.lock:
            made = self._resources.once("association", request, lambda: self._make(request))
            return {"Association": made.describe()}

    def _make(self, request: dict[str, Any]) -> Association:
        file_system = self._resources.file_system(request["FileSystemId"])
        asked = s3_link(request)
        self._check(file_system, asked)
        self._check_bucket(asked)
        association_id = new_id("dra")
        made = Association(
            id=association_id,
            arn=arn(f"association/{file_system.id}/{association_id}"),
            file_system=file_system,
            request=request,
            link=_link(asked),
            tags=tag_map(request),
        )
        at_the_same_time = any(
            each.lifecycle == "CREATING" for each in self._resources.associations_of(file_system)
        )
        self._resources.associations[made.id] = made
        ministack.later(self._durations.association_create, self._finish_creation, made, at_the_same_time)
        return made

    def _check(self, file_system: FileSystem, asked: S3Link) -> None:
        if file_system.lifecycle != "AVAILABLE":
            raise ApiError(
                "BadRequest",
                f"The file system {file_system.id} is {file_system.lifecycle}. A data repository association "
                "can be made on one that is AVAILABLE.",
            )
        others = tuple(s3_link(each.request) for each in self._resources.associations_of(file_system))
        value = configuration(file_system.request, region=file_system.region, links=(*others, asked))
        judge((*LUSTRE_RULES, *LINK_RULES), value, "fsx:CreateDataRepositoryAssociation")

    def _check_bucket(self, asked: S3Link) -> None:
        bucket = asked.uri.bucket
        region = self._repository.region(bucket)
        if region is None:
            # AWS words a missing bucket and missing rights alike.
            # https://github.com/aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow/issues/91
            raise ApiError(
                "BadRequest",
                "Amazon FSx is unable to validate access to the S3 bucket. Ensure the IAM role or user you "
                "are using has s3:Get*, s3:List* and s3:PutObject permissions to the S3 bucket prefix. The "
                f"bucket {bucket} does not exist.",
            )
        if region != ministack.region() and (asked.auto_import or asked.import_on_create):
            raise ApiError(
                "BadRequest",
                f"The S3 bucket {bucket} is in {region}, and the file system in {ministack.region()}. To "
                "import, both must be in the same Region.",
            )

    def _finish_creation(self, made: Association, at_the_same_time: bool) -> None:
        fault = self._faults.take("association")
        lifecycle, failure = "AVAILABLE", None
        if fault is not None:
            lifecycle, failure = fault.lifecycle, fault.message
        elif at_the_same_time:
            lifecycle, failure = "FAILED", _SECOND
        else:
            try:
                made.file_system.contents.attach(made.link)
            except RepositoryError:
                lifecycle, failure = "FAILED", _SECOND
        with self._resources.lock:
            # The file system may be on its way out, and its associations with it.
            if made.lifecycle != "CREATING" or made.id not in self._resources.associations:
                return
            made.lifecycle, made.failure = lifecycle, failure
            if lifecycle == "AVAILABLE" and made.request.get("BatchImportMetaDataOnCreate"):
                self._import_metadata(made)

    # Description

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        """The associations of these ids or filters, or all."""
        chosen = filters(request, ("file-system-id", "data-repository-type"))
        for kind in chosen.get("data-repository-type", []):
            if kind != "S3":
                raise ApiError(
                    "InvalidDataRepositoryType", f"There is no data repository type {kind!r}. Use S3."
                )
        with self._resources.lock:
            for file_system_id in chosen.get("file-system-id", []):
                self._resources.file_system(file_system_id)
            wanted = request.get("AssociationIds")
            found = (
                [self._resources.association(each) for each in wanted]
                if wanted
                else list(self._resources.associations.values())
            )
            if "file-system-id" in chosen:
                found = [each for each in found if each.file_system.id in chosen["file-system-id"]]
            shown, following = page([each.describe() for each in found], request, 25)
            return {"Associations": shown, "NextToken": following}

    # Update

    def update(self, request: dict[str, Any]) -> dict[str, Any]:
        """Begin to change what an association follows; a MISCONFIGURED one is put right by it.

        https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html
        """
        with self._resources.lock:
            association = self._resources.association(request["AssociationId"])
            if association.lifecycle not in ("AVAILABLE", "MISCONFIGURED"):
                raise ApiError(
                    "BadRequest",
                    f"The association {association.id} is {association.lifecycle}. Only one that is "
                    "AVAILABLE or MISCONFIGURED can be updated.",
                )
            s3 = {**association.request.get("S3", {}), **request.get("S3", {})}
            changed = {
                **association.request,
                "S3": s3,
                "ImportedFileChunkSize": request.get(
                    "ImportedFileChunkSize", association.request.get("ImportedFileChunkSize", 1024)
                ),
            }
            association.lifecycle, association.failure = "UPDATING", None
            ministack.later(self._durations.association_update, self._finish_update, association, changed)
            return {"Association": association.describe()}

    def _finish_update(self, association: Association, changed: dict[str, Any]) -> None:
        contents, before = association.file_system.contents, association.link
        after = replace(
            before,
            auto_import=frozenset(events(changed["S3"], "AutoImportPolicy")),
            auto_export=frozenset(events(changed["S3"], "AutoExportPolicy")),
        )
        lifecycle, failure = "AVAILABLE", None
        try:
            contents.follow(before)
            contents.attach(after)
        except RepositoryError:
            lifecycle, failure = "MISCONFIGURED", _SECOND
        with self._resources.lock:
            if association.lifecycle == "UPDATING":
                association.request, association.link = changed, after
                association.lifecycle, association.failure = lifecycle, failure

    # Deletion

    def delete(self, request: dict[str, Any]) -> dict[str, Any]:
        """Begin to unlink a folder; its files stay unless DeleteDataInFileSystem is set."""
        with self._resources.lock:
            association = self._resources.association(request["AssociationId"])
            delete_files = request.get("DeleteDataInFileSystem", False)
            if association.lifecycle != "DELETING":
                association.lifecycle = "DELETING"
                ministack.later(
                    self._durations.association_delete, self._finish_deletion, association, delete_files
                )
            return {
                "AssociationId": association.id,
                "Lifecycle": "DELETING",
                "DeleteDataInFileSystem": delete_files,
            }

    def _finish_deletion(self, association: Association, delete_files: bool) -> None:
        with self._resources.lock:
            # The file system may be gone in the meantime, and its associations with it.
            if self._resources.associations.get(association.id) is None:
                return
            del self._resources.associations[association.id]
        association.file_system.contents.detach(association.link, delete_files=delete_files)


def _link(asked: S3Link) -> Link:
    return Link(
        path=asked.path.strip("/"),
        source=asked.uri,
        target=asked.uri,
        auto_import=frozenset(asked.auto_import),
        auto_export=frozenset(asked.auto_export),
    )

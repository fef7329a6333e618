"""API requests as the typed values that the rules judge."""

from typing import Any, TypeVar

from trainfeed.local.service import ApiError
from trainfeed.rules.lustre import LustreConfiguration
from trainfeed.rules.rule import Rule, refusal
from trainfeed.sources import DataEvent, S3Link, S3Uri

T = TypeVar("T")


def configuration(
    request: dict[str, Any], *, region: str, links: tuple[S3Link, ...] = ()
) -> LustreConfiguration:
    """A CreateFileSystem request with the defaults of the API."""
    lustre = request.get("LustreConfiguration", {})
    metadata = lustre.get("MetadataConfiguration", {})
    return LustreConfiguration(
        storage_capacity_gib=request.get("StorageCapacity"),
        deployment_type=lustre.get("DeploymentType", "SCRATCH_1"),
        storage_type=request.get("StorageType", "SSD"),
        per_unit_storage_throughput=lustre.get("PerUnitStorageThroughput"),
        throughput_capacity_mbps=lustre.get("ThroughputCapacity"),
        file_system_type_version=request.get("FileSystemTypeVersion"),
        data_compression_type=lustre.get("DataCompressionType", "NONE"),
        drive_cache_type=lustre.get("DriveCacheType"),
        kms_key_id=request.get("KmsKeyId"),
        efa_enabled=lustre.get("EfaEnabled", False),
        metadata_mode=metadata.get("Mode"),
        metadata_iops=metadata.get("Iops"),
        import_path=lustre.get("ImportPath"),
        export_path=lustre.get("ExportPath"),
        auto_import_policy=lustre.get("AutoImportPolicy"),
        imported_file_chunk_size_mib=lustre.get("ImportedFileChunkSize"),
        automatic_backup_retention_days=lustre.get("AutomaticBackupRetentionDays"),
        subnet_ids=tuple(request["SubnetIds"]),
        region=region,
        links=links,
    )


def s3_link(request: dict[str, Any]) -> S3Link:
    """A CreateDataRepositoryAssociation request as a link; its path is empty where none is given.

    Raises:
        ApiError: the path of the repository is no S3 address.
    """
    s3 = request.get("S3", {})
    return S3Link(
        uri=s3_uri(request["DataRepositoryPath"]),
        path=request.get("FileSystemPath", ""),
        import_on_create=request.get("BatchImportMetaDataOnCreate", False),
        auto_import=events(s3, "AutoImportPolicy"),
        auto_export=events(s3, "AutoExportPolicy"),
        imported_file_chunk_size_mib=request.get("ImportedFileChunkSize", 1024),
    )


def events(s3: dict[str, Any], policy: str) -> tuple[DataEvent, ...]:
    """The events of a policy, in the order of the API; none where there is no policy."""
    named = s3.get(policy, {}).get("Events", [])
    return tuple(event for event in DataEvent if event in named)


def s3_uri(text: str) -> S3Uri:
    """An S3 address of a request.

    Raises:
        ApiError: it is none.
    """
    try:
        return S3Uri.parse(text)
    except ValueError as error:
        raise ApiError("BadRequest", str(error)) from error


def judge(rules: tuple[Rule[T], ...], value: T, operation: str) -> None:
    """Refuse what the rules say that this operation refuses.

    Raises:
        ApiError: the first refusal.
    """
    refused = refusal(rules, value, operation)
    if refused is not None:
        reason, message = refused
        raise ApiError(reason.code, message)

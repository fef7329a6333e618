"""A Lustre file system as a plain value, for the rules to judge."""

from dataclasses import dataclass

from trainfeed.sources import S3Link


@dataclass(frozen=True, kw_only=True)
class LustreConfiguration:
    """A Lustre file system as it is asked for; None stands for a field left out of the request.

    Attributes:
        storage_capacity_gib: in GiB; None for Intelligent-Tiering alone.
        per_unit_storage_throughput: MB/s per TiB, of the persistent types alone.
        throughput_capacity_mbps: MB/s, of Intelligent-Tiering alone.
        metadata_mode: AUTOMATIC or USER_PROVISIONED, of PERSISTENT_2 alone.
        metadata_iops: with USER_PROVISIONED alone.
        export_overwrites_import: the export path may be the import path, overwriting the source.
        subnet_ids: None where the subnet is not settled yet.
        links: the data repository associations to be made on it.
        dataset_bytes: the size of the linked data where it is known.
    """

    storage_capacity_gib: float | None
    deployment_type: str = "SCRATCH_2"
    storage_type: str = "SSD"
    per_unit_storage_throughput: int | None = None
    throughput_capacity_mbps: int | None = None
    file_system_type_version: str | None = "2.15"
    data_compression_type: str = "LZ4"
    drive_cache_type: str | None = None
    kms_key_id: str | None = None
    efa_enabled: bool = False
    metadata_mode: str | None = None
    metadata_iops: int | None = None
    import_path: str | None = None
    export_path: str | None = None
    export_overwrites_import: bool = False
    auto_import_policy: str | None = None
    imported_file_chunk_size_mib: int | None = None
    automatic_backup_retention_days: int | None = None
    subnet_ids: tuple[str, ...] | None = None
    region: str | None = None
    links: tuple[S3Link, ...] = ()
    dataset_bytes: int | None = None

    @property
    def lustre_version(self) -> str:
        """The version the file system gets, AWS's default where none is asked for."""
        if self.file_system_type_version is not None:
            return self.file_system_type_version
        if self.deployment_type != "PERSISTENT_2":
            return "2.10"
        return "2.12" if self.metadata_mode is None else "2.15"


@dataclass(frozen=True, kw_only=True)
class LustreGrowth:
    """A new capacity asked of a file system that exists.

    Attributes:
        current: the file system as it is.
        storage_capacity_gib: the capacity it shall have, in GiB.
    """

    current: LustreConfiguration
    storage_capacity_gib: float

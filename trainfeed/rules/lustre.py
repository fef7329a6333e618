"""What FSx for Lustre accepts of a file system, before an hour is lost finding out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from trainfeed.rules.rule import Level, Refusal, Rule
from trainfeed.sources import S3Link

_CHECKED = date(2026, 11, 20)
_CREATE_FILE_SYSTEM = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"


@dataclass(frozen=True, kw_only=True)
class LustreConfiguration:
    """A Lustre file system as it is asked for; None stands for a field left out of the request.

    Attributes:
        storage_capacity_gib: in GiB.
        per_unit_storage_throughput: MB/s per TiB, of the persistent types alone.
        links: the data repository associations to be made on it.
        dataset_bytes: the size of the linked data where it is known.
    """

    storage_capacity_gib: float
    deployment_type: str = "SCRATCH_2"
    storage_type: str = "SSD"
    per_unit_storage_throughput: int | None = None
    file_system_type_version: str | None = "2.15"
    data_compression_type: str = "LZ4"
    kms_key_id: str | None = None
    efa_enabled: bool = False
    metadata_iops: int | None = None
    import_path: str | None = None
    export_path: str | None = None
    auto_import_policy: str | None = None
    imported_file_chunk_size_mib: int | None = None
    subnet_ids: tuple[str, ...] = ()
    region: str | None = None
    links: tuple[S3Link, ...] = ()
    dataset_bytes: int | None = None


def _capacity(value: LustreConfiguration) -> str | None:
    step, smallest = 2400, 1200
    given = value.storage_capacity_gib
    if value.deployment_type not in ("SCRATCH_2",) or given == smallest or (given > 0 and given % step == 0):
        return None
    return (
        f"A {value.deployment_type} file system of {given} GiB does not exist. Allowed: {smallest}, "
        f"{step}, then multiples of {step} GiB. Choose {_nearest(given, smallest, step)}."
    )


def _nearest(given: float, smallest: int, step: int) -> str:
    below = int(given // step) * step
    sizes: Sequence[int] = sorted({size for size in (below, below + step) if size > 0} or {smallest})
    return " or ".join(map(str, sizes))


RULES: tuple[Rule[LustreConfiguration], ...] = (
    Rule(
        id="LUSTRE-CAPACITY",
        level=Level.ERROR,
        statement="Each deployment type comes in its own sizes.",
        source=_CREATE_FILE_SYSTEM,
        checked=_CHECKED,
        reads=("deployment_type", "storage_capacity_gib"),
        violated=_capacity,
        refused_by=(Refusal(operation="fsx:CreateFileSystem", code="BadRequest"),),
    ),
)

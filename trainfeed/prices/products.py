"""What has a price here: its key in the book, its unit, and how people call it."""

from dataclasses import dataclass
from functools import cache

from trainfeed.prices.record import Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """Something AWS bills.

    Attributes:
        key: its name in a price book.
        title: as people call it.
        unit: what its price is asked for.
    """

    key: str
    title: str
    unit: Unit


_TRAINING = "sagemaker.training."
VOLUME = "sagemaker.volume"
SCRATCH_2 = "fsx.lustre.scratch-2"
S3_STANDARD = "s3.standard.storage"
S3_INTELLIGENT_TIERING = "s3.intelligent-tiering.storage"
S3_INTELLIGENT_TIERING_MONITORING = "s3.intelligent-tiering.monitoring"
S3_TIER1 = "s3.requests.tier-1"
S3_TIER2 = "s3.requests.tier-2"
EFS_STANDARD = "efs.standard.storage"
EFS_READ = "efs.elastic.read"
EFS_WRITE = "efs.elastic.write"
EFS_PROVISIONED = "efs.provisioned"
ENDPOINT = "vpc.interface-endpoint"
CROSS_ZONE = "vpc.cross-zone"


def training(instance_type: str) -> str:
    """The key of a training instance (`ml.g5.xlarge`)."""
    return _TRAINING + instance_type


@cache
def lustre(deployment_type: str, throughput: int | None = None) -> str:
    """The key of a Lustre file system's SSD storage.

    Args:
        deployment_type: as FSx spells it (`SCRATCH_2`, `PERSISTENT_2`).
        throughput: MB/s per TiB, which persistent file systems are priced by.
    """
    kind = f"fsx.lustre.{deployment_type.lower().replace('_', '-')}"
    return kind if throughput is None else f"{kind}.{throughput}"


@cache
def product(key: str) -> Product | None:
    """What a key stands for; None: nothing that is known here."""
    if key.startswith(_TRAINING + "ml."):
        return Product(key=key, title=f"{key.removeprefix(_TRAINING)} training", unit=Unit.HOUR)
    return PRODUCTS.get(key)


def _persistent(generation: int, throughput: int) -> Product:
    return Product(
        key=lustre(f"PERSISTENT_{generation}", throughput),
        title=f"Lustre Persistent {generation}-{throughput} storage",
        unit=Unit.GB_MONTH,
    )


#: All but the training instances, of which there are too many to list. Intelligent-Tiering's is of the
#: frequent access tier, its watch of objects from 128 KB on; an endpoint's is for each of its zones; a
#: transfer's is for each way.
PRODUCTS = {
    each.key: each
    for each in (
        Product(key=VOLUME, title="Training volume", unit=Unit.GB_MONTH),
        Product(key=SCRATCH_2, title="Lustre Scratch 2 storage", unit=Unit.GB_MONTH),
        *(_persistent(1, throughput) for throughput in (50, 100, 200)),
        *(_persistent(2, throughput) for throughput in (125, 250, 500, 1000)),
        Product(key=S3_STANDARD, title="S3 Standard storage", unit=Unit.GB_MONTH),
        Product(
            key=S3_INTELLIGENT_TIERING,
            title="S3 Intelligent-Tiering storage",
            unit=Unit.GB_MONTH,
        ),
        Product(
            key=S3_INTELLIGENT_TIERING_MONITORING,
            title="S3 Intelligent-Tiering watch",
            unit=Unit.THOUSAND_OBJECT_MONTHS,
        ),
        Product(key=S3_TIER1, title="S3 PUT and LIST requests", unit=Unit.THOUSAND_REQUESTS),
        Product(key=S3_TIER2, title="S3 GET requests", unit=Unit.THOUSAND_REQUESTS),
        Product(key=EFS_STANDARD, title="EFS Standard storage", unit=Unit.GB_MONTH),
        Product(key=EFS_READ, title="EFS Elastic reads", unit=Unit.GB),
        Product(key=EFS_WRITE, title="EFS Elastic writes", unit=Unit.GB),
        Product(key=EFS_PROVISIONED, title="EFS Provisioned throughput", unit=Unit.MIBPS_MONTH),
        Product(key=ENDPOINT, title="Interface endpoint", unit=Unit.HOUR),
        Product(key=CROSS_ZONE, title="Transfer between zones", unit=Unit.GB),
    )
}

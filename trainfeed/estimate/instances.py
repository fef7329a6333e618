"""What an instance can carry. The data is in `instances.csv`; `scripts/refresh-instances` writes it anew."""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

GIB = 2**30


class Instance(NamedTuple):
    """The sustained figures of one instance; bursts are left out.

    Attributes:
        vcpus: virtual CPUs, and so the parallel readers it has where nothing else is said.
        memory_bytes: main memory, which caches files.
        network: bytes a second of the card that speaks to S3 and file systems.
        ebs: bytes a second to its EBS volumes.
        nvme_bytes: its own disks; SageMaker then attaches no EBS volume.
        source: where the figures come from.
        known: False for a type that is not in the data, with cautious figures in its place.
    """

    vcpus: int
    memory_bytes: float
    network: float
    ebs: float
    nvme_bytes: float
    source: str
    known: bool = True


#: Stands for a type that is not in the data: the smallest GPU instance of the day, without its disk.
_UNKNOWN = Instance(
    vcpus=4, memory_bytes=16 * GIB, network=2.5e9 / 8, ebs=87.5e6, nvme_bytes=0, source="", known=False
)


def find(instance_type: str) -> Instance:
    """The figures of a type, as SageMaker spells it; an unknown type gets cautious ones."""
    return _instances().get(instance_type, _UNKNOWN)


def known() -> tuple[str, ...]:
    """The types in the data."""
    return tuple(_instances())


@cache
def _instances() -> dict[str, Instance]:
    lines = Path(__file__).with_name("instances.csv").read_text("utf-8").splitlines()
    return {
        row["instance_type"]: Instance(
            vcpus=int(row["vcpus"]),
            memory_bytes=float(row["memory_gib"]) * GIB,
            network=float(row["network_gbps"]) * 1e9 / 8,
            ebs=float(row["ebs_mb_per_second"]) * 1e6,
            nvme_bytes=float(row["nvme_gb"]) * 1e9,
            source=row["source"],
        )
        for row in csv.DictReader(lines)
    }

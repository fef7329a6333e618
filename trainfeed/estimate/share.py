"""What one instance of a job has to read."""

from typing import NamedTuple

from trainfeed.estimate.instances import GIB, Instance, find
from trainfeed.estimate.rates import (
    CACHED,
    GP2_EACH_GIB,
    GP2_FASTEST,
    GP2_LARGEST,
    GP2_OPERATIONS,
    GP2_SLOWEST,
    RANDOM_READ,
    S3_PART,
    VOLUME_LEAST,
)
from trainfeed.workload import Access, SamplesPerSecond, Workload

#: Room on a volume beside the data.
_BESIDE_DATA = 1.1


class Share(NamedTuple):
    """A workload, from where one of its instances stands.

    Attributes:
        workload: as stated.
        instance: what an instance can carry.
        instances: how many there are.
        readers: parallel readers of an instance.
        given_files: the files that an instance is given: all, or with sharding its part.
        given_bytes: their bytes.
        opens: what an instance opens or seeks to in an epoch: its part of the files, or of the random reads.
        read_bytes: what an instance reads in an epoch: its part of the dataset.
        cached: an instance keeps all it is given in memory once it has read it.
    """

    workload: Workload
    instance: Instance
    instances: int
    readers: int
    given_files: float
    given_bytes: float
    opens: float
    read_bytes: float
    cached: bool

    @property
    def requests(self) -> float:
        """GET requests of all instances in an epoch that streams from S3."""
        return self.instances * (self.opens + self.read_bytes / S3_PART)


def share(workload: Workload) -> Share:
    """The share of each instance; together they read the dataset once an epoch."""
    count, instance = workload.instance_count, find(workload.instance_type)
    parts = count if workload.sharded else 1
    given = workload.size_bytes / parts
    return Share(
        workload,
        instance,
        count,
        workload.loaders or instance.vcpus,
        workload.files / parts,
        given,
        max(workload.files, _random_reads(workload)) / count,
        workload.size_bytes / count,
        given <= CACHED * instance.memory_bytes,
    )


def _random_reads(workload: Workload) -> float:
    if workload.access is not Access.RANDOM:
        return 0
    if isinstance(workload.consumption, SamplesPerSecond):
        return workload.consumption.samples
    return workload.size_bytes / RANDOM_READ


def volume_gib(one: Share) -> int:
    """The EBS volume of an instance that copies the data: as stated, or with room for it; 0 beside NVMe."""
    if one.instance.nvme_bytes:
        return 0
    needed = int(one.given_bytes * _BESIDE_DATA / GIB) + int(VOLUME_LEAST)
    return one.workload.volume_size_gib or min(needed, int(GP2_LARGEST))


def volume_rate(gib: float) -> float:
    """Bytes a second of a gp2 volume, which is what SageMaker attaches."""
    return min(max(GP2_EACH_GIB * gib, GP2_SLOWEST), GP2_FASTEST)


def volume_operations(gib: float) -> float:
    """Operations a second of a gp2 volume."""
    return min(max(GP2_OPERATIONS * gib, 100), 16_000)


def room_gib(workload: Workload) -> float:
    """What an instance can hold of a dataset: its NVMe disk, the stated volume, or the largest there is."""
    nvme = find(workload.instance_type).nvme_bytes
    return nvme / GIB if nvme else float(workload.volume_size_gib or GP2_LARGEST)

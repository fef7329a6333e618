"""File mode: everything is copied to the instance's disk before the script starts."""

from trainfeed.estimate.copy import copied
from trainfeed.estimate.rates import S3_LISTED, S3_PART, S3_REQUESTS, Rates
from trainfeed.estimate.run import Reading, Used
from trainfeed.estimate.share import Share, volume_gib, volume_operations, volume_rate

_NVME = "File mode copies to NVMe no faster than it was measured to copy to EBS."


def read(one: Share, rates: Rates) -> tuple[Reading, Used]:
    """What File mode makes a job wait for."""
    instance, volume = one.instance, volume_gib(one)
    disk = min(volume_rate(volume), instance.ebs) if volume else float("inf")
    rate = min(rates.file_bytes, disk, instance.network)
    copying = one.given_files * rates.file_each + one.given_bytes / rate
    gets = one.instances * (one.given_files + one.given_bytes / S3_PART)
    # Memory still holds what was just written, if it fits.
    again = 0.0
    if volume and not one.cached:
        again = max(one.read_bytes / disk, one.opens / volume_operations(volume))
    copies = 1 + one.workload.restarts
    before, tier1 = copied(one)
    return (
        Reading(
            download=rates.channel + max(copying, gets / S3_REQUESTS),
            walk=0.0,
            first=again,
            later=again,
            before=before,
            download_note="all files to the instance's disk",
            assumptions=() if volume else (_NVME,),
        ),
        Used(
            tier1=copies * one.instances * one.given_files / S3_LISTED + tier1,
            tier2=copies * gets,
            stored=one.workload.size_bytes,
            volume_gib=volume,
        ),
    )

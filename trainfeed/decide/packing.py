"""The workload as it would be with its small files packed into containers."""

from dataclasses import replace

from trainfeed.decide.chart import CONTAINER_BYTES, SMALL_FILE_BYTES
from trainfeed.workload import Access, Workload


def packed(workload: Workload) -> Workload | None:
    """The workload on containers of about 150 MB; None where its files are large, or few already.

    A loader reads a container from front to back, so its reads are sequential.
    """
    if workload.mean_file_bytes > SMALL_FILE_BYTES:
        return None
    files = -(-workload.size_bytes // CONTAINER_BYTES)
    if files >= workload.files:
        return None
    return replace(workload, files=files, sizes=(), access=Access.SEQUENTIAL)

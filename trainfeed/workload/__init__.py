"""What a user states about data and training, as typed values, and how it is read."""

from trainfeed.workload.model import (
    Access,
    BytesPerSecond,
    Consumption,
    EfsState,
    EfsThroughput,
    Location,
    S3DataType,
    SamplesPerSecond,
    SecondsPerEpoch,
    SizeClass,
    Workload,
)
from trainfeed.workload.parse import FIELDS, WorkloadError, parse, read, stated

__all__ = [
    "FIELDS",
    "Access",
    "BytesPerSecond",
    "Consumption",
    "EfsState",
    "EfsThroughput",
    "Location",
    "S3DataType",
    "SamplesPerSecond",
    "SecondsPerEpoch",
    "SizeClass",
    "Workload",
    "WorkloadError",
    "parse",
    "read",
    "stated",
]

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

__all__ = [
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
]

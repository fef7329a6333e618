"""A workload that differs from the one stated in one respect."""

from dataclasses import replace

from trainfeed.decide.recommendation import Dimension
from trainfeed.workload import Consumption, SamplesPerSecond, SecondsPerEpoch, SizeClass, Workload


def value(workload: Workload, dimension: Dimension) -> float:
    """Where a workload stands."""
    match dimension:
        case Dimension.EPOCHS:
            return workload.epochs
        case Dimension.RUNS:
            return workload.runs_per_month
        case Dimension.DATASET:
            return workload.size_bytes
        case Dimension.FILE_SIZE:
            return workload.mean_file_bytes


def vary(workload: Workload, dimension: Dimension, to: float) -> Workload:
    """The same workload elsewhere: more files of the same sizes, or larger files of the same bytes."""
    match dimension:
        case Dimension.EPOCHS:
            return replace(workload, epochs=max(1, round(to)))
        case Dimension.RUNS:
            return replace(workload, runs_per_month=to)
        case Dimension.DATASET:
            return _grown(workload, to / workload.size_bytes)
        case Dimension.FILE_SIZE:
            return regrouped(workload, to)


def regrouped(workload: Workload, bytes_each: float) -> Workload:
    """The same bytes in files of another mean size: all alike, or a histogram stretched."""
    factor = bytes_each / workload.mean_file_bytes
    if not workload.sizes:
        return replace(workload, files=max(1, round(workload.size_bytes / bytes_each)))
    sizes = tuple(
        SizeClass(
            bytes_each=max(1, round(each.bytes_each * factor)), count=max(1, round(each.count / factor))
        )
        for each in workload.sizes
    )
    return replace(workload, sizes=sizes, files=sum(each.count for each in sizes))


def _grown(workload: Workload, factor: float) -> Workload:
    size = max(1, round(workload.size_bytes * factor))
    sizes = tuple(
        SizeClass(bytes_each=each.bytes_each, count=max(1, round(each.count * factor)))
        for each in workload.sizes
    )
    efs = workload.efs
    if efs is not None:
        efs = replace(efs, stored_bytes=max(size, efs.stored_bytes + size - workload.size_bytes))
    return replace(
        workload,
        size_bytes=size,
        files=max(1, round(workload.files * factor)),
        sizes=sizes,
        efs=efs,
        consumption=_consumption(workload.consumption, factor),
    )


def _consumption(stated: Consumption | None, factor: float) -> Consumption | None:
    """More data takes the model longer in proportion."""
    match stated:
        case SecondsPerEpoch():
            return SecondsPerEpoch(seconds=stated.seconds * factor)
        case SamplesPerSecond():
            return replace(stated, samples=max(1, round(stated.samples * factor)))
        case _:
            return stated

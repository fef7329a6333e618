"""How many recommendations a planner gets out of one core, and what one costs to start.

    python benchmarks/recommend.py [COUNT]

Sweeps COUNT (default 100,000) different workloads: dataset sizes, file sizes, epochs, runs a month, access,
instances. Prints processor time, which other programs on the machine do not lengthen much.
"""

import gc
import itertools
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date

from trainfeed.decide import Prefer, recommend
from trainfeed.prices import PriceBook
from trainfeed.workload import Access, BytesPerSecond, SecondsPerEpoch, Workload

#: A sweep of 100,000 is to end in this many seconds, and a command to have its answer in this part of one.
_SWEEP_SECONDS, _COMMAND_SECONDS = 100, 0.5
_STARTS, _SEARCHES = 5, 50
_ON = date(2026, 12, 1)
_MB, _GB = 10**6, 10**9


def workloads() -> Iterator[tuple[Workload, Prefer]]:
    """Different workloads, without end."""
    for round_ in itertools.count(1):
        for size, file, epochs, runs, access, instance, prefer in itertools.product(
            (_GB, 10 * _GB, 54 * _GB, 200 * _GB, 2000 * _GB),
            (39_000, _MB, 20 * _MB, 110 * _MB, _GB),
            (1, 3, 10, 50),
            (1, 10, 100),
            Access,
            ("ml.g5.2xlarge", "ml.p4d.24xlarge", "ml.m5.xlarge"),
            Prefer,
        ):
            bytes_ = size + round_ * _MB
            rate = BytesPerSecond(rate=80e6) if epochs % 2 else SecondsPerEpoch(seconds=bytes_ / 120e6)
            yield (
                Workload(
                    size_bytes=bytes_,
                    files=max(1, bytes_ // file),
                    instance_type=instance,
                    epochs=epochs,
                    runs_per_month=runs,
                    access=access,
                    consumption=rate,
                ),
                prefer,
            )


def sweep(count: int, *, flips: bool) -> float:
    """Processor seconds of so many recommendations."""
    book = PriceBook.shipped()
    given = list(itertools.islice(workloads(), count))
    gc.freeze()  # the garbage collector is not to walk through what the benchmark itself keeps
    began = time.process_time()
    for workload, prefer in given:
        recommend(workload, book, prefer=prefer, on=_ON, flips=flips)
    return time.process_time() - began


def command() -> float:
    """Processor seconds of `trainfeed recommend` from start to end, the least of a few."""
    start = "from trainfeed.cli import main; main()"
    line = [sys.executable, "-c", start, "recommend", "--size=54 GB", "--files=1,530,350"]
    line += ["--instance-type=ml.g5.2xlarge", "--epochs=10", "--consumption=330 images/s"]
    return min(_child_seconds(line) for _ in range(_STARTS))


def _child_seconds(line: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    took = sweep(count, flips=False)
    allowed = _SWEEP_SECONDS * count / 100_000
    print(f"{count:,} recommendations: {took:.1f} s, {allowed / took:.2f} times as fast as {allowed:g} s")
    searched = sweep(_SEARCHES, flips=True) / _SEARCHES
    print(f"one with the search for what would change it: {1000 * searched:.0f} ms")
    whole = command()
    print(f"trainfeed recommend, start to end: {whole:.2f} s of the processor (asked: {_COMMAND_SECONDS} s)")


if __name__ == "__main__":
    main()

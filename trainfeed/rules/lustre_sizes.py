"""The sizes in which Lustre file systems come.

Source: StorageCapacity of
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
"""

import math
from dataclasses import dataclass

#: The smallest and the step of a PERSISTENT_2 file system with EFA, in GiB, by its tier in MB/s per TiB.
#: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html#ip-addesses-for-fs
EFA_STEPS_GIB = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}

_HDD_STEPS_GIB = {12: 6000, 40: 1800}


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Some first sizes, then every multiple of a step, in GiB."""

    first: tuple[int, ...] = ()
    step: int

    def __contains__(self, gib: float) -> bool:
        return gib in self.first or (gib >= self.step and gib % self.step == 0)

    def __str__(self) -> str:
        listed = "".join(f"{size}, " for size in self.first)
        return f"{listed}{'then ' if listed else ''}multiples of {self.step} GiB"

    def nearest(self, gib: float, *, above: float = 0) -> str:
        """The valid sizes on either side of one that is not, in words; only those larger than `above`."""
        gib = max(gib, above, 1) if math.isfinite(gib) else 1
        multiple = int(gib // self.step) * self.step
        candidates = {*self.first, self.step, multiple, multiple + self.step} - {0}
        allowed = sorted(size for size in candidates if size > above)
        below = [size for size in allowed if size <= gib][-1:]
        return " or ".join(map(str, below + [size for size in allowed if size > gib][:1]))


def sizes(deployment_type: str, storage_type: str, tier: int | None) -> Sizes | None:
    """The sizes of a kind of file system, or None for a kind that has none of its own.

    Args:
        deployment_type: SCRATCH_1, SCRATCH_2, PERSISTENT_1 or PERSISTENT_2.
        storage_type: SSD or HDD; Intelligent-Tiering has no size.
        tier: MB/s per TiB, on which the sizes of HDD depend.
    """
    match deployment_type, storage_type:
        case "SCRATCH_1", "SSD":
            return Sizes(first=(1200, 2400), step=3600)
        case (("SCRATCH_2" | "PERSISTENT_1" | "PERSISTENT_2"), "SSD"):
            return Sizes(first=(1200,), step=2400)
        case "PERSISTENT_1", "HDD":
            step = _HDD_STEPS_GIB.get(tier or 0)
            return Sizes(step=step) if step else None
    return None

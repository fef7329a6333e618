"""What would change the answer, found by search over the estimate."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from trainfeed.decide.option import Option
from trainfeed.decide.recommendation import Dimension, Flip
from trainfeed.decide.vary import value, vary
from trainfeed.workload import Workload

#: How far to look: a dataset from a megabyte to a petabyte, and what else a workload may sensibly be.
_RANGES = {
    Dimension.EPOCHS: (1.0, 2000.0),
    Dimension.RUNS: (0.25, 2000.0),
    Dimension.DATASET: (1e8, 1e14),
    Dimension.FILE_SIZE: (1e3, 1e9),
}
#: The next value to look at is so many times the last: an answer that holds for less is passed over.
_STRIDE = 2.0
#: How closely a turning point is pinned down: by a hundredth, which is more than the estimate is worth.
_CLOSE = 1.01

Best = Callable[[Workload], Option | None]


def flips(workload: Workload, best: Best) -> tuple[Flip, ...]:
    """The nearest turning points, above and below in each dimension.

    Args:
        workload: as stated.
        best: chooses for a workload.
    """
    here = best(workload)
    if here is None:
        return ()
    searches = (_Search(workload=workload, best=best, here=here, dimension=each) for each in Dimension)
    return tuple(flip for search in searches for up in (True, False) if (flip := search.flip(up=up)))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Search:
    """A search in one dimension for the end of an answer."""

    workload: Workload
    best: Best
    here: Option
    dimension: Dimension

    def flip(self, *, up: bool) -> Flip | None:
        """Stride until the answer is another, then bisect the last stride."""
        low, high = _RANGES[self.dimension]
        if self.dimension is Dimension.FILE_SIZE:
            high = min(high, self.workload.size_bytes)
        same = value(self.workload, self.dimension)
        while (same < high) if up else (same > low):
            other = self._whole(min(same * _STRIDE, high) if up else max(same / _STRIDE, low))
            if there := self._another(other):
                at, to = self._pinned(same, other, there)
                return Flip(dimension=self.dimension, up=up, at=at, to=to.source, title=to.title)
            same = other
        return None

    def _pinned(self, same: float, other: float, there: Option) -> tuple[float, Option]:
        """Between a value with the same answer and one with another: where it turns, and to what."""
        while self._apart(same, other):
            middle = self._whole(sqrt(same * other))
            if middle in (same, other):
                middle = self._whole((same + other) / 2)
            if found := self._another(middle):
                other, there = middle, found
            else:
                same = middle
        return other, there

    def _another(self, at: float) -> Option | None:
        """The best way at a value, if it is another than here."""
        found = self.best(vary(self.workload, self.dimension, at))
        return None if found is None or found.way == self.here.way else found

    def _whole(self, at: float) -> float:
        return round(at) if self.dimension is Dimension.EPOCHS else at

    def _apart(self, same: float, other: float) -> bool:
        if self.dimension is Dimension.EPOCHS:
            return abs(other - same) > 1
        return max(same, other) > _CLOSE * min(same, other)

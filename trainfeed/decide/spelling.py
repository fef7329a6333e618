"""Names that may be slips of the pen: a Region or an instance type that nothing here knows."""

import difflib
from collections.abc import Iterable, Iterator

from trainfeed.estimate.instances import known
from trainfeed.rules.regions import LUSTRE_DEPLOYMENT_TYPES
from trainfeed.workload import Workload


def slips(workload: Workload, regions: Iterable[str]) -> Iterator[str]:
    """A sentence for each unknown name that is near a known one.

    Args:
        workload: what was stated.
        regions: Regions that are known beside those with Lustre: those with prices.
    """
    regions = {*LUSTRE_DEPLOYMENT_TYPES, *regions}
    yield from _slip("Region", workload.region, regions)
    yield from _slip("instance type", workload.instance_type, known())


def _slip(what: str, name: str, names: Iterable[str]) -> Iterator[str]:
    names = list(names)
    if name in names:
        return
    if near := difflib.get_close_matches(name, names, n=5, cutoff=0.8):
        # Letters that are swapped are the likeliest slip.
        meant = next((each for each in near if sorted(each) == sorted(name)), near[0])
        yield f"The {what} {name} is not known here. Did you mean {meant}?"

"""What to look out for with an answer."""

from collections.abc import Iterator

from trainfeed.decide.option import Market, Option
from trainfeed.decide.recommendation import Packing
from trainfeed.decide.words import count, money, seconds, si_bytes
from trainfeed.sources import SourceKind
from trainfeed.workload import Access, Location, Workload

#: So many names of stale prices are enough to make the point.
_NAMED = 3


def warnings(
    workload: Workload, chosen: Option | None, packing: Packing | None, market: Market
) -> Iterator[str]:
    """The warnings, the weightiest first."""
    if packing is not None and (chosen is None or not chosen.packed):
        yield _pack(workload, packing)
    if chosen is None:
        return
    if chosen.source is SourceKind.S3_FAST_FILE and workload.access is Access.RANDOM and not chosen.packed:
        yield (
            "FastFile serves random reads, each by a request to S3 of its own. Try it on a part of the data "
            "first; a file system answers random reads in under a millisecond."
        )
    if chosen.source is SourceKind.S3_PIPE:
        yield "Pipe mode is an older mode: the script reads a named pipe, front to back, instead of files."
    if chosen.source is SourceKind.S3_FILE and (workload.spot or workload.restarts):
        yield "After each Spot interruption File mode downloads the dataset anew, and that is billed."
    if chosen.kept:
        yield (
            "A kept file system bills all month, used or not, and Scratch 2 keeps no second copy: S3 must "
            "stay the home of the data."
        )
    if workload.location is Location.ELSEWHERE:
        yield (
            "The data must be copied to S3 first. If it cannot be, the script can read it from where it is: "
            "give the job no channel, the rights and the network, and record the data's version in tags."
        )
    if chosen.cost.at_least:
        names = ", ".join(item.name for item in chosen.cost.unknown)
        yield (
            f'Not known in {workload.region}: the price of {names}. What costs "at least" leaves it out; '
            'what costs "about", and the ranking, takes another Region\'s price.'
        )
    yield from _stale(chosen, market)


def _pack(workload: Workload, packing: Packing) -> str:
    gains = f"{money(packing.saved)} a run" if packing.saved > 0 else ""
    if packing.saved_seconds > 1:
        gains += f"{' and ' if gains else ''}{seconds(packing.saved_seconds)}"
    mean = si_bytes(workload.mean_file_bytes)
    small = f"The files are small ({mean} on average, {count(workload.files)} of them)"
    if not gains:
        return (
            f"{small}. Packing them would bring nothing with this job: it is not the reading that holds it."
        )
    each = si_bytes(workload.size_bytes / packing.files)
    return (
        f"{small}. Packed into {count(packing.files)} files of about {each} (TFRecord, WebDataset, "
        f"RecordIO), {packing.option.source} would be best and save {gains}."
    )


def _stale(chosen: Option, market: Market) -> Iterator[str]:
    stale = chosen.cost.stale(market.on)
    if not stale:
        return
    oldest = min(record.date for record in stale)
    more = f" and {len(stale) - _NAMED} more" if len(stale) > _NAMED else ""
    names = ", ".join(record.key for record in stale[:_NAMED])
    yield (
        f"Prices older than 180 days: {names}{more}, the oldest of {oldest}. "
        "`trainfeed prices refresh` reads today's."
    )

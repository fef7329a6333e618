"""What to look out for with an answer."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainfeed.decide.elsewhere import COMMON_INSTANCE
from trainfeed.decide.judge import findings
from trainfeed.decide.option import EVEN, SIMPLER_AT, Market, Option, options
from trainfeed.decide.recommendation import Packing
from trainfeed.decide.spelling import slips
from trainfeed.decide.words import count, money, seconds, si_bytes
from trainfeed.prices.products import training
from trainfeed.rules.choice import LONGEST_JOB
from trainfeed.sources import SourceKind
from trainfeed.workload import Access, Location, Workload

#: So many names of stale prices are enough to make the point.
_NAMED = 3
#: So many times the cheapest is worth a word, whatever was preferred.
_DEAR = 2
#: gp2 is at its fastest from this size on (rates.GP2_FASTEST).
_FAST_VOLUME_GIB = 334


def warnings(
    workload: Workload, ranking: Sequence[Option], packing: Packing | None, market: Market
) -> Iterator[str]:
    """The warnings, the weightiest first.

    Args:
        workload: what was asked about.
        ranking: what may be chosen, the best first.
        packing: what packing the files would bring.
        market: the prices.
    """
    chosen = ranking[0] if ranking else None
    yield from slips(workload, market.book.regions())
    if workload.consumption is None:
        yield (
            "State how fast the model trains (330 images/s, or 80 min/epoch). Without it, time and cost are "
            "the least they can be, and another answer may be right."
        )
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
    yield from _volume(workload, ranking, market)
    cheapest = min(ranking, key=lambda each: each.price)
    if chosen.price > _DEAR * cheapest.price:
        yield (
            f"It costs {chosen.price / cheapest.price:.1f} times as much as the cheapest way, "
            f"{cheapest.title} ({money(cheapest.price)} a run, {seconds(cheapest.estimate.total_seconds)})."
        )
    if chosen.kept:
        yield (
            "A run is timed on a file system that is already made and filled, which the first run waits for. "
            "A kept file system bills all month, used or not, and Scratch 2 keeps no second copy: S3 must "
            "stay the home of the data."
        )
    for found in findings(workload, chosen.source):
        yield f"{found.message} ({found.rule.id})"
    if chosen.estimate.billable_seconds * SIMPLER_AT > LONGEST_JOB:
        yield (
            f"The job is estimated at {seconds(chosen.estimate.billable_seconds)}, and SageMaker stops "
            "any job after 28 days: an estimate is not exact, so write checkpoints. (SOURCE-RUNTIME)"
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
            f'what costs "about", and the ranking, takes {_borrowed(workload, chosen)}.'
        )
    yield from _stale(chosen, market)


def _volume(workload: Workload, ranking: Sequence[Option], market: Market) -> Iterator[str]:
    """A larger volume is a faster one, and may pay for itself."""
    file = next((each for each in ranking if each.source is SourceKind.S3_FILE and not each.packed), None)
    if file is None or workload.volume_size_gib is not None or not file.estimate.usage.volume_gib_seconds:
        return
    # The fastest volume is not twice as fast as the slowest.
    if file.price > 2 * ranking[0].price:
        return
    if file.estimate.usage.volume_gib_seconds >= _FAST_VOLUME_GIB * file.estimate.usage.instance_seconds:
        return
    (larger,) = options(replace(workload, volume_size_gib=_FAST_VOLUME_GIB), SourceKind.S3_FILE, market)
    took, takes = file.estimate.total_seconds, larger.estimate.total_seconds
    pays = EVEN * takes < took and larger.price < file.price
    if pays and float(larger.price) < EVEN * float(ranking[0].price):
        yield (
            f"A volume of {_FAST_VOLUME_GIB} GiB is faster than one that just holds the data: with it, S3 "
            f"File costs {money(larger.price)} a run and takes {seconds(takes)} (--volume-size)."
        )


def _borrowed(workload: Workload, chosen: Option) -> str:
    own = training(workload.instance_type)
    keys = {item.price.key for item in chosen.compared.line_items if item.price}
    if own in keys:
        return "another Region's price"
    other = next((key for key in keys if key.startswith(training(""))), "").removeprefix(training(""))
    if other.rpartition(".")[0] == workload.instance_type.rpartition(".")[0]:
        return f"the price of {other} in proportion to virtual CPUs for the instance"
    return f"the price of {COMMON_INSTANCE} for the instance, which may be far off"


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
    ordered = " and read in order" if workload.access is Access.RANDOM else ""
    return (
        f"{small}. Packed into {count(packing.files)} files of about {each} (TFRecord, WebDataset, "
        f"RecordIO){ordered}, {packing.option.source} would be best and save {gains}."
    )


def _stale(chosen: Option, market: Market) -> Iterator[str]:
    stale = [item for item in chosen.cost.line_items if item.price and item.price.stale(market.on)]
    if not stale:
        return
    oldest = min(item.price.date for item in stale if item.price)
    more = f" and {len(stale) - _NAMED} more" if len(stale) > _NAMED else ""
    names = ", ".join(item.name for item in stale[:_NAMED])
    yield (
        f"Prices older than 180 days: {names}{more}, the oldest of {oldest}. "
        "`trainfeed prices refresh` reads today's."
    )

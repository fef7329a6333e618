"""FastFile and Pipe: the data streams from S3 while the model trains, in each epoch anew."""

from trainfeed.estimate.copy import copied
from trainfeed.estimate.rates import S3_LISTED, S3_REQUESTS, S3_STREAM, Rates
from trainfeed.estimate.run import Reading, Used
from trainfeed.estimate.share import Share

_PIPE = "Pipe is taken to be as fast as FastFile; no measurement of it is known."


def read(one: Share, rates: Rates, *, pipe: bool) -> tuple[Reading, Used]:
    """What FastFile makes a job wait for, or Pipe, which is taken to be like it."""
    stream, (before, tier1) = _stream(one, rates), copied(one)
    return (
        Reading(
            download=rates.channel + one.given_files / rates.fast_file_listed,
            walk=one.given_files / rates.walked,
            first=stream,
            later=stream,
            before=before,
            download_note="a listing of the files",
            assumptions=(_PIPE,) if pipe else (),
        ),
        _used(one, tier1),
    )


def _stream(one: Share, rates: Rates) -> float:
    """Seconds of an epoch: readers wait side by side; network and S3's own limit bind them together."""
    waiting = (one.opens * rates.fast_file_open + one.read_bytes / S3_STREAM) / one.readers
    return max(waiting, one.read_bytes / one.instance.network, one.requests / S3_REQUESTS)


def _used(one: Share, tier1: float) -> Used:
    listings = (1 + one.workload.restarts) * one.instances * one.given_files / S3_LISTED
    return Used(
        tier1=listings + tier1,
        tier2=one.workload.epochs * one.requests,
        stored=one.workload.size_bytes,
    )

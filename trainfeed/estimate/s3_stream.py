"""FastFile and Pipe: the data streams from S3 while the model trains, in each epoch anew."""

from trainfeed.estimate.copy import copied
from trainfeed.estimate.rates import S3_LISTED, S3_REQUESTS, S3_STREAM, Rates
from trainfeed.estimate.run import Reading, Used
from trainfeed.estimate.share import Share

_PIPE = "Pipe is taken to stream as FastFile does; no measurement of it is known."


def read_fast_file(one: Share, rates: Rates) -> tuple[Reading, Used]:
    """What FastFile makes a job wait for."""
    stream, before, tier1 = _stream(one, rates), *copied(one)
    return (
        Reading(
            download=rates.channel + one.given_files / rates.fast_file_listed,
            walk=one.given_files / rates.walked,
            first=stream,
            later=stream,
            before=before,
            download_note="a listing of the files",
        ),
        _used(one, tier1),
    )


def read_pipe(one: Share, rates: Rates) -> tuple[Reading, Used]:
    """What Pipe makes a job wait for: no folder is listed, the script reads what comes."""
    stream, before, tier1 = _stream(one, rates), *copied(one)
    return (
        Reading(
            download=rates.channel,
            walk=0.0,
            first=stream,
            later=stream,
            before=before,
            download_note="the pipe is opened",
            assumptions=(_PIPE,),
        ),
        _used(one, tier1),
    )


def _stream(one: Share, rates: Rates) -> float:
    """Seconds of an epoch: readers wait side by side; network and S3's own limit bind them together."""
    waiting = (one.opens * rates.fast_file_open + one.read_bytes / S3_STREAM) / one.readers
    return max(waiting, one.read_bytes / one.instance.network, one.requests / S3_REQUESTS)


def _used(one: Share, tier1: float) -> Used:
    listings = (1 + one.workload.restarts) * one.count * one.given_files / S3_LISTED
    return Used(
        tier1=listings + tier1,
        tier2=one.workload.epochs * one.requests,
        stored=one.workload.size_bytes,
    )

"""The estimate of any source."""

from trainfeed.estimate import efs, lustre, s3_file, s3_stream
from trainfeed.estimate.rates import FITTED, Rates
from trainfeed.estimate.result import EPHEMERAL, Estimate, LustrePlan
from trainfeed.estimate.run import finish, phases
from trainfeed.estimate.share import share
from trainfeed.sources import SourceKind
from trainfeed.workload import Workload


def estimate(
    workload: Workload, source: SourceKind, *, plan: LustrePlan = EPHEMERAL, rates: Rates = FITTED
) -> Estimate:
    """How long a run takes with a source, and what it uses.

    It answers for sources that a rule excludes too; whether they may be chosen is not decided here.

    Args:
        workload: data and training.
        source: where the job reads from.
        plan: how a Lustre file system is used; without meaning for other sources.
        rates: the measured constants, which calibration varies.
    """
    one = share(workload)
    match source:
        case SourceKind.S3_FILE:
            reading, used = s3_file.read(one, rates)
        case SourceKind.S3_FAST_FILE | SourceKind.S3_PIPE:
            reading, used = s3_stream.read(one, rates, pipe=source is SourceKind.S3_PIPE)
        case SourceKind.LUSTRE:
            reading, used = lustre.read(one, rates, plan)
        case SourceKind.EFS:
            reading, used = efs.read(one, rates)
    return finish(source, one, phases(one, reading, rates), used, reading.assumptions)

"""How fast things go: every figure the estimate rests on, with its unit, its meaning and its source.

Two kinds. Eight are measured: `trainfeed.estimate.calibration` fits them to the case study of the AWS post,
and `scripts/calibrate` does so again for anyone. The others are what AWS documents, or, where nothing is
documented, what is assumed; each says so.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

_POST = (
    "https://aws.amazon.com/blogs/machine-learning/"
    "choose-the-best-data-source-for-your-amazon-sagemaker-training-job/"
)
CASE_STUDY = "https://github.com/aws-samples/sagemaker-bencher"
_GUIDE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide"
_EFS = "https://docs.aws.amazon.com/efs/latest/ug/performance.html"
_GP2 = "https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html"
_S3 = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html"


class Constant(NamedTuple):
    """A figure of the estimate.

    Attributes:
        name: by which it is found here.
        value: in its unit.
        unit: such as `s/file`.
        meaning: what it says, in a sentence.
        source: the address of the page or data it is from; empty for an assumption.
        fitted: it is measured, by fitting the estimate to the case study.
    """

    name: str
    value: float
    unit: str
    meaning: str
    source: str
    fitted: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """The eight fitted constants; none belongs to one scenario or one job.

    Attributes:
        image: seconds to pull the image and start the container; a download runs beside it.
        framework: seconds from the container's start to the first step and from the last to the end.
        channel: seconds to make a channel ready, whatever its size.
        file_each: File mode's seconds for each file it copies, besides its bytes.
        file_bytes: bytes a second at which File mode copies, if neither volume nor network is slower.
        fast_file_listed: objects a second that FastFile lists before the job starts.
        fast_file_open: FastFile's seconds for a reader to open and fetch one file, besides its bytes.
        walked: files a second at which a script lists a folder of FastFile or of a file system.
    """

    image: float
    framework: float
    channel: float
    file_each: float
    file_bytes: float
    fast_file_listed: float
    fast_file_open: float
    walked: float


#: What `scripts/calibrate` finds.
FITTED = Rates(
    image=146.7,
    framework=60.3,
    channel=13.6,
    file_each=0.00702,
    file_bytes=166.9e6,
    fast_file_listed=9560.0,
    fast_file_open=0.0482,
    walked=5210.0,
)

_FITTED_UNITS = {
    "image": ("s", "Pulling the image and starting the container; a download runs beside it."),
    "framework": ("s", "Starting the framework and the model, and ending the script."),
    "channel": ("s", "Making a channel ready, whatever its size."),
    "file_each": ("s/file", "File mode, for each file it copies, besides its bytes."),
    "file_bytes": ("B/s", "File mode's copying, where neither volume nor network is slower."),
    "fast_file_listed": ("objects/s", "FastFile's listing before the job starts."),
    "fast_file_open": ("s/file", "One reader of FastFile opening and fetching a file, besides its bytes."),
    "walked": ("files/s", "A script's own listing of a folder of FastFile or of a file system."),
}

_documented: list[Constant] = []


def _known(name: str, value: float, unit: str, meaning: str, source: str = "") -> float:
    _documented.append(Constant(name=name, value=value, unit=unit, meaning=meaning, source=source))
    return value


START = _known("START", 116.3, "s", "Finding instances; not billed. Mean of 36 jobs.", CASE_STUDY)
UPLOAD = _known("UPLOAD", 5.4, "s", "Uploading a small model. Mean of 36 jobs.", CASE_STUDY)

S3_STREAM = _known(
    "S3_STREAM",
    85e6,
    "B/s",
    "One connection to S3; as many run beside each other as there are readers.",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance-design-patterns.html",
)
S3_REQUESTS = _known("S3_REQUESTS", 5500, "requests/s", "GET and HEAD of one prefix.", _S3)
S3_LISTED = _known(
    "S3_LISTED",
    1000,
    "objects/request",
    "Objects that one LIST request names.",
    "https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html",
)
S3_PART = _known("S3_PART", 8 * 2**20, "B/request", "Bytes that one GET fetches of a large file. Assumed.")
RANDOM_READ = _known(
    "RANDOM_READ", 256 * 2**10, "B/read", "A random read where the samples are not counted. Assumed."
)

GP2_SLOWEST = _known("GP2_SLOWEST", 128 * 2**20, "B/s", "A gp2 volume of at most 170 GiB.", _GP2)
GP2_FASTEST = _known("GP2_FASTEST", 250 * 2**20, "B/s", "A gp2 volume from 334 GiB on.", _GP2)
GP2_EACH_GIB = _known(
    "GP2_EACH_GIB", 0.75 * 2**20, "B/s/GiB", "gp2 between these: 3 operations of 256 KiB a second.", _GP2
)
GP2_OPERATIONS = _known("GP2_OPERATIONS", 3, "1/s/GiB", "Operations of gp2; 100 to 16,000.", _GP2)
GP2_LARGEST = _known("GP2_LARGEST", 16384, "GiB", "The largest gp2 volume.", _GP2)
VOLUME_LEAST = _known(
    "VOLUME_LEAST",
    30,
    "GiB",
    "A volume for code, image layers and model where no data is copied to it: the SDK's default.",
    "https://sagemaker.readthedocs.io/en/stable/api/training/estimators.html",
)
CACHED = _known(
    "CACHED",
    0.75,
    "of memory",
    "Memory that keeps files once read, so that none is read again. Assumed.",
)

LUSTRE_CREATE = _known(
    "LUSTRE_CREATE",
    480,
    "s",
    "Creating a file system and its link; logs of public runs show 6 to 10 minutes.",
    "https://github.com/hashicorp/terraform-provider-aws/pull/22291",
)
LUSTRE_DELETE = _known(
    "LUSTRE_DELETE",
    330,
    "s",
    "Deleting it: creating and destroying one took 814 s together.",
    "https://github.com/hashicorp/terraform-provider-aws/pull/22291",
)
LUSTRE_IMPORTED = _known(
    "LUSTRE_IMPORTED", 2_000_000 / 3600, "objects/s", "Importing metadata: 2 million objects an hour.", _POST
)
LUSTRE_BASELINE = _known(
    "LUSTRE_BASELINE", 200e6, "B/s/TiB", "Scratch 2, reading from its disks.", f"{_GUIDE}/ssd-storage.html"
)
LUSTRE_FROM_MEMORY = _known(
    "LUSTRE_FROM_MEMORY",
    1300e6,
    "B/s/TiB",
    "Scratch 2, bursting, reading from its servers' memory.",
    f"{_GUIDE}/ssd-storage.html",
)
LUSTRE_MEMORY = _known(
    "LUSTRE_MEMORY",
    6.7 * 2**30,
    "B/TiB",
    "Its servers' memory, which caches.",
    f"{_GUIDE}/ssd-storage.html",
)
LUSTRE_FILLED = _known(
    "LUSTRE_FILLED", 100e6, "B/s/TiB", "Scratch 2, writing what comes from S3.", f"{_GUIDE}/ssd-storage.html"
)
LUSTRE_CLIENT = _known(
    "LUSTRE_CLIENT",
    5e9 / 8,
    "B/s",
    "One instance from one of the servers, of which each 1.2 TiB have one.",
    f"{_GUIDE}/performance.html",
)
LUSTRE_OPEN = _known(
    "LUSTRE_OPEN",
    0.002,
    "s/file",
    "Opening and reading a loaded file: two trips of less than a millisecond.",
    f"{_GUIDE}/performance.html",
)
LUSTRE_FETCH = _known(
    "LUSTRE_FETCH",
    0.0243,
    "s/file",
    "A reader's first read of a file that is still in S3: at most this, since in the case study 8 readers "
    "kept up with 329 files a second. Whether its files were still in S3 is not recorded; others saw more.",
    CASE_STUDY,
)
LUSTRE_FETCHED = _known(
    "LUSTRE_FETCHED",
    90e6,
    "B/s",
    "A reader's first read of a large file that is still in S3: 455 MB in 4 to 6.7 s.",
    "https://www.hpcworkshops.com/04-amazon-fsx-for-lustre/03-lazy-loading.html",
)
LUSTRE_PRELOADERS = _known(
    "LUSTRE_PRELOADERS",
    8,
    "readers",
    "Parallel readers of a preload.",
    f"{_GUIDE}/preload-file-contents-hsm-dra.html",
)
LUSTRE_ROOM = _known(
    "LUSTRE_ROOM", 1.1, "of the data", "Capacity to provision: the file system needs some itself. Assumed."
)

EFS_CLIENT = _known("EFS_CLIENT", 500 * 2**20, "B/s", "One instance.", _EFS)
EFS_ELASTIC = _known("EFS_ELASTIC", 20 * 2**30, "B/s", "Reading from an Elastic file system.", _EFS)
EFS_OTHERS = _known("EFS_OTHERS", 3 * 2**30, "B/s", "Reading from any other, at most.", _EFS)
EFS_READ_DISCOUNT = _known("EFS_READ_DISCOUNT", 3, "times", "Reads count as a third of their bytes.", _EFS)
EFS_BASELINE = _known(
    "EFS_BASELINE",
    50 * 2**10 / 2**30,
    "B/s/B",
    "Bursting: baseline, 50 KiB/s for a GiB stored.",
    _EFS,
)
EFS_FLOOR = _known("EFS_FLOOR", 2**20, "B/s", "Bursting: the least baseline.", _EFS)
EFS_BURST = _known(
    "EFS_BURST", 100 * 2**20 / 2**40, "B/s/B", "Bursting: burst, 100 MiB/s for a TiB stored.", _EFS
)
EFS_BURST_LEAST = _known("EFS_BURST_LEAST", 100 * 2**20, "B/s", "Bursting: the least burst.", _EFS)
EFS_OPEN = _known(
    "EFS_OPEN", 0.003, "s/file", "Opening, reading and closing a file: three trips of a millisecond.", _EFS
)


def constants() -> tuple[Constant, ...]:
    """Every constant: the fitted ones first, then the documented and the assumed."""
    fitted = tuple(
        Constant(
            name=each.name,
            value=getattr(FITTED, each.name),
            unit=_FITTED_UNITS[each.name][0],
            meaning=_FITTED_UNITS[each.name][1],
            source=CASE_STUDY,
            fitted=True,
        )
        for each in fields(Rates)
    )
    return fitted + tuple(_documented)

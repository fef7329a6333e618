"""What FSx for Lustre accepts of a file system, before an hour is lost finding out."""

from datetime import date
from functools import partial

from trainfeed.rules import lustre_paths
from trainfeed.rules.lustre_configuration import LustreConfiguration, LustreGrowth
from trainfeed.rules.lustre_sizes import EFA_STEPS_GIB, Sizes, sizes
from trainfeed.rules.regions import LUSTRE_DEPLOYMENT_TYPES, LUSTRE_SMALL_TIERS
from trainfeed.rules.rule import Level, Refusal, Rule

__all__ = ["GROWTH_RULES", "RULES", "LustreConfiguration", "LustreGrowth"]

_CHECKED = date(2026, 11, 20)
_CREATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_CONFIGURATION = (
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
)
_UPDATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html"
_GUIDE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide"
_BAD_REQUEST = (Refusal(operation="fsx:CreateFileSystem", code="BadRequest"),)

DEPLOYMENT_TYPES = ("SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2")
STORAGE_TYPES = ("SSD", "HDD", "INTELLIGENT_TIERING")
LUSTRE_VERSIONS = ("2.10", "2.12", "2.15")
COMPRESSION_TYPES = ("NONE", "LZ4")
DRIVE_CACHE_TYPES = ("NONE", "READ")

_TIERS = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
_STORAGE_OF = {
    "SCRATCH_1": ("SSD",),
    "SCRATCH_2": ("SSD",),
    "PERSISTENT_1": ("SSD", "HDD"),
    "PERSISTENT_2": ("SSD", "INTELLIGENT_TIERING"),
}


def _one_of(allowed: tuple[str, ...]) -> str:
    return f"Allowed: {', '.join(allowed)}."


def _given(value: object) -> str:
    return "nothing" if value is None else str(value)


def _deployment_type(value: LustreConfiguration) -> str | None:
    if value.deployment_type in DEPLOYMENT_TYPES:
        return None
    return f"There is no deployment type {value.deployment_type!r}. {_one_of(DEPLOYMENT_TYPES)}"


def _storage_type(value: LustreConfiguration) -> str | None:
    allowed = _STORAGE_OF.get(value.deployment_type, STORAGE_TYPES)
    if value.storage_type in allowed:
        return None
    return f"{value.deployment_type} has no {value.storage_type} storage. {_one_of(allowed)}"


def _capacity(value: LustreConfiguration) -> str | None:
    given = value.storage_capacity_gib
    if value.storage_type == "INTELLIGENT_TIERING":
        if given is None:
            return None
        return (
            f"Intelligent-Tiering storage grows by itself and takes no capacity; {given:.12g} GiB was given. "
            "Leave it out and set the throughput capacity."
        )
    known = sizes(value.deployment_type, value.storage_type, value.per_unit_storage_throughput)
    if known is None or (given is not None and given in known):
        return None
    kind = f"{value.deployment_type} {value.storage_type} file system"
    if given is None:
        return f"A {kind} needs a storage capacity. Allowed: {known}. The smallest is {known.nearest(0)}."
    return f"A {kind} of {given:.12g} GiB does not exist. Allowed: {known}. Choose {known.nearest(given)}."


def _tier(value: LustreConfiguration) -> str | None:
    given = value.per_unit_storage_throughput
    allowed = _TIERS.get((value.deployment_type, value.storage_type), ())
    if allowed and value.deployment_type == "PERSISTENT_2" and value.region in LUSTRE_SMALL_TIERS:
        allowed = allowed[:2]
    kind = f"{value.deployment_type} {value.storage_type}"
    if given is None:
        if not allowed:
            return None
        return f"{kind} needs a throughput tier, and none was given. Allowed: {_tiers(allowed)}."
    if given in allowed:
        return None
    if not allowed:
        return f"{kind} has no throughput tiers, and {given} MB/s per TiB was given. Leave the tier out."
    where = f" in {value.region}" if value.region in LUSTRE_SMALL_TIERS else ""
    return f"{kind} has no tier of {given} MB/s per TiB{where}. Allowed: {_tiers(allowed)}."


def _tiers(allowed: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, allowed))} MB/s per TiB"


def _intelligent_tiering(value: LustreConfiguration) -> str | None:
    given = value.throughput_capacity_mbps
    if value.storage_type != "INTELLIGENT_TIERING":
        if given is None:
            return None
        return (
            f"Only Intelligent-Tiering storage takes a throughput capacity; {given} MB/s was given to "
            f"{value.storage_type}. Leave it out."
        )
    if given is not None and 0 < given <= 2_000_000 and given % 4000 == 0:
        return None
    return (
        f"Intelligent-Tiering storage needs a throughput capacity, and {_given(given)} was given. "
        "Allowed: multiples of 4000 MB/s up to 2000000."
    )


def _drive_cache(value: LustreConfiguration) -> str | None:
    given = value.drive_cache_type
    if value.storage_type == "HDD" and given not in DRIVE_CACHE_TYPES:
        return (
            f"HDD storage needs a drive cache type, and {_given(given)} was given. "
            f"{_one_of(DRIVE_CACHE_TYPES)}"
        )
    if value.storage_type != "HDD" and given is not None:
        return f"Only HDD storage has a drive cache; {given} was given to {value.storage_type}. Leave it out."
    return None


def _version(value: LustreConfiguration) -> str | None:
    given = value.file_system_type_version
    if given is None:
        return None
    if value.deployment_type != "PERSISTENT_2":
        allowed = LUSTRE_VERSIONS
    else:
        allowed = LUSTRE_VERSIONS[1:] if value.metadata_mode is None else LUSTRE_VERSIONS[2:]
    if given in allowed:
        return None
    with_metadata = " with a metadata configuration" if value.metadata_mode is not None else ""
    return (
        f"A {value.deployment_type} file system{with_metadata} cannot run Lustre {given}. {_one_of(allowed)} "
        "Choose 2.15."
    )


def _version_default(value: LustreConfiguration) -> str | None:
    if value.file_system_type_version is not None or value.lustre_version == "2.15":
        return None
    return (
        f"No Lustre version was given, and AWS takes {value.lustre_version} for {value.deployment_type}. "
        "Newer clients (Amazon Linux 2023, Ubuntu 22) cannot mount 2.10, and S3 links fail on it. "
        "Set it to 2.15."
    )


def _compression(value: LustreConfiguration) -> str | None:
    if value.data_compression_type in COMPRESSION_TYPES:
        return None
    return f"There is no data compression {value.data_compression_type!r}. {_one_of(COMPRESSION_TYPES)}"


def _kms(value: LustreConfiguration) -> str | None:
    if value.kms_key_id is None or not value.deployment_type.startswith("SCRATCH"):
        return None
    return (
        f"A {value.deployment_type} file system is encrypted with a key that AWS manages and takes none of "
        f"your own; {value.kms_key_id} was given. Leave the key out, or choose PERSISTENT_1 or PERSISTENT_2."
    )


def _efa(value: LustreConfiguration) -> str | None:
    if not value.efa_enabled:
        return None
    if value.deployment_type != "PERSISTENT_2" or value.metadata_mode is None:
        return (
            f"EFA was asked of {value.deployment_type} "
            f"{'with' if value.metadata_mode else 'without'} a metadata configuration. Allowed: "
            "PERSISTENT_2 with a metadata configuration. Turn EFA off, or choose these."
        )
    if value.region in LUSTRE_SMALL_TIERS:
        return f"There is no EFA for Lustre file systems in {value.region}. Turn EFA off."
    step = EFA_STEPS_GIB.get(value.per_unit_storage_throughput or 0)
    given = value.storage_capacity_gib
    if value.storage_type != "SSD" or step is None or given is None or (given >= step and given % step == 0):
        return None
    return (
        f"A file system with EFA and {value.per_unit_storage_throughput} MB/s per TiB comes in multiples of "
        f"{step} GiB; {given:.12g} GiB was given. Turn EFA off, or take {step} GiB or more."
    )


def _metadata(value: LustreConfiguration) -> str | None:
    mode, iops = value.metadata_mode, value.metadata_iops
    if mode is None and iops is None:
        return None
    if value.deployment_type != "PERSISTENT_2":
        return (
            f"Only PERSISTENT_2 takes a metadata configuration; it was given to {value.deployment_type}. "
            "Leave it out."
        )
    tiering = value.storage_type == "INTELLIGENT_TIERING"
    modes = ("USER_PROVISIONED",) if tiering else ("AUTOMATIC", "USER_PROVISIONED")
    if mode not in modes:
        given = f"there is no {mode}" if mode else "nothing was given"
        return f"{value.storage_type} storage needs a metadata mode, and {given}. {_one_of(modes)}"
    if mode == "AUTOMATIC":
        return None if iops is None else f"AUTOMATIC metadata takes no IOPS; {iops} was given. Leave it out."
    allowed = (6000, 12000) if tiering else (1500, 3000, 6000, *range(12000, 192_001, 12000))
    if iops in allowed:
        return None
    return f"USER_PROVISIONED metadata cannot have {'no' if iops is None else iops} IOPS. Allowed: " + (
        "6000, 12000." if tiering else "1500, 3000, 6000, 12000, then multiples of 12000 up to 192000."
    )


def _region(value: LustreConfiguration) -> str | None:
    there = LUSTRE_DEPLOYMENT_TYPES.get(value.region or "")
    # The page says nothing of SCRATCH_1, and what is no type at all is told of elsewhere.
    if there is None or value.deployment_type not in DEPLOYMENT_TYPES[1:] or value.deployment_type in there:
        return None
    return f"{value.region} has no {value.deployment_type} file systems. Allowed there: {', '.join(there)}."


def _one_subnet(value: LustreConfiguration) -> str | None:
    if not isinstance(value.subnet_ids, tuple) or len(value.subnet_ids) == 1:
        return None
    given = ", ".join(map(str, value.subnet_ids)) or "none"
    return (
        f"A Lustre file system lives in exactly one subnet; {len(value.subnet_ids)} were given: {given}. "
        "Name the one the jobs run in."
    )


def _backups(value: LustreConfiguration) -> str | None:
    days = value.automatic_backup_retention_days
    if not days:
        return None
    if value.deployment_type.startswith("SCRATCH") or value.import_path or value.links:
        return (
            "Backups exist neither for scratch file systems nor for those linked to S3; "
            f"{days} days were asked for. Leave them out."
        )
    return None if 0 < days <= 90 else f"Backups are kept for up to 90 days; {days} were asked for."


def _data_fits(value: LustreConfiguration) -> str | None:
    data, capacity = value.dataset_bytes, value.storage_capacity_gib
    if data is None or capacity is None or data <= capacity * 2**30:
        return None
    known = sizes(value.deployment_type, value.storage_type, value.per_unit_storage_throughput)
    needed = data / 2**30
    enough = f" Take {known.nearest(needed, above=needed)} GiB." if known else ""
    return f"The data is {needed:.0f} GiB and the file system {capacity:.12g} GiB.{enough}"


def _growth(value: LustreGrowth) -> str | None:
    current, asked = value.current, value.storage_capacity_gib
    have = current.storage_capacity_gib
    known = sizes(current.deployment_type, current.storage_type, current.per_unit_storage_throughput)
    if have is None or known is None or asked == have:
        return None
    if current.deployment_type == "SCRATCH_1":
        return f"A SCRATCH_1 file system cannot grow from {have:.12g} to {asked:.12g} GiB. Make a new one."
    steps = Sizes(step=known.step)
    if current.efa_enabled:
        steps = Sizes(step=EFA_STEPS_GIB.get(current.per_unit_storage_throughput or 0, known.step))
    if asked > have and asked in steps:
        return None
    problem = "never shrinks" if asked < have else f"grows to {steps}"
    return (
        f"A {current.deployment_type} file system {problem}; it has {have:.12g} GiB and {asked:.12g} GiB was "
        f"asked for. Choose {steps.nearest(asked, above=have)}, or make a new file system."
    )


_refused = partial(
    Rule[LustreConfiguration], level=Level.ERROR, source=_CREATE, checked=_CHECKED, refused_by=_BAD_REQUEST
)

RULES: tuple[Rule[LustreConfiguration], ...] = (
    *lustre_paths.RULES,
    _refused(
        id="LUSTRE-DEPLOYMENT-TYPE",
        statement="There are four deployment types.",
        reads=("deployment_type",),
        violated=_deployment_type,
    ),
    _refused(
        id="LUSTRE-REGION",
        statement="A Region has some of the deployment types only.",
        source=f"{_GUIDE}/using-fsx-lustre.html#persistent-deployment-regions",
        reads=("region", "deployment_type"),
        violated=_region,
    ),
    _refused(
        id="LUSTRE-STORAGE-TYPE",
        statement="HDD storage belongs to PERSISTENT_1, Intelligent-Tiering to PERSISTENT_2.",
        reads=("deployment_type", "storage_type"),
        violated=_storage_type,
    ),
    _refused(
        id="LUSTRE-CAPACITY",
        statement="Each deployment and storage type comes in its own sizes.",
        reads=("deployment_type", "storage_type", "storage_capacity_gib", "per_unit_storage_throughput"),
        violated=_capacity,
    ),
    _refused(
        id="LUSTRE-THROUGHPUT-TIER",
        statement="Persistent SSD and HDD storage needs a throughput tier of its own kind; scratch has none.",
        source=_CONFIGURATION,
        reads=("deployment_type", "storage_type", "per_unit_storage_throughput", "region"),
        violated=_tier,
        refused_by=(Refusal(operation="fsx:CreateFileSystem", code="InvalidPerUnitStorageThroughput"),),
    ),
    _refused(
        id="LUSTRE-INTELLIGENT-TIERING",
        statement="Intelligent-Tiering storage, and it alone, has a throughput capacity.",
        source=_CONFIGURATION,
        reads=("storage_type", "throughput_capacity_mbps"),
        violated=_intelligent_tiering,
    ),
    _refused(
        id="LUSTRE-DRIVE-CACHE",
        statement="HDD storage, and it alone, says whether it has a drive cache.",
        source=_CONFIGURATION,
        reads=("storage_type", "drive_cache_type"),
        violated=_drive_cache,
    ),
    _refused(
        id="LUSTRE-VERSION",
        statement="PERSISTENT_2 runs Lustre 2.12 or 2.15, with a metadata configuration 2.15 alone.",
        reads=("deployment_type", "metadata_mode", "file_system_type_version"),
        violated=_version,
    ),
    Rule(
        id="LUSTRE-VERSION-DEFAULT",
        level=Level.WARNING,
        statement="The Lustre version is always set, since the default is an old one.",
        source=f"{_GUIDE}/lustre-client-matrix.html",
        checked=_CHECKED,
        reads=("deployment_type", "metadata_mode", "file_system_type_version"),
        violated=_version_default,
    ),
    _refused(
        id="LUSTRE-COMPRESSION",
        statement="Data compression is NONE or LZ4.",
        source=_CONFIGURATION,
        reads=("data_compression_type",),
        violated=_compression,
    ),
    _refused(
        id="LUSTRE-KMS",
        statement="Only persistent file systems take an encryption key of your own.",
        reads=("deployment_type",),
        violated=_kms,
    ),
    _refused(
        id="LUSTRE-METADATA",
        statement="PERSISTENT_2 alone takes a metadata configuration, with certain IOPS.",
        source=_CONFIGURATION,
        reads=("deployment_type", "storage_type", "metadata_mode", "metadata_iops"),
        violated=_metadata,
    ),
    _refused(
        id="LUSTRE-EFA",
        statement="EFA needs PERSISTENT_2 with a metadata configuration, in larger sizes.",
        source=f"{_GUIDE}/efa-file-systems.html",
        reads=(
            "efa_enabled",
            "deployment_type",
            "storage_type",
            "metadata_mode",
            "per_unit_storage_throughput",
            "storage_capacity_gib",
            "region",
        ),
        violated=_efa,
    ),
    _refused(
        id="LUSTRE-ONE-SUBNET",
        statement="A Lustre file system lives in exactly one subnet.",
        reads=(),
        violated=_one_subnet,
    ),
    _refused(
        id="LUSTRE-BACKUPS",
        statement="There are no backups of scratch file systems, nor of those linked to S3.",
        source=f"{_GUIDE}/using-backups-fsx.html",
        reads=("automatic_backup_retention_days", "deployment_type"),
        violated=_backups,
    ),
    Rule(
        id="LUSTRE-DATA-FITS",
        level=Level.ERROR,
        statement="A file system holds the data linked to it.",
        source=f"{_GUIDE}/preload-file-contents-hsm-dra.html",
        checked=_CHECKED,
        reads=("dataset_bytes", "storage_capacity_gib"),
        violated=_data_fits,
    ),
)

GROWTH_RULES: tuple[Rule[LustreGrowth], ...] = (
    Rule(
        id="LUSTRE-GROWTH",
        level=Level.ERROR,
        statement="A file system grows in steps and never shrinks; SCRATCH_1 does not grow.",
        source=_UPDATE,
        checked=_CHECKED,
        reads=("current.storage_capacity_gib", "current.deployment_type", "storage_capacity_gib"),
        violated=_growth,
        refused_by=(Refusal(operation="fsx:UpdateFileSystem", code="BadRequest"),),
    ),
)

"""What FSx for Lustre accepts of the links between a file system and S3.

The links are judged together with the file system they are made on.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import combinations
from typing import Any

from trainfeed.rules.lustre_configuration import LustreConfiguration
from trainfeed.rules.lustre_paths import MAX_CHUNK_SIZE_MIB
from trainfeed.rules.rule import UNRESOLVED, Level, Refusal, Rule, known
from trainfeed.rules.s3 import BUCKET_NAMES, bucket_fault, prefix_fault
from trainfeed.sources import S3Link, S3Uri

_CHECKED = date(2026, 11, 20)
_CREATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html"
_LINKING = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html"
_OPERATION = "fsx:CreateDataRepositoryAssociation"

MAX_LINKS = 8

#: The whole length of `s3://BUCKET/PREFIX/`.
_MAX_ADDRESS = 4357


@dataclass(frozen=True, kw_only=True)
class AppLinks:
    """All links of an app, of whichever file system, and the data that its jobs are to find unchanged.

    Attributes:
        links: by the name of their file system.
        data: the dataset, and what jobs read straight from S3.
    """

    links: Mapping[str, tuple[S3Link, ...]]
    data: tuple[S3Uri, ...]


def _supported(value: LustreConfiguration) -> str | None:
    if not value.links:
        return None
    if value.deployment_type == "SCRATCH_1":
        return "SCRATCH_1 file systems have no data repository associations. Choose SCRATCH_2."
    if value.storage_type == "INTELLIGENT_TIERING":
        return "Intelligent-Tiering storage has no data repository associations. Choose SSD."
    if value.lustre_version == "2.10":
        given = "" if value.file_system_type_version else ", the default of AWS where none is given,"
        return (
            f"Lustre 2.10{given} has no data repository associations. Allowed: 2.12, 2.15. "
            "Set the version to 2.15."
        )
    return None


def _count(value: LustreConfiguration) -> str | None:
    if len(value.links) <= MAX_LINKS:
        return None
    return (
        f"A file system has at most {MAX_LINKS} data repository associations; {len(value.links)} were given. "
        "Link a prefix above several of them."
    )


def _first(faults: Iterator[str | None]) -> str | None:
    return " ".join(fault for fault in faults if fault) or None


def _bucket(value: LustreConfiguration) -> str | None:
    return _first(
        f"{_name(link)}: {fault}"
        for link in value.links
        if known(link.uri.bucket) and (fault := bucket_fault(link.uri.bucket))
    )


def _prefix(value: LustreConfiguration) -> str | None:
    return _first(
        f"{_name(link)}: {fault}"
        for link in value.links
        if known(link.uri.prefix) and (fault := _prefix_of(link))
    )


def _prefix_of(link: S3Link) -> str | None:
    if (length := len(f"s3://{link.uri.bucket}/{link.uri.folder}")) > _MAX_ADDRESS:
        return f"The address is {length} characters long. Allowed: {_MAX_ADDRESS}. Choose a shorter prefix."
    return prefix_fault(link.uri.prefix)


def _path(value: LustreConfiguration) -> str | None:
    return _first(_path_of(link) for link in value.links if known(link.path))


def _path_of(link: S3Link) -> str | None:
    if not link.path:
        return f"The link to {link.uri} has no path on the file system. Give it one, such as /data."
    if not link.path.startswith("/"):
        return f"The path {link.path!r} must begin with a slash. Write it as {'/' + link.path!r}."
    if link.path.strip("/") and (fault := prefix_fault(link.path.strip("/"))):
        return fault.replace("prefix", "path").replace(repr(link.path.strip("/")), repr(link.path))
    return None


def _path_overlap(value: LustreConfiguration) -> str | None:
    placed = [link for link in value.links if known(link.path) and link.path]
    for one, other in combinations(placed, 2):
        if _inside(_folder(one.path), _folder(other.path)):
            return (
                f"The paths {one.path} and {other.path} overlap. Each link needs a folder of its own, and "
                "the root can only be linked alone. Choose folders side by side, such as /data and /out."
            )
    return None


def _s3_overlap(value: LustreConfiguration) -> str | None:
    addressed = [link for link in value.links if known(link.uri.prefix)]
    for one, other in combinations(addressed, 2):
        if _same(one.uri.bucket, other.uri.bucket) and _inside(one.uri.folder, other.uri.folder):
            return (
                f"{one.path} and {other.path} are linked to overlapping addresses, {one.uri} and "
                f"{other.uri}. Give each link a prefix outside the other's."
            )
    return None


def _export_overwrites(value: LustreConfiguration) -> str | None:
    return _first(
        f"{_name(link)} imports from {link.uri} and exports to it too, writing over the source. Give the "
        "output a link of its own, or say export_overwrites_source if that is what you want."
        for link in value.links
        if known(link.auto_export, link.auto_import, link.import_on_create)
        and link.auto_export
        and (link.import_on_create or link.auto_import)
        and not link.export_overwrites_source
    )


def _export_apart(value: AppLinks) -> str | None:
    named = [(name, link) for name, links in value.links.items() for link in links]
    exports = [(name, link) for name, link in named if link.auto_export and not link.export_overwrites_source]
    return _first(_export_clash(name, link, named, value.data) for name, link in exports)


def _export_clash(
    name: str, link: S3Link, others: list[tuple[str, S3Link]], data: tuple[S3Uri, ...]
) -> str | None:
    """What else an export writes over; links of one file system are kept apart by other rules."""
    what = None
    if not (link.import_on_create or link.auto_import):
        over = next((uri for uri in data if _overlap(uri, link.uri)), None)
        what = over and f"over the data at {over}"
    for other_name, other in others:
        if other_name == name or not _overlap(other.uri, link.uri):
            continue
        if other.import_on_create or other.auto_import:
            what = what or f"over what {other.path} of {other_name} imports from {other.uri}"
        elif other.auto_export:
            what = what or f"where {other.path} of {other_name} exports to too, {other.uri}"
    return what and (
        f"{link.path} of {name} exports to {link.uri}, {what}. Give the output a prefix of its own, "
        "or say export_overwrites_source if that is what you want."
    )


def _overlap(one: S3Uri, other: S3Uri) -> bool:
    return known(one.prefix, other.prefix) and (
        _same(one.bucket, other.bucket) and _inside(one.folder, other.folder)
    )


def _chunk_size(value: LustreConfiguration) -> str | None:
    return _first(
        f"{_name(link)} has an imported file chunk size of {link.imported_file_chunk_size_mib} MiB. "
        f"Allowed: 1 to {MAX_CHUNK_SIZE_MIB} MiB. The default is 1024."
        for link in value.links
        if known(link.imported_file_chunk_size_mib)
        and not 1 <= link.imported_file_chunk_size_mib <= MAX_CHUNK_SIZE_MIB
    )


def _name(link: S3Link) -> str:
    return f"The link at {link.path or '(no path)'}"


def _folder(path: str) -> str:
    return path.strip("/") + "/" if path.strip("/") else ""


def _inside(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _same(one: Any, other: Any) -> bool:
    return one == other and one != UNRESOLVED


_refused = partial(
    Rule[LustreConfiguration],
    level=Level.ERROR,
    source=_CREATE,
    checked=_CHECKED,
    refused_by=(Refusal(operation=_OPERATION, code="BadRequest"),),
)

RULES: tuple[Rule[LustreConfiguration], ...] = (
    _refused(
        id="LINK-SUPPORTED",
        statement="Data repository associations need Lustre 2.12 or 2.15, and neither SCRATCH_1 nor "
        "Intelligent-Tiering.",
        source=_LINKING,
        reads=("deployment_type", "storage_type", "file_system_type_version", "metadata_mode"),
        violated=_supported,
    ),
    _refused(
        id="LINK-COUNT",
        statement="A file system has at most 8 data repository associations.",
        reads=(),
        violated=_count,
        refused_by=(Refusal(operation=_OPERATION, code="ServiceLimitExceeded"),),
    ),
    _refused(
        id="LINK-BUCKET",
        statement="A link names a bucket, by the rules of S3.",
        source=BUCKET_NAMES,
        reads=(),
        violated=_bucket,
    ),
    _refused(
        id="LINK-PREFIX",
        statement="A linked prefix can be a folder of a file system.",
        reads=(),
        violated=_prefix,
    ),
    _refused(
        id="LINK-PATH",
        statement="A link has an absolute path on the file system; there is no default.",
        reads=(),
        violated=_path,
    ),
    _refused(
        id="LINK-PATH-OVERLAP",
        statement="The paths of two links do not overlap, and the root is linked alone.",
        reads=(),
        violated=_path_overlap,
    ),
    _refused(
        id="LINK-S3-OVERLAP",
        statement="The S3 addresses of two links of a file system do not overlap.",
        source=_LINKING,
        reads=(),
        violated=_s3_overlap,
    ),
    Rule(
        id="LINK-EXPORT-OVERWRITES",
        level=Level.ERROR,
        statement="A link that exports over the data it imported is asked for by name.",
        source=_LINKING,
        checked=_CHECKED,
        reads=(),
        violated=_export_overwrites,
    ),
    _refused(
        id="LINK-CHUNK-SIZE",
        statement="Imported files are striped in chunks of 1 to 512,000 MiB.",
        reads=(),
        violated=_chunk_size,
    ),
)

APP_RULES: tuple[Rule[AppLinks], ...] = (
    Rule(
        id="LINK-EXPORT-APART",
        level=Level.ERROR,
        statement="No link exports over the data of an app, nor to where another file system exports, unless "
        "asked for by name.",
        source=_LINKING,
        checked=_CHECKED,
        reads=(),
        violated=_export_apart,
    ),
)

"""What FSx for Lustre accepts of the older way to S3: an import path given with the file system."""

from datetime import date
from functools import partial

from trainfeed.rules.lustre_configuration import LustreConfiguration
from trainfeed.rules.rule import Level, Refusal, Rule
from trainfeed.rules.s3 import bucket_fault
from trainfeed.sources import S3Uri

_CHECKED = date(2026, 11, 20)
_CONFIGURATION = (
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
)
_EXPORT = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/export-data-repo-task-dra.html"

AUTO_IMPORT_POLICIES = ("NONE", "NEW", "NEW_CHANGED", "NEW_CHANGED_DELETED")
MAX_CHUNK_SIZE_MIB = 512_000


def _import_path_type(value: LustreConfiguration) -> str | None:
    if value.import_path is None or value.deployment_type != "PERSISTENT_2":
        return None
    return (
        f"PERSISTENT_2 takes no import path; {value.import_path} was given. "
        "Link the data with a data repository association instead."
    )


def _import_or_links(value: LustreConfiguration) -> str | None:
    if not value.links:
        return None
    given = {
        "import path": value.import_path,
        "export path": value.export_path,
        "auto-import policy": value.auto_import_policy,
        "imported file chunk size": value.imported_file_chunk_size_mib,
    }
    named = [f"{name} {setting}" for name, setting in given.items() if setting is not None]
    if not named:
        return None
    return (
        f"A file system has either an import path or data repository associations, not both; it has "
        f"{len(value.links)} associations and {', '.join(named)}. Keep the associations."
    )


def _needs_import_path(value: LustreConfiguration) -> str | None:
    if value.import_path is not None or value.links:
        return None
    given = {
        "export path": value.export_path,
        "auto-import policy": value.auto_import_policy,
        "imported file chunk size": value.imported_file_chunk_size_mib,
    }
    named = [f"{name} {setting}" for name, setting in given.items() if setting not in (None, "NONE")]
    if not named:
        return None
    missing = " and no ".join(named)
    return f"Without an import path there is no {missing}. Give an import path, or use an S3 link."


def _import_uri(value: LustreConfiguration) -> str | None:
    return None if value.import_path is None else _not_s3("import path", value.import_path)


def _export_uri(value: LustreConfiguration) -> str | None:
    if value.export_path is None:
        return None
    if (wrong := _not_s3("export path", value.export_path)) is not None:
        return wrong
    if value.import_path is None or _not_s3("import path", value.import_path):
        return None
    source, target = S3Uri.parse(value.import_path), S3Uri.parse(value.export_path)
    if source.bucket == target.bucket:
        return None
    return (
        f"The export path {target} must lie in the bucket of the import path {source}. "
        f"Choose a prefix in {source.bucket}."
    )


def _not_s3(name: str, text: str) -> str | None:
    try:
        fault = bucket_fault(S3Uri.parse(text).bucket)
    except ValueError as error:
        fault = str(error)
    return fault and f"The {name} is wrong: {fault}"


def _export_overwrites(value: LustreConfiguration) -> str | None:
    if value.import_path is None or value.export_path is None or value.export_overwrites_import:
        return None
    if _not_s3("", value.import_path) or _not_s3("", value.export_path):
        return None
    source, target = S3Uri.parse(value.import_path), S3Uri.parse(value.export_path)
    if source.bucket != target.bucket or target.prefix not in ("", source.prefix):
        return None
    return (
        f"The export path {target} writes over the data imported from {source}. Choose a prefix of its own, "
        "or say export_overwrites_import if that is what you want."
    )


def _export_by_itself(value: LustreConfiguration) -> str | None:
    if value.export_path is None:
        return None
    return (
        f"Nothing is ever exported to {value.export_path} by itself. Run an export task before the file "
        "system is deleted, or link the output with an association that has an export policy."
    )


def _auto_import_policy(value: LustreConfiguration) -> str | None:
    if value.auto_import_policy is None or value.auto_import_policy in AUTO_IMPORT_POLICIES:
        return None
    allowed = ", ".join(AUTO_IMPORT_POLICIES)
    return f"There is no auto-import policy {value.auto_import_policy!r}. Allowed: {allowed}."


def _chunk_size(value: LustreConfiguration) -> str | None:
    given = value.imported_file_chunk_size_mib
    if given is None or 1 <= given <= MAX_CHUNK_SIZE_MIB:
        return None
    return (
        f"An imported file chunk size of {given} MiB is not possible. Allowed: 1 to {MAX_CHUNK_SIZE_MIB} MiB."
    )


_refused = partial(
    Rule[LustreConfiguration],
    level=Level.ERROR,
    source=_CONFIGURATION,
    checked=_CHECKED,
    refused_by=(Refusal(operation="fsx:CreateFileSystem", code="BadRequest"),),
)

RULES: tuple[Rule[LustreConfiguration], ...] = (
    _refused(
        id="LUSTRE-IMPORT-PATH-TYPE",
        statement="PERSISTENT_2 takes no import path.",
        reads=("deployment_type",),
        violated=_import_path_type,
    ),
    _refused(
        id="LUSTRE-IMPORT-OR-LINKS",
        statement="A file system has an import path or data repository associations, never both.",
        reads=(),
        violated=_import_or_links,
        refused_by=(Refusal(operation="fsx:CreateDataRepositoryAssociation", code="BadRequest"),),
    ),
    _refused(
        id="LUSTRE-NEEDS-IMPORT-PATH",
        statement="Export path, auto-import policy and chunk size go with an import path.",
        reads=("auto_import_policy",),
        violated=_needs_import_path,
    ),
    _refused(
        id="LUSTRE-IMPORT-PATH",
        statement="An import path is s3://BUCKET or s3://BUCKET/PREFIX.",
        reads=("import_path",),
        violated=_import_uri,
        refused_by=(Refusal(operation="fsx:CreateFileSystem", code="InvalidImportPath"),),
    ),
    _refused(
        id="LUSTRE-EXPORT-PATH",
        statement="An export path lies in the bucket of the import path.",
        reads=("import_path", "export_path"),
        violated=_export_uri,
        refused_by=(Refusal(operation="fsx:CreateFileSystem", code="InvalidExportPath"),),
    ),
    Rule(
        id="LUSTRE-EXPORT-OVERWRITES",
        level=Level.ERROR,
        statement="An export path that writes over the imported data is asked for by name.",
        source=_CONFIGURATION,
        checked=_CHECKED,
        reads=("import_path", "export_path"),
        violated=_export_overwrites,
    ),
    Rule(
        id="LUSTRE-EXPORT-BY-ITSELF",
        level=Level.WARNING,
        statement="A file system with an export path does not export by itself.",
        source=_EXPORT,
        checked=_CHECKED,
        reads=(),
        violated=_export_by_itself,
    ),
    _refused(
        id="LUSTRE-AUTO-IMPORT-POLICY",
        statement="The auto-import policy of an import path is one of four.",
        reads=("auto_import_policy",),
        violated=_auto_import_policy,
    ),
    _refused(
        id="LUSTRE-CHUNK-SIZE",
        statement="Imported files are striped in chunks of 1 to 512,000 MiB.",
        reads=("imported_file_chunk_size_mib",),
        violated=_chunk_size,
    ),
)

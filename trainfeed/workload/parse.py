"""Reads a workload as people write it, and names all that it cannot use at once."""

import difflib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from trainfeed.workload import units
from trainfeed.workload.model import (
    Access,
    BytesPerSecond,
    Consumption,
    EfsState,
    EfsThroughput,
    Location,
    S3DataType,
    SamplesPerSecond,
    SecondsPerEpoch,
    SizeClass,
    Workload,
)

#: What may be stated, with how it is written. Options of the command line have the same names.
FIELDS: Mapping[str, str] = {
    "location": "where the data is: s3, efs or elsewhere",
    "size": "the dataset's size, like 54 GB",
    "files": "number of files, like 1,530,350",
    "file_size": "mean size of a file, like 39 KB, in place of size or files",
    "sizes": "a list of {size: 39 KB, files: 1000}, in place of the three above",
    "format": "the files' format, like jpg or tfrecord",
    "packable": "true or false: can small files be put together into containers?",
    "access": "how the script reads: sequential or random",
    "epochs": "passes over the dataset",
    "instance_type": "like ml.g5.2xlarge",
    "instance_count": "instances of the job",
    "consumption": "how fast the model takes data that is local, all instances together: "
    "330 images/s, 12 MB/s or 80 min/epoch",
    "samples": "samples in the dataset, where packed files hold many",
    "spot": "true or false: managed spot training",
    "restarts": "interruptions expected in a run",
    "runs_per_month": "training jobs a month on the same data",
    "region": "like us-east-1",
    "volume_size": "size of the instance's own volume, like 500 GiB",
    "s3_data_type": "S3Prefix, ManifestFile or AugmentedManifestFile",
    "vpc": "true or false: may the job run in a VPC?",
    "efs_stored": "all that the EFS file system holds, like 1 TiB",
    "efs_throughput": "elastic, bursting or provisioned",
    "efs_provisioned": "provisioned throughput of EFS, like 300 MiB/s",
    "loaders": "parallel readers of each instance; one for each vCPU if left out",
    "sharded": "true or false: each instance is given its own part of the files",
}

_GIB = 2**30
_MIB = 2**20
#: The most that may be stated; beyond it a slip of the pen is likelier than a dataset.
_LARGEST = 10**18
T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


class WorkloadError(ValueError):
    """A workload cannot be used; the text names every fault on a line of its own.

    Attributes:
        faults: the lines, each `field: what is wrong`.
    """

    def __init__(self, faults: tuple[str, ...]) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))


def read(path: Path) -> Mapping[str, Any]:
    """The fields that a YAML file states, as they are written there.

    Raises:
        WorkloadError: it cannot be read, or is no list of fields.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415 - slow to import, and options alone need none
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    try:
        stated = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise WorkloadError((f"{path}: cannot be read: {reason}.",)) from None
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        place = f"{path}:{mark.line + 1}" if mark else f"{path}"
        raise WorkloadError((f"{place}: not valid YAML.",)) from None
    if not isinstance(stated, dict):
        raise WorkloadError((f"{path}: write one field a line, like `size: 54 GB`.",))
    return stated


def parse(stated: Mapping[str, Any]) -> Workload:
    """A workload from fields as people write them (see FIELDS); None means not stated.

    Raises:
        WorkloadError: with every fault.
    """
    reader = _Reader(stated)
    workload = reader.workload()
    if workload is None:
        raise WorkloadError(tuple(reader.faults))
    return workload


class _Reader:
    """Takes field after field, and keeps the faults."""

    def __init__(self, stated: Mapping[str, Any]) -> None:
        self.stated = {name: value for name, value in stated.items() if value is not None}
        self.faults: list[str] = []
        for name in self.stated:
            if name not in FIELDS:
                near = difflib.get_close_matches(str(name), FIELDS, n=1)
                meant = f" Did you mean `{near[0]}`?" if near else ""
                self.faults.append(f"{name}: unknown field.{meant} Known: {', '.join(FIELDS)}.")

    def workload(self) -> Workload | None:
        size, files, sizes = self._dataset()
        fields: dict[str, Any] = {
            "location": self._one_of("location", Location),
            "file_format": self._take("format", _word),
            "packable": self._take("packable", _truth),
            "access": self._one_of("access", Access),
            "epochs": self._take("epochs", _count),
            "instance_count": self._take("instance_count", _count),
            "spot": self._take("spot", _truth),
            "restarts": self._take("restarts", _amount),
            "runs_per_month": self._take("runs_per_month", _positive),
            "region": self._take("region", _region),
            "volume_size_gib": self._take("volume_size", _gib),
            "s3_data_type": self._one_of("s3_data_type", S3DataType),
            "vpc": self._take("vpc", _truth),
            "loaders": self._take("loaders", _count),
            "sharded": self._take("sharded", _truth),
            "efs": self._efs(size),
            "consumption": self._consumption(files),
        }
        instance_type = self._take("instance_type", _instance_type)
        if "instance_type" not in self.stated:
            self.faults.append(f"instance_type: is missing. Write {FIELDS['instance_type']}.")
        if fields["restarts"] and not fields["spot"]:
            self.faults.append("restarts: only spot training is interrupted. Add `spot: true`, or omit it.")
        if self.faults or size is None or files is None or instance_type is None:
            return None
        given = {name: value for name, value in fields.items() if value is not None}
        return Workload(size_bytes=size, files=files, sizes=sizes, instance_type=instance_type, **given)

    def _dataset(self) -> tuple[int | None, int | None, tuple[SizeClass, ...]]:
        parts = [name for name in ("size", "files", "file_size") if name in self.stated]
        if "sizes" in self.stated:
            if parts:
                self.faults.append(f"sizes: says it all; leave out {' and '.join(parts)}.")
            classes = self._take("sizes", _histogram) or ()
            size = sum(each.bytes_each * each.count for each in classes)
            return size or None, sum(each.count for each in classes) or None, classes
        size, files = self._take("size", _size), self._take("files", _count)
        each = self._take("file_size", _size)
        if len(parts) != 2:
            self.faults.append(
                f"size: {'all three were' if parts else 'nothing was'} stated. "
                "Write two of size, files and file_size, or a list under sizes."
                if len(parts) != 1
                else f"size: {parts[0]} alone does not say how much data there is. "
                "Write two of size, files and file_size, or a list under sizes."
            )
            return None, None, ()
        if size is None and files and each:
            size = files * each
        if files is None and size and each:
            files = max(1, round(size / each))
        if size and size > _LARGEST:
            self.faults.append(f"size: {units.write_size(size)} is more than an exabyte.")
        return size, files, ()

    def _efs(self, size: int | None) -> EfsState | None:
        stored = self._take("efs_stored", _size)
        throughput = self._one_of("efs_throughput", EfsThroughput)
        provisioned = self._take("efs_provisioned", _mib_per_second)
        named = [name for name in ("efs_stored", "efs_throughput", "efs_provisioned") if name in self.stated]
        on_efs = str(self.stated.get("location", "")).lower() == Location.EFS
        if named and not on_efs:
            self.faults.append(f"{named[0]}: the data is not on EFS. Write `location: efs`, or leave it out.")
        if (throughput is EfsThroughput.PROVISIONED) != ("efs_provisioned" in self.stated):
            self.faults.append("efs_provisioned: goes with `efs_throughput: provisioned`, and only with it.")
        if stored is not None and size is not None and stored < size:
            self.faults.append(
                f"efs_stored: {units.write_size(stored)} is less than the dataset's {units.write_size(size)}."
            )
        if not on_efs or size is None:
            return None
        return EfsState(
            stored_bytes=stored or size,
            throughput=throughput or EfsThroughput.ELASTIC,
            provisioned_mib_per_second=provisioned,
        )

    def _consumption(self, files: int | None) -> Consumption | None:
        samples = self._take("samples", _count)
        consumption = self._take("consumption", lambda text: _consumption(_text(text), samples or files or 1))
        if "samples" in self.stated and not isinstance(consumption, SamplesPerSecond | None):
            self.faults.append("samples: only a consumption in samples needs it. Leave it out.")
        return consumption

    def _take(self, name: str, convert: Callable[[Any], T]) -> T | None:
        if name not in self.stated:
            return None
        try:
            return convert(self.stated[name])
        except ValueError as error:
            self.faults.append(f"{name}: {self.stated[name]!r} is not allowed: {error}.")
            return None

    def _one_of(self, name: str, kind: type[E]) -> E | None:
        def convert(given: Any) -> E:
            for member in kind:
                if str(given).lower() == member.value.lower():
                    return member
            allowed = [member.value for member in kind]
            near = difflib.get_close_matches(str(given), allowed, n=1)
            raise ValueError(f"write {' or '.join(allowed)}" + (f"; did you mean {near[0]}" if near else ""))

        return self._take(name, convert)


def _text(given: Any) -> str:
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ValueError("write a text")
    return str(given)


def _word(given: Any) -> str:
    return _text(given).strip()


def _truth(given: Any) -> bool:
    if isinstance(given, bool):
        return given
    known = {"true": True, "yes": True, "false": False, "no": False}
    if str(given).lower() not in known:
        raise ValueError("write true or false")
    return known[str(given).lower()]


def _amount(given: Any) -> float:
    plain = isinstance(given, int | float) and not isinstance(given, bool) and given >= 0
    value = float(given if plain else units.number(_text(given)))
    if value > _LARGEST:
        raise ValueError("that is too many")
    return value


def _positive(given: Any) -> float:
    if (value := _amount(given)) == 0:
        raise ValueError("write more than 0")
    return value


def _count(given: Any) -> int:
    value = _positive(given)
    if not value.is_integer():
        raise ValueError("write a whole number from 1 on")
    return int(value)


def _size(given: Any) -> int:
    if (value := units.size(_text(given))) == 0:
        raise ValueError("write more than 0")
    if value > _LARGEST:
        raise ValueError("that is more than an exabyte")
    return value


def _gib(given: Any) -> int:
    return -(-_size(given) // _GIB)


def _mib_per_second(given: Any) -> float:
    amount, per = units.rate(_text(given))
    return float(units.in_bytes(amount)) / units.seconds_in(per) / _MIB


def _region(given: Any) -> str:
    if not re.fullmatch(r"[a-z]{2,3}(-[a-z]+)+-\d", _text(given)):
        raise ValueError("write a Region like us-east-1")
    return _text(given)


def _instance_type(given: Any) -> str:
    if not re.fullmatch(r"ml\.[a-z0-9-]+\.[a-z0-9]+", _text(given)):
        raise ValueError("write an instance type as SageMaker spells it, like ml.g5.2xlarge")
    return _text(given)


def _histogram(given: Any) -> tuple[SizeClass, ...]:
    if not isinstance(given, list | tuple) or not given:
        raise ValueError("write a list of {size: 39 KB, files: 1000}")
    classes = []
    for each in given:
        if not isinstance(each, Mapping) or set(each) != {"size", "files"}:
            raise ValueError("each entry has size and files, like {size: 39 KB, files: 1000}")
        classes.append(SizeClass(bytes_each=_size(each["size"]), count=_count(each["files"])))
    return tuple(classes)


def _consumption(text: str, samples: int) -> Consumption:
    """`330 images/s`, `12 MB/s`, `80 min/epoch`."""
    amount, per = units.rate(text)
    if per in ("epoch", "pass"):
        seconds = units.duration(amount)
        if seconds <= 0:
            raise ValueError("write more than 0")
        return SecondsPerEpoch(seconds=seconds)
    time = units.seconds_in(per)
    try:
        figure, unit = units.quantity(amount)
    except ValueError:
        figure, unit = Decimal(0), ""
    if not unit:
        raise ValueError("write what is consumed, like 330 images/s, 12 MB/s or 80 min/epoch")
    if not figure:
        raise ValueError("write more than 0")
    if factor := units.size_unit(unit):
        return BytesPerSecond(rate=float(figure * factor) / time)
    return SamplesPerSecond(rate=float(figure) / time, samples=samples)


def _plain(value: float) -> str:
    """All digits of a number, without an exponent."""
    return f"{Decimal(repr(value)):f}"


def stated(workload: Workload) -> dict[str, Any]:
    """The fields that `parse` reads back as this workload; defaults are left out."""
    blank = Workload(size_bytes=1, files=1, instance_type="")
    fields: dict[str, Any] = {}
    if workload.sizes:
        fields["sizes"] = [
            {"size": units.write_size(each.bytes_each), "files": each.count} for each in workload.sizes
        ]
    else:
        fields |= {"size": units.write_size(workload.size_bytes), "files": workload.files}
    plain = {
        "location": "location",
        "format": "file_format",
        "packable": "packable",
        "access": "access",
        "epochs": "epochs",
        "instance_type": "instance_type",
        "instance_count": "instance_count",
        "spot": "spot",
        "restarts": "restarts",
        "runs_per_month": "runs_per_month",
        "region": "region",
        "s3_data_type": "s3_data_type",
        "vpc": "vpc",
        "loaders": "loaders",
        "sharded": "sharded",
    }
    for name, attribute in plain.items():
        value = getattr(workload, attribute)
        if value != getattr(blank, attribute):
            fields[name] = value.value if isinstance(value, StrEnum) else value
    if workload.volume_size_gib is not None:
        fields["volume_size"] = f"{workload.volume_size_gib} GiB"
    if workload.efs:
        fields["efs_stored"] = units.write_size(workload.efs.stored_bytes)
        fields["efs_throughput"] = workload.efs.throughput.value
        if workload.efs.provisioned_mib_per_second is not None:
            fields["efs_provisioned"] = f"{_plain(workload.efs.provisioned_mib_per_second)} MiB/s"
    match workload.consumption:
        case SecondsPerEpoch(seconds=seconds):
            fields["consumption"] = f"{_plain(seconds)} s/epoch"
        case BytesPerSecond(rate=rate):
            fields["consumption"] = f"{_plain(rate)} B/s"
        case SamplesPerSecond(rate=rate, samples=samples):
            fields |= {"consumption": f"{_plain(rate)} samples/s", "samples": samples}
    return fields

"""The filters of EC2's Describe calls that MiniStack passes over."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from trainfeed.local import ministack
from trainfeed.local.service import ApiError

Form = dict[str, list[str]]
Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Described:
    """What a Describe call finds.

    Attributes:
        store: the store it looks in.
        ids: the form's name for a list of ids (`SubnetId`).
        filters: for each filter, the values of a record that it is held against.
        missing: the error code for an id that does not exist, where MiniStack gives none.
    """

    store: str
    ids: str
    filters: Mapping[str, Callable[[Record], list[str]]]
    missing: str | None = None

    def narrowing(self, describe: Callable[[Form], Any]) -> Callable[[Form], Any]:
        """Answer for the records that pass the filters alone."""

        def run(form: Form) -> Any:
            asked = _numbered(form, self.ids)
            records = ministack.store(self.store)
            for one in asked:
                if self.missing and one not in records:
                    raise ApiError(self.missing, f"The ID '{one}' does not exist")
            filters = _filters(form)
            if not filters:
                return describe(form)
            for name in filters:
                if name not in self.filters and not name.startswith("tag"):
                    raise ApiError("InvalidParameterValue", f"The filter '{name}' is invalid")
            found = [
                one
                for one, record in records.items()
                if (not asked or one in asked) and self._passes(one, record, filters)
            ]
            return describe(_only(form, self.ids, found))

        return run

    def _passes(self, one: str, record: Record, filters: Mapping[str, list[str]]) -> bool:
        return ministack.function("tag filters")(one, filters) and all(
            any(fnmatchcase(value, pattern) for value in self.filters[name](record) for pattern in patterns)
            for name, patterns in filters.items()
            if name in self.filters
        )


def install() -> None:
    """Correct MiniStack."""
    for operation, described in _DESCRIBED.items():
        ministack.wrap_ec2_action(operation, described.narrowing)


def _member(name: str) -> Callable[[Record], list[str]]:
    return lambda record: [str(record.get(name, ""))]


def _groups(record: Record) -> list[str]:
    return [group["GroupId"] for group in record["Groups"]]


_DESCRIBED = {
    "DescribeNetworkInterfaces": Described(
        store="network interfaces",
        ids="NetworkInterfaceId",
        missing="InvalidNetworkInterfaceID.NotFound",
        filters={
            "availability-zone": _member("AvailabilityZone"),
            "description": _member("Description"),
            "group-id": _groups,
            "interface-type": _member("InterfaceType"),
            "network-interface-id": _member("NetworkInterfaceId"),
            "status": _member("Status"),
            "subnet-id": _member("SubnetId"),
            "vpc-id": _member("VpcId"),
        },
    ),
    "DescribeVpcEndpoints": Described(
        store="endpoints",
        ids="VpcEndpointId",
        missing="InvalidVpcEndpointId.NotFound",
        filters={
            "service-name": _member("ServiceName"),
            "vpc-endpoint-id": _member("VpcEndpointId"),
            "vpc-endpoint-state": _member("State"),
            "vpc-endpoint-type": _member("VpcEndpointType"),
            "vpc-id": _member("VpcId"),
        },
    ),
    "DescribeSecurityGroups": Described(
        store="security groups",
        ids="GroupId",
        filters={
            "description": _member("Description"),
            "group-id": _member("GroupId"),
            "group-name": _member("GroupName"),
            "owner-id": _member("OwnerId"),
            "vpc-id": _member("VpcId"),
        },
    ),
    "DescribeSubnets": Described(
        store="subnets",
        ids="SubnetId",
        filters={
            "availability-zone": _member("AvailabilityZone"),
            "availability-zone-id": _member("AvailabilityZoneId"),
            "availabilityZoneId": _member("AvailabilityZoneId"),
            "cidr-block": _member("CidrBlock"),
            "default-for-az": lambda record: [str(record["DefaultForAz"]).lower()],
            "owner-id": _member("OwnerId"),
            "state": _member("State"),
            "subnet-id": _member("SubnetId"),
            "vpc-id": _member("VpcId"),
        },
    ),
}


def _numbered(form: Form, prefix: str) -> list[str]:
    """The values of `prefix.1`, `prefix.2` and so on."""
    values, number = [], 1
    while f"{prefix}.{number}" in form:
        values.append(form[f"{prefix}.{number}"][0])
        number += 1
    return values


def _filters(form: Form) -> dict[str, list[str]]:
    filters, number = {}, 1
    while f"Filter.{number}.Name" in form:
        filters[form[f"Filter.{number}.Name"][0]] = _numbered(form, f"Filter.{number}.Value")
        number += 1
    return filters


def _only(form: Form, ids: str, found: list[str]) -> Form:
    """The same request for these ids, without filters."""
    rest = {name: values for name, values in form.items() if not name.startswith(("Filter.", f"{ids}."))}
    if not found:
        # Every Describe call knows this filter or, passing over filters, this id; either finds nothing.
        return {**rest, "Filter.1.Name": ["vpc-id"], "Filter.1.Value.1": ["none"], **_none(ids)}
    return {**rest, **{f"{ids}.{number}": [one] for number, one in enumerate(found, 1)}}


def _none(ids: str) -> Form:
    return {f"{ids}.1": ["none"]} if ids in ("NetworkInterfaceId", "VpcEndpointId") else {}

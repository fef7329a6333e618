"""Today's prices, from AWS's Price List API.

Products are told apart by usage type, which a bill shows too; its Region prefix (`USW2-`, `EU-`, or none in
us-east-1) is left off. The API has no Spot prices.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from botocore.exceptions import ClientError

from trainfeed.prices import Confidence, PriceRecord, Tier, Unit, products
from trainfeed.run.aws import Client, UserError

#: Where the API is: a few Regions have it, and it tells the prices of all.
ENDPOINT_REGION = "us-east-1"

_URL = "https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html"
_PREFIX = re.compile(r"^[A-Z]{2,4}\d*-")
_SCRATCH = "Storage"
_PERSISTENT = re.compile(r"Storage\.SSD\.(?P<throughput>\d+)")
_INSTANCE = re.compile(r"Train:(?P<type>ml\..+)")
_VOLUME = re.compile(r"per GB-Mo of Training Job ML storage")

#: The API's units by ours, and how many of its units make one.
_UNITS = {
    Unit.HOUR: ({"Hrs", "hours", "Hourly", "Hours"}, 1),
    Unit.GB: ({"GB"}, 1),
    Unit.GB_MONTH: ({"GB-Mo"}, 1),
    Unit.MIBPS_MONTH: ({"MiBps-Mo"}, 1),
    Unit.THOUSAND_REQUESTS: ({"Requests"}, 1000),
    Unit.THOUSAND_OBJECT_MONTHS: ({"Objects"}, 1000),
}


@dataclass(frozen=True, kw_only=True)
class _Offer:
    """A product with its on-demand price, as the API has it."""

    usage_type: str
    attributes: Mapping[str, str]
    dimensions: Sequence[Mapping[str, Any]]
    published: str

    @property
    def described(self) -> str:
        return " ".join(str(each.get("description", "")) for each in self.dimensions)


@dataclass(frozen=True, kw_only=True)
class _Query:
    """A question to the API, and what of the answer is wanted.

    Attributes:
        service: its code.
        filters: which products; `{region}` stands for the Region.
        key: the price book's key of an offer; None: it is not wanted.
    """

    service: str
    filters: Mapping[str, str]
    key: Callable[[_Offer], str | None]


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """A Region's prices of one day.

    Attributes:
        region: which.
        records: what was found.
        missing: keys of what was not, or not clearly: no product, or several with different prices.
    """

    region: str
    records: tuple[PriceRecord, ...]
    missing: tuple[str, ...]


def read(client: Client, region: str, *, on: date) -> PriceList:
    """Ask for every price that an estimate can need.

    Args:
        client: of the Region that has the API.
        region: the Region whose prices are wanted.
        on: today; it becomes the records' date.

    Raises:
        UserError: it is another AWS that is asked, which has no price list.
    """
    found: dict[str, set[PriceRecord]] = {}
    for query in _QUERIES:
        for offer in _offers(client, query, region):
            key = query.key(offer)
            record = key and _record(key, offer, query=query, region=region, on=on)
            if record:
                found.setdefault(record.key, set()).add(record)
    clear = {
        key: records.pop() for key, records in found.items() if len({each.tiers for each in records}) == 1
    }
    wanted = found.keys() | products.PRODUCTS.keys()
    return PriceList(
        region=region,
        records=tuple(clear[key] for key in sorted(clear)),
        missing=tuple(sorted(wanted - clear.keys())),
    )


def _offers(client: Client, query: _Query, region: str) -> Iterator[_Offer]:
    filters = [
        {"Type": "TERM_MATCH", "Field": field, "Value": value.format(region=region)}
        for field, value in query.filters.items()
    ]
    pages = client("pricing").get_paginator("get_products")
    try:
        for page in pages.paginate(ServiceCode=query.service, Filters=filters, FormatVersion="aws_v1"):
            yield from (_offer(json.loads(text)) for text in page["PriceList"])
    except ClientError as error:
        if endpoint := os.environ.get("AWS_ENDPOINT_URL"):
            raise UserError(
                f"There is no price list at {endpoint} (AWS_ENDPOINT_URL). Prices are AWS's own: "
                "ask for them in a shell that does not use the local AWS."
            ) from error
        raise


def _offer(item: Mapping[str, Any]) -> _Offer:
    attributes = item["product"]["attributes"]
    return _Offer(
        usage_type=_PREFIX.sub("", attributes.get("usagetype", "")),
        attributes=attributes,
        dimensions=[
            dimension
            for term in item.get("terms", {}).get("OnDemand", {}).values()
            for dimension in term["priceDimensions"].values()
        ],
        published=item.get("publicationDate", "")[:10],
    )


def _record(key: str, offer: _Offer, *, query: _Query, region: str, on: date) -> PriceRecord | None:
    product = products.product(key)
    if product is None:
        return None
    names, size = _UNITS[product.unit]
    dimensions = [
        each for each in offer.dimensions if each["unit"] in names and "USD" in each["pricePerUnit"]
    ]
    tiers = tuple(
        Tier(amount=_plain(Decimal(each["pricePerUnit"]["USD"]) * size), up_to=_end(each, size))
        for each in sorted(dimensions, key=lambda each: Decimal(each.get("beginRange", "0")))
    )
    if not any(tier.amount for tier in tiers):
        return None
    return PriceRecord(
        key=key,
        region=region,
        tiers=tiers,
        unit=product.unit,
        source=f"AWS Price List API ({query.service})",
        url=_URL,
        date=on,
        confidence=Confidence.HIGH,
        note=f"Published {offer.published}." if offer.published else "",
    )


def _end(dimension: Mapping[str, Any], size: int) -> Decimal | None:
    end = dimension.get("endRange", "Inf")
    return None if end == "Inf" else _plain(Decimal(end) / size)


def _plain(amount: Decimal) -> Decimal:
    return amount.normalize() + 0


def _sagemaker_instance(offer: _Offer) -> str | None:
    match = _INSTANCE.fullmatch(offer.usage_type)
    return products.training(match["type"]) if match else None


def _sagemaker_volume(offer: _Offer) -> str | None:
    return products.VOLUME if _VOLUME.search(offer.described) else None


def _fsx(offer: _Offer) -> str | None:
    if offer.usage_type == _SCRATCH:
        return products.SCRATCH_2
    match = _PERSISTENT.fullmatch(offer.usage_type)
    if match is None:
        return None
    throughput = int(match["throughput"])
    keys = (products.lustre(kind, throughput) for kind in ("PERSISTENT_1", "PERSISTENT_2"))
    return next((key for key in keys if products.product(key)), None)


def _efs(offer: _Offer) -> str | None:
    match offer.usage_type, offer.attributes.get("accessType"):
        case "TimedStorage-ByteHrs", _:
            return products.EFS_STANDARD
        case "ETDataAccess-Bytes", "Read":
            return products.EFS_READ
        case "ETDataAccess-Bytes", "Write":
            return products.EFS_WRITE
        case "ProvisionedTP-MiBpsHrs", _:
            return products.EFS_PROVISIONED
        case _:
            return None


def _usage(types: Mapping[str, str]) -> Callable[[_Offer], str | None]:
    return lambda offer: types.get(offer.usage_type)


_QUERIES = (
    _Query(
        service="AmazonSageMaker",
        filters={"regionCode": "{region}", "component": "Training"},
        key=_sagemaker_instance,
    ),
    _Query(
        service="AmazonSageMaker",
        filters={"regionCode": "{region}", "operation": "CreateVolume-Gp2"},
        key=_sagemaker_volume,
    ),
    _Query(
        service="AmazonFSx",
        filters={
            "regionCode": "{region}",
            "productFamily": "Storage",
            "fileSystemType": "Lustre",
            "operation": "CreateFileSystem:Lustre",
            "storageType": "SSD",
        },
        key=_fsx,
    ),
    _Query(
        service="AmazonS3",
        filters={"regionCode": "{region}", "productFamily": "Storage", "volumeType": "Standard"},
        key=_usage({"TimedStorage-ByteHrs": products.S3_STANDARD}),
    ),
    _Query(
        service="AmazonS3",
        filters={
            "regionCode": "{region}",
            "productFamily": "Storage",
            "volumeType": "Intelligent-Tiering Frequent Access",
        },
        key=_usage({"TimedStorage-INT-FA-ByteHrs": products.S3_INTELLIGENT_TIERING}),
    ),
    _Query(
        service="AmazonS3",
        filters={"regionCode": "{region}", "feeCode": "S3-Monitoring and Automation-ObjectCount"},
        key=_usage({"Monitoring-Automation-INT": products.S3_INTELLIGENT_TIERING_MONITORING}),
    ),
    _Query(
        service="AmazonS3",
        filters={"regionCode": "{region}", "productFamily": "API Request", "group": "S3-API-Tier1"},
        key=_usage({"Requests-Tier1": products.S3_TIER1}),
    ),
    _Query(
        service="AmazonS3",
        filters={"regionCode": "{region}", "productFamily": "API Request", "group": "S3-API-Tier2"},
        key=_usage({"Requests-Tier2": products.S3_TIER2}),
    ),
    _Query(service="AmazonEFS", filters={"regionCode": "{region}"}, key=_efs),
    _Query(
        service="AmazonVPC",
        filters={"regionCode": "{region}"},
        key=_usage({"VpcEndpoint-Hours": products.ENDPOINT}),
    ),
    _Query(
        service="AWSDataTransfer",
        filters={"fromRegionCode": "{region}", "toRegionCode": "{region}"},
        key=_usage({"DataTransfer-Regional-Bytes": products.CROSS_ZONE}),
    ),
)

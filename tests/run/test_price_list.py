"""Reading the Price List API: over real HTTP, from answers of the shape that AWS gives."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner

from trainfeed.cli import main
from trainfeed.prices import Confidence, PriceBook, Tier
from trainfeed.run import price_list
from trainfeed.run.aws import connect

TODAY = date(2026, 12, 1)
_PAGE = 2
_sku = count()


def product(
    service: str,
    usage_type: str,
    *prices: tuple[str, str, str],
    unit: str,
    family: str = "Storage",
    described: str = "",
    currency: str = "USD",
    **attributes: str,
) -> dict[str, Any]:
    """A product as GetProducts has it (FormatVersion aws_v1); prices are (from, to, amount)."""
    sku = f"SKU{next(_sku):013}"
    dimensions = {
        f"{sku}.JRTCKXETXF.{place}": {
            "unit": unit,
            "endRange": end,
            "description": described or f"${amount} per {unit}",
            "appliesTo": [],
            "rateCode": f"{sku}.JRTCKXETXF.{place}",
            "beginRange": begin,
            "pricePerUnit": {currency: amount},
        }
        # The API gives dimensions in no order.
        for place, (begin, end, amount) in reversed(list(enumerate(prices)))
    }
    term = {
        "priceDimensions": dimensions,
        "sku": sku,
        "effectiveDate": "2026-11-01T00:00:00Z",
        "offerTermCode": "JRTCKXETXF",
        "termAttributes": {},
    }
    return {
        "product": {
            "productFamily": family,
            "attributes": {"regionCode": "eu-west-1", "usagetype": usage_type, **attributes},
            "sku": sku,
        },
        "serviceCode": service,
        "terms": {"OnDemand": {f"{sku}.JRTCKXETXF": term}},
        "version": "20261120000000",
        "publicationDate": "2026-11-20T17:00:00Z",
    }


def flat(amount: str) -> tuple[str, str, str]:
    return ("0", "Inf", amount)


def instance(name: str, amount: str, *, prefix: str = "EU-", **attributes: str) -> dict[str, Any]:
    return product(
        "AmazonSageMaker",
        f"{prefix}Train:{name}",
        flat(amount),
        unit="Hrs",
        family="ML Instance",
        **{"component": "Training", "instanceName": name, "operation": "RunInstance", **attributes},
    )


def lustre(usage_type: str, amount: str) -> dict[str, Any]:
    return product(
        "AmazonFSx",
        usage_type,
        flat(amount),
        unit="GB-Mo",
        fileSystemType="Lustre",
        operation="CreateFileSystem:Lustre",
        storageType="SSD",
        deploymentOption="Single-AZ",
    )


def s3(usage_type: str, *prices: tuple[str, str, str], unit: str, **attributes: str) -> dict[str, Any]:
    return product("AmazonS3", usage_type, *prices, unit=unit, **attributes)


def s3_requests(usage_type: str, amount: str, *, group: str) -> dict[str, Any]:
    return s3(usage_type, flat(amount), unit="Requests", family="API Request", group=group)


CATALOGUE = [
    instance("ml.g5.xlarge", "1.5700000000"),
    instance("ml.m5.xlarge", "0.2570000000"),
    instance("ml.p4d.24xlarge", "28.1880000000"),
    # Near misses: other components, other Regions, other kinds of training.
    instance("ml.g5.xlarge", "9.0", prefix="EU-Host:", component="Hosting"),
    product(
        "AmazonSageMaker", "EU-TrainWarmPool:ml.g5.xlarge", flat("9.0"), unit="Hrs", component="Training"
    ),
    instance("ml.g5.xlarge", "9.0", prefix="EUC1-", regionCode="eu-central-1"),
    product(
        "AmazonSageMaker",
        "EU-Train:VolumeUsage.gp2",
        flat("0.1540000000"),
        unit="GB-Mo",
        described="$0.154 per GB-Mo of Training Job ML storage",
        operation="CreateVolume-Gp2",
    ),
    product(
        "AmazonSageMaker",
        "EU-Host:VolumeUsage.gp2",
        flat("9.0"),
        unit="GB-Mo",
        described="$9.0 per GB-Mo of Endpoint ML storage",
        operation="CreateVolume-Gp2",
    ),
    lustre("EU-Storage", "0.1540000000"),
    lustre("EU-Storage.SSD.125", "0.1600000000"),
    lustre("EU-Storage.SSD.1000", "0.6600000000"),
    lustre("EU-Storage.SSD.7", "9.0"),
    lustre("EU-BackupUsage", "9.0"),
    s3(
        "EU-TimedStorage-ByteHrs",
        ("0", "51200", "0.0230000000"),
        ("51200", "512000", "0.0220000000"),
        ("512000", "Inf", "0.0210000000"),
        unit="GB-Mo",
        volumeType="Standard",
    ),
    s3(
        "EU-TimedStorage-INT-FA-ByteHrs",
        flat("0.0230000000"),
        unit="GB-Mo",
        volumeType="Intelligent-Tiering Frequent Access",
    ),
    s3(
        "EU-Monitoring-Automation-INT",
        flat("0.0000025000"),
        unit="Objects",
        family="Fee",
        feeCode="S3-Monitoring and Automation-ObjectCount",
    ),
    s3_requests("EU-Requests-Tier1", "0.0000050000", group="S3-API-Tier1"),
    s3_requests("EU-Requests-Tier2", "0.0000004000", group="S3-API-Tier2"),
    s3_requests("EU-Requests-SIA-Tier2", "9.0", group="S3-API-Tier2"),
    product("AmazonEFS", "EU-TimedStorage-ByteHrs", flat("0.3300000000"), unit="GB-Mo"),
    product("AmazonEFS", "EU-IATimedStorage-ByteHrs", flat("9.0"), unit="GB-Mo"),
    product("AmazonEFS", "EU-ETDataAccess-Bytes", flat("0.0300000000"), unit="GB", accessType="Read"),
    product("AmazonEFS", "EU-ETDataAccess-Bytes", flat("0.0600000000"), unit="GB", accessType="Write"),
    # What storage includes is free, and has a product of its own.
    product("AmazonEFS", "EU-ProvisionedTP-MiBpsHrs", flat("0.0000000000"), unit="MiBps-Mo"),
    product("AmazonEFS", "EU-ProvisionedTP-MiBpsHrs", flat("6.6000000000"), unit="MiBps-Mo"),
    # Two prices for one thing: neither is taken.
    product("AmazonVPC", "EU-VpcEndpoint-Hours", flat("0.0100000000"), unit="hours"),
    product("AmazonVPC", "EU-VpcEndpoint-Hours", flat("0.0110000000"), unit="hours"),
    # A price in another currency is none in USD.
    product(
        "AWSDataTransfer",
        "EU-DataTransfer-Regional-Bytes",
        flat("0.07"),
        unit="GB",
        currency="CNY",
        fromRegionCode="eu-west-1",
        toRegionCode="eu-west-1",
    ),
]

FOUND = {
    "sagemaker.training.ml.g5.xlarge": "1.57",
    "sagemaker.training.ml.m5.xlarge": "0.257",
    "sagemaker.training.ml.p4d.24xlarge": "28.188",
    "sagemaker.volume": "0.154",
    "fsx.lustre.scratch-2": "0.154",
    "fsx.lustre.persistent-2.125": "0.16",
    "fsx.lustre.persistent-2.1000": "0.66",
    "s3.standard.storage": "0.023",
    "s3.intelligent-tiering.storage": "0.023",
    "s3.intelligent-tiering.monitoring": "0.0025",
    "s3.requests.tier-1": "0.005",
    "s3.requests.tier-2": "0.0004",
    "efs.standard.storage": "0.33",
    "efs.elastic.read": "0.03",
    "efs.elastic.write": "0.06",
    "efs.provisioned": "6.6",
}


def _matches(item: dict[str, Any], request: dict[str, Any]) -> bool:
    fields = {**item["product"]["attributes"], "productFamily": item["product"]["productFamily"]}
    return item["serviceCode"] == request["ServiceCode"] and all(
        each["Type"] == "TERM_MATCH" and fields.get(each["Field"]) == each["Value"]
        for each in request["Filters"]
    )


class _PriceList(BaseHTTPRequestHandler):
    """GetProducts, in pages of two."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["X-Amz-Target"] == "AWSPriceListService.GetProducts"
        self.server.requests.append(request)  # pyright: ignore[reportAttributeAccessIssue]
        found = [json.dumps(each) for each in CATALOGUE if _matches(each, request)]
        start = int(request.get("NextToken", "0"))
        answer: dict[str, Any] = {"FormatVersion": "aws_v1", "PriceList": found[start : start + _PAGE]}
        if start + _PAGE < len(found):
            answer["NextToken"] = str(start + _PAGE)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """A price list on 127.0.0.1 to which boto3 is pointed, and what it is asked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _PriceList)
    server.requests = []  # pyright: ignore[reportAttributeAccessIssue]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    yield server.requests  # pyright: ignore[reportAttributeAccessIssue]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def trainfeed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """The command, with a home of its own; gives what it prints."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def invoke(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, list(arguments), env={"COLUMNS": "120"})
        assert result.exit_code == code, result.output
        return result.output

    return invoke


@pytest.mark.usefixtures("requests")
def test_every_product_that_an_estimate_needs_is_read() -> None:
    found = price_list.read(connect(price_list.ENDPOINT_REGION), "eu-west-1", on=TODAY)
    assert {each.key: f"{each.amount:f}" for each in found.records} == FOUND
    assert all((each.date, each.confidence) == (TODAY, Confidence.HIGH) for each in found.records)
    assert {each.note for each in found.records} == {"Published 2026-11-20."}
    assert set(found.missing) == {
        "fsx.lustre.persistent-1.50",
        "fsx.lustre.persistent-1.100",
        "fsx.lustre.persistent-1.200",
        "fsx.lustre.persistent-2.250",
        "fsx.lustre.persistent-2.500",
        "vpc.interface-endpoint",
        "vpc.cross-zone",
    }


@pytest.mark.usefixtures("requests")
def test_tiers_keep_their_order_and_their_ends() -> None:
    found = price_list.read(connect(price_list.ENDPOINT_REGION), "eu-west-1", on=TODAY)
    (s3_standard,) = (each for each in found.records if each.key == "s3.standard.storage")
    assert s3_standard.tiers == (
        Tier(amount=Decimal("0.023"), up_to=Decimal(51200)),
        Tier(amount=Decimal("0.022"), up_to=Decimal(512000)),
        Tier(amount=Decimal("0.021")),
    )


def test_every_page_is_asked_for(requests: list[dict[str, Any]]) -> None:
    price_list.read(connect(price_list.ENDPOINT_REGION), "eu-west-1", on=TODAY)
    tokens = [each.get("NextToken") for each in requests if each["ServiceCode"] == "AmazonFSx"]
    assert tokens == [None, "2", "4"]


@pytest.mark.usefixtures("requests")
def test_refresh_fills_the_users_own_book_and_forgets_nothing(
    trainfeed: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "config" / "trainfeed" / "prices"
    said = trainfeed("prices", "refresh", "--region", "eu-west-1")
    assert f"eu-west-1: {len(FOUND)} prices in {folder / 'eu-west-1.json'}" in said
    assert "not found: Transfer between zones" in said

    today = datetime.now(UTC).date()
    mine = PriceBook.load(folder)
    assert {
        key: f"{mine.history(key, region='eu-west-1')[0].amount:f}" for key in mine.keys("eu-west-1")
    } == FOUND
    before = (folder / "eu-west-1.json").read_text()
    trainfeed("prices", "refresh", "--region", "eu-west-1")
    assert (folder / "eu-west-1.json").read_text() == before, "the same prices of the same day are there once"

    shown = trainfeed("prices", "show", "--region", "eu-west-1")
    assert "Lustre Scratch 2 storage" in shown
    assert str(today) in shown
    assert "AWS Price List API (AmazonFSx). Published 2026-11-20" in shown
    assert f"Your own book: {folder}" in shown
    history = trainfeed("prices", "show", "--region", "eu-west-1", "--history")
    assert history.count("0.154 per GB-month") == shown.count("0.154 per GB-month") + 1, (
        "the volume's of 2023"
    )


@pytest.mark.usefixtures("requests")
def test_a_region_without_prices_is_refused(trainfeed: Callable[..., str], tmp_path: Path) -> None:
    said = trainfeed("prices", "refresh", "--region", "eu-nowhere-1", code=1)
    assert "The price list has nothing for 'eu-nowhere-1'" in said
    assert not (tmp_path / "config").exists()


@pytest.mark.usefixtures("requests")
def test_a_broken_book_of_the_user_is_named_and_not_overwritten(
    trainfeed: Callable[..., str], tmp_path: Path
) -> None:
    file = tmp_path / "config" / "trainfeed" / "prices" / "eu-west-1.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    assert f"{file} is no price book" in trainfeed("prices", "refresh", "--region", "eu-west-1", code=1)
    assert f"{file} is no JSON" in trainfeed("prices", "show", "--region", "eu-west-1", code=1)
    assert file.read_text() == "{"


def test_prices_are_shown_as_of_a_day_with_their_sources(trainfeed: Callable[..., str]) -> None:
    shown = trainfeed("prices", "show", "--region", "us-east-1", "--on", "2022-02-23")
    for expected in (
        "ml.p3.2xlarge training",
        "3.825 per hour",
        "0.14 per GB-month",
        "0.0004 per 1,000 requests",
        "2022-02-23",
        "AWS Machine Learning Blog",
        "Not known: ",
        "Ask AWS: trainfeed prices refresh --region us-east-1",
    ):
        assert expected in shown
    assert "*" not in shown, "on that day no price was old"
    assert "2026" not in shown


def test_every_region_of_the_book_is_shown_by_default(trainfeed: Callable[..., str]) -> None:
    shown = trainfeed("prices", "show")
    assert all(f"{region}\n" in shown for region in ("us-east-1", "us-west-2", "eu-west-1", "ap-northeast-1"))
    assert "* more than 180 days ago" in shown


def test_refresh_without_credentials_says_how_to_sign_in(
    trainfeed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", "http://127.0.0.1:9")
    assert "No AWS credentials were found. Sign in first" in trainfeed("prices", "refresh", code=1)


def test_the_local_aws_has_no_price_list_and_says_so(
    trainfeed: Callable[..., str], running_aws: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in running_aws.environment().items():
        monkeypatch.setenv(name, value)
    said = trainfeed("prices", "refresh", code=1)
    assert f"There is no price list at {running_aws.url} (AWS_ENDPOINT_URL)" in said

import json

import pytest
from aws_cdk import App, Stack, aws_s3
from cdk_nag import AwsSolutionsChecks
from cfnlint.config import ConfigMixIn
from cfnlint.decode.decode import decode_str
from cfnlint.runner import Runner

from stacks.main import build
from stacks.settings import read

REGIONS = ["us-east-1", "eu-west-1"]


def as_shipped(_):
    pass


def existing(content):
    content["network"]["existing"] = {
        "vpc_id": "vpc-01234567",
        "subnet_id": "subnet-01234567",
        "security_group_id": "sg-01234567",
    }
    content["dataset"].update(data_bucket="my-data", output_bucket="my-output")


def persistent(content):
    content["sources"]["fsx-lustre"].update(deployment_type="PERSISTENT_2", per_unit_storage_throughput=250)
    content["dataset"]["access_log_bucket"] = "my-logs"
    content["network"]["zone_id"] = "use1-az4"


def two_sources(content):
    links = [{"path": "/out", "uri": "s3://mine/fast", "auto_export": ["NEW"], "import_on_create": False}]
    content["sources"]["fast"] = {"links": links}
    content["jobs"]["training"]["channels"].update(
        more={"source": "fast", "path": "/out", "access": "rw"},
        raw={"source": "s3", "uri": "s3://their-data", "mode": "FastFile"},
    )


SETTINGS = [as_shipped, existing, persistent, two_sources]


@pytest.fixture(scope="module")
def lint():
    """Lints a template; the linter's rules are read once, for they take longer than the linting."""
    runner = Runner(ConfigMixIn(regions=REGIONS))

    def find(text):
        template, faults = decode_str(text)
        return [str(match) for match in faults or runner.validate_template(template)]

    return find


@pytest.mark.parametrize(
    ("change", "region"), [*((change, "us-east-1") for change in SETTINGS), (as_shipped, None)]
)
def test_cfn_lint_finds_nothing(synth, lint, change, region):
    for template in synth(change, region=region).folder.glob("*.template.json"):
        assert lint(template.read_text()) == [], template.name


def test_cfn_lint_would_find_a_misspelt_property(synth, lint):
    template = synth(as_shipped).folder / "FsxLustreStack.template.json"

    (found,) = lint(template.read_text().replace('"StorageType"', '"StorageTyp"'))
    assert "StorageTyp" in found


def violations(app):
    app.synth()
    report = AwsSolutionsChecks().validate_scope(app)
    return {
        f"{violation.rule_name} {resource.construct_path}"
        for violation in report.violations
        for resource in violation.violating_resources
    }


@pytest.mark.parametrize("change", SETTINGS)
@pytest.mark.parametrize("region", ["us-east-1", None])
def test_cdk_nag_finds_nothing_that_no_reason_was_given_for(write, flags, monkeypatch, change, region):
    monkeypatch.delenv("CDK_DEFAULT_REGION", raising=False)
    if region:
        monkeypatch.setenv("CDK_DEFAULT_REGION", region)
    app = App(context=flags, analytics_reporting=False)
    build(app, read(write(change)))

    assert violations(app) == set()


def test_cdk_nag_would_find_a_bucket_without_access_logs(flags):
    app = App(context=flags, analytics_reporting=False)
    aws_s3.Bucket(Stack(app, "Stack"), "Bucket", enforce_ssl=True)

    assert violations(app) == {"AwsSolutions-S1 Stack/Bucket/Resource"}


def test_every_acknowledgement_says_why(app_as_shipped):
    acknowledged = {
        rule: reason
        for path in app_as_shipped.folder.glob("*.metadata.json")
        for entries in json.loads(path.read_text()).values()
        for entry in entries
        if entry["type"] == "aws:cdk:acknowledged-rules"
        for rule, reason in entry["data"].items()
    }
    assert {rule.split("-")[1].split("[")[0] for rule in acknowledged} == {"IAM5", "S1", "VPC7"}
    assert [rule for rule, reason in acknowledged.items() if len(reason.split()) < 5] == []

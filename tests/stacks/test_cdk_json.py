import json
import tarfile
from pathlib import Path

import aws_cdk
import pytest

ROOT = Path(__file__).parents[2]
CDK_JSON = json.loads((ROOT / "cdk.json").read_text())
DECISIONS = ROOT / "docs" / "decisions"

#: What we set otherwise than the CDK recommends, and the page that argues it.
OTHERWISE = {
    "@aws-cdk/core:defaultCrossStackReferences": ("strong", "cross-stack-references.md"),
    "@aws-cdk/aws-ec2:restrictDefaultSecurityGroup": (False, "default-security-group.md"),
    "@aws-cdk/aws-efs:denyAnonymousAccess": (False, "anonymous-efs-clients.md"),
}


@pytest.fixture(scope="module")
def recommended():
    """The flags that this version of the CDK recommends for a new app."""
    (bundle,) = Path(aws_cdk.__file__).parent.glob("_jsii/aws-cdk-lib@*.jsii.tgz")
    with tarfile.open(bundle) as archive:
        return json.load(archive.extractfile("package/recommended-feature-flags.json"))


def test_every_recommended_flag_is_set_as_recommended_or_argued(recommended):
    flags = {name: value for name, value in CDK_JSON["context"].items() if name.startswith("@aws-cdk")}

    assert flags == recommended | {name: value for name, (value, _) in OTHERWISE.items()}


@pytest.mark.parametrize(("flag", "page"), [(flag, page) for flag, (_, page) in OTHERWISE.items()])
def test_each_flag_that_is_otherwise_has_a_page(recommended, flag, page):
    assert flag in recommended
    assert flag in (DECISIONS / page).read_text()


def test_nothing_is_reported_to_anyone():
    assert CDK_JSON["versionReporting"] is False
    assert CDK_JSON["notices"] is False
    assert CDK_JSON["context"]["cli-telemetry"] is False

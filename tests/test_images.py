"""The images' addresses are those of the SageMaker SDK."""

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from trainfeed import images
from trainfeed.rules.job import RULES
from trainfeed.rules.job_request import JobRequest
from trainfeed.rules.rule import check

_SCRIPT = Path(__file__).parents[1] / "scripts" / "refresh-images"


def test_the_data_is_what_the_installed_sdk_has():
    loader = SourceFileLoader("refresh_images", str(_SCRIPT))
    spec = importlib.util.spec_from_loader("refresh_images", loader)
    assert spec is not None
    script = importlib.util.module_from_spec(spec)
    loader.exec_module(script)

    shipped = {
        name: {"repository": image.repository, "tag": image.tag, "registries": image.registries}
        for name, image in images.images().items()
    }
    assert shipped == script.images()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            images.scikit_learn("us-east-1"),
            "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-scikit-learn:1.4-2-cpu-py3",
        ),
        (
            images.scikit_learn("cn-north-1"),
            "450853457545.dkr.ecr.cn-north-1.amazonaws.com.cn/sagemaker-scikit-learn:1.4-2-cpu-py3",
        ),
        (
            images.pytorch("us-west-2", gpu=False),
            "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.10.0-cpu-py313",
        ),
        (
            images.pytorch("mx-central-1", gpu=True),
            "637423239942.dkr.ecr.mx-central-1.amazonaws.com/pytorch-training:2.10.0-gpu-py313",
        ),
    ],
)
def test_an_image_has_its_regions_address(given, expected):
    assert given == expected


def test_a_region_without_the_image_is_refused_with_those_that_have_it():
    with pytest.raises(ValueError, match=r"no scikit-learn image in 'mx-central-1'.*us-east-1"):
        images.scikit_learn("mx-central-1")


def test_every_image_is_one_that_a_job_can_name():
    for image in images.images().values():
        for region in image.registries:
            assert check(RULES, JobRequest(image=image.uri(region), output="s3://bucket/out")) == ()

"""Finding a deployed job template by its name."""

import json
from typing import Any

import pytest

from trainfeed import names
from trainfeed.run import launch, templates
from trainfeed.run.aws import UserError
from trainfeed.sources import S3Uri

MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:trainfeed-training"


def publish(aws: Any, *jobs: str) -> None:
    facts = {"StateMachineArn": MACHINE, "CodeUri": "s3://out/code", "OutputUri": "s3://out/outputs"}
    for job in jobs:
        aws.client("ssm").put_parameter(Name=names.job_parameter(job), Value=json.dumps(facts), Type="String")


def test_a_template_is_what_its_stack_published(aws: Any) -> None:
    publish(aws, "training")
    assert templates.find(aws.client, "training") == templates.JobTemplate(
        name="training",
        state_machine_arn=MACHINE,
        code=S3Uri("out", "code"),
        output=S3Uri("out", "outputs"),
    )


@pytest.mark.parametrize(
    ("deployed", "asked", "says"),
    [
        ([], "training", r"No job template is deployed in us-east-1.*cdk deploy TrainingJobStack"),
        (["training"], "trainign", "no job template 'trainign'. Deployed: training."),
        (["eval", "training", "training-file"], "training-flie", "Deployed: training-file, training, eval."),
        (["training"], "no such/thing!", "no job template 'no such/thing!'. Deployed: training."),
        (["training"], "", "no job template ''. Deployed: training."),
    ],
)
def test_an_unknown_template_is_told_with_the_known_ones(
    aws: Any, deployed: list[str], asked: str, says: str
) -> None:
    publish(aws, *deployed)
    with pytest.raises(UserError, match=says):
        templates.find(aws.client, asked)


@pytest.mark.parametrize(
    ("deployed", "asked", "says"),
    [
        (
            [],
            "training",
            r"The job 'training' is not deployed in us-east-1 .*\(cdk deploy TrainingJobStack\)",
        ),
        (["training"], "training-file", r"'training-file' is not deployed.*cdk deploy TrainingFileJobStack"),
        (["training"], "TrainingFileJobStack", "The job 'training-file' is not deployed"),
        (["training"], "TrainingJobStack", "the job in it is 'training': trainfeed run training"),
        (["training"], "eval", "no job template 'eval'. Deployed: training."),
    ],
)
def test_a_job_of_the_settings_is_told_with_its_stack(
    aws: Any, deployed: list[str], asked: str, says: str
) -> None:
    publish(aws, *deployed)
    with pytest.raises(UserError, match=says):
        templates.find(aws.client, asked, planned=lambda: ("training", "training-file"))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("training", "'training' names no run. A run is named like"),
        ("eval-20261201-161500-ab12", "no job template 'eval'"),
    ],
)
def test_a_run_is_found_by_a_name_that_one_can_have(aws: Any, name: str, says: str) -> None:
    publish(aws, "training")
    with pytest.raises(UserError, match=says):
        launch.find(aws.client, name)


def test_a_name_too_long_for_a_training_job_is_refused(aws: Any) -> None:
    template = templates.JobTemplate(
        name="t" * 43, state_machine_arn=MACHINE, code=S3Uri("out"), output=S3Uri("out")
    )
    with pytest.raises(UserError, match="Shorten the template's name by 1"):
        launch.start(aws.client, template, code=S3Uri("out"), script="train.py", hyperparameters={})

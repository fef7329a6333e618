import json

import pytest
from aws_cdk import aws_iam
from aws_cdk.assertions import Annotations, Match
from statelint.linter import Linter

from trainfeed.execution_role import execution_role_grants
from trainfeed.job import TrainingJob
from trainfeed.rules.rule import RuleViolationError
from trainfeed.run.permissions import RUNNING
from trainfeed.sources import Channel, InputMode, LustreSource, S3Source, S3Uri
from trainfeed.state_machine import rights
from trainfeed_constructs import TrainingJobTemplate

IMAGE = "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-scikit-learn:1.2-1-cpu-py3"


def s3(name="train", uri="s3://bucket/data", mode=InputMode.FILE):
    return Channel(name=name, source=S3Source(uri=S3Uri.parse(uri), mode=mode))


def lustre(name="train", path="/data"):
    return Channel(name=name, source=LustreSource(facts="fsx-lustre", path=path))


def job(*channels, **more):
    stated = {
        "name": "training",
        "image": IMAGE,
        "channels": channels or (s3(),),
        "output": S3Uri("out", "outputs"),
        "code": S3Uri("out", "code"),
    }
    return TrainingJob(**{**stated, **more})


def text(value):
    """A value of a template as text, each reference by its name."""
    if isinstance(value, dict) and "Fn::Join" in value:
        return "".join(map(text, value["Fn::Join"][1]))
    return value if isinstance(value, str) else f"<{json.dumps(value)}>"


def definition(body):
    """The states language of a state machine, with an ARN for each reference."""
    parts = body["Properties"]["DefinitionString"]["Fn::Join"][1]
    return json.loads(
        "".join(part if isinstance(part, str) else "arn:aws:iam::123456789012:role/r" for part in parts)
    )


def role_of(found, service):
    for id_, body in found("AWS::IAM::Role").items():
        (trust,) = body["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        if trust["Principal"] == {"Service": f"{service}.amazonaws.com"}:
            return id_, body["Properties"], trust
    raise AssertionError(service)


def allowed(role):
    """Which actions are allowed on which resources."""
    (policy,) = role["Policies"]
    for statement in policy["PolicyDocument"]["Statement"]:
        assert statement["Effect"] == "Allow"
        actions, resources = statement["Action"], statement["Resource"]
        for action in [actions] if isinstance(actions, str) else actions:
            for resource in resources if isinstance(resources, list) else [resources]:
                yield action, text(resource)


def wanted(statements):
    for statement in statements:
        actions, resources = statement["Action"], statement["Resource"]
        for action in [actions] if isinstance(actions, str) else actions:
            for resource in [resources] if isinstance(resources, str) else resources:
                yield action, resource


PLACE = {"partition": "aws", "region": "us-east-1", "account": '<{"Ref": "AWS::AccountId"}>'}


@pytest.mark.parametrize("channel", [s3(), lustre()], ids=["s3", "fsx-lustre"])
def test_the_jobs_role_may_do_what_its_sources_need_and_no_more(stack, found, channel):
    template = TrainingJobTemplate(stack, "Job", job=job(channel))

    _, role, _ = role_of(found, "sagemaker")
    statements = [grant.statement() for grant in execution_role_grants(template.job, **PLACE)]
    assert set(allowed(role)) == set(wanted(statements))


def test_a_job_on_s3_alone_has_no_rights_on_networks_and_one_on_lustre_none_on_the_data(make_stack, found):
    on_s3, on_lustre = make_stack(), make_stack()
    TrainingJobTemplate(on_s3, "Job", job=job(s3()))
    TrainingJobTemplate(on_lustre, "Job", job=job(lustre()))

    services = {}
    for stack in (on_s3, on_lustre):
        _, role, _ = role_of(lambda type_, stack=stack: found(type_, of=stack), "sagemaker")
        services[stack] = [action.split(":")[0] for action, _ in allowed(role)]
        reads = {resource for action, resource in allowed(role) if action == "s3:GetObject"}
        assert any("bucket/data" in resource for resource in reads) is (stack is on_s3)
    assert "ec2" not in services[on_s3]
    assert "ec2" in services[on_lustre]


def test_the_state_machines_role_may_do_what_its_steps_need_besides_log_and_trace(stack, found):
    TrainingJobTemplate(stack, "Job", job=job(lustre()))

    jobs_role, _, _ = role_of(found, "sagemaker")
    _, role, _ = role_of(found, "states")
    passed = f'<{{"Fn::GetAtt": ["{jobs_role}", "Arn"]}}>'
    needed = set(
        wanted(rights(job="training", file_systems=("fsx-lustre",), execution_role_arn=passed, **PLACE))
    )
    others = set(allowed(role)) - needed
    assert needed <= set(allowed(role))
    assert {action.split(":")[0] for action, _ in others} == {"logs", "xray"}


def test_roles_are_for_this_account_only(stack, found):
    TrainingJobTemplate(stack, "Job", job=job())

    for service in ("sagemaker", "states"):
        _, _, trust = role_of(found, service)
        assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


@pytest.mark.parametrize("channel", [s3(), lustre()], ids=["s3", "fsx-lustre"])
def test_the_state_machine_is_valid_named_logged_and_traced(stack, only, channel):
    TrainingJobTemplate(stack, "Job", job=job(channel))

    _, body = only("AWS::StepFunctions::StateMachine")
    log, _ = only("AWS::Logs::LogGroup")
    # The linter's schema has no JSONata in Seconds, which Step Functions takes.
    assert [fault for fault in Linter.validate(definition(body)) if 'Seconds is "{%' not in fault] == []
    assert body["Properties"]["StateMachineName"] == "trainfeed-training"
    assert body["Properties"]["StateMachineType"] == "STANDARD"
    logging = body["Properties"]["LoggingConfiguration"]
    assert logging["Level"] == "ALL"
    assert logging["Destinations"] == [
        {"CloudWatchLogsLogGroup": {"LogGroupArn": {"Fn::GetAtt": [log, "Arn"]}}}
    ]
    assert body["Properties"]["TracingConfiguration"] == {"Enabled": True}


def test_the_job_runs_as_the_jobs_role(stack, found, only):
    TrainingJobTemplate(stack, "Job", job=job())

    jobs_role, _, _ = role_of(found, "sagemaker")
    definition = only("AWS::StepFunctions::StateMachine")[1]["Properties"]["DefinitionString"]["Fn::Join"][1]
    assert {"Fn::GetAtt": [jobs_role, "Arn"]} in definition


def test_the_parameter_tells_where_the_machine_and_the_folders_are(stack, only):
    TrainingJobTemplate(stack, "Job", job=job())

    machine, _ = only("AWS::StepFunctions::StateMachine")
    properties = only("AWS::SSM::Parameter")[1]["Properties"]
    assert properties["Name"] == "/trainfeed/jobs/training"
    before, reference, after = properties["Value"]["Fn::Join"][1]
    assert reference == {"Fn::GetAtt": [machine, "Arn"]}
    assert json.loads(f"{before}ARN{after}") == {
        "StateMachineArn": "ARN",
        "CodeUri": "s3://out/code",
        "OutputUri": "s3://out/outputs",
    }


def test_the_log_goes_with_its_stack(stack, only):
    TrainingJobTemplate(stack, "Job", job=job())

    _, log = only("AWS::Logs::LogGroup")
    assert log["DeletionPolicy"] == "Delete"
    assert log["Properties"]["RetentionInDays"] == 90


def test_someone_else_can_be_let_run_the_job_and_do_no_more(stack, only):
    template = TrainingJobTemplate(stack, "Job", job=job())
    template.grant_run(aws_iam.User(stack, "Someone"))

    statements = only("AWS::IAM::Policy")[1]["Properties"]["PolicyDocument"]["Statement"]
    granted = dict(wanted([{**item, "Resource": text(item["Resource"])} for item in statements]))
    assert set(granted) == {action for rights in RUNNING for action in rights.actions}
    assert granted["ssm:GetParameter"].endswith(":parameter/trainfeed/jobs/training")
    assert granted["s3:PutObject"].endswith(":s3:::out/code/*")
    assert granted["sagemaker:DescribeTrainingJob"].endswith(":training-job/training-*")


def test_failed_and_succeeded_runs_are_metrics(stack):
    template = TrainingJobTemplate(stack, "Job", job=job())

    for metric, name in (
        (template.metric_failed(), "ExecutionsFailed"),
        (template.metric_succeeded(), "ExecutionsSucceeded"),
    ):
        assert (metric.namespace, metric.metric_name, metric.statistic) == ("AWS/States", name, "Sum")
        assert metric.dimensions == {"StateMachineArn": template.state_machine_arn}


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        (job(), None),
        (job(*(s3(f"c{number}") for number in range(19))), None),
        (job(*(s3(f"c{number}") for number in range(20))), "JOB-CHANNELS"),
        (job(s3("a"), s3("a")), "JOB-CHANNELS-UNIQUE"),
        (job(s3("a.b")), "JOB-CHANNEL-NAME"),
        (job(s3("a-b")), None),
        (job(s3("code")), "JOB-CHANNELS-UNIQUE"),
        (job(image="scikit-learn"), "JOB-IMAGE"),
        (job(instance_type="m5.large"), "JOB-INSTANCE-TYPE"),
        (job(instance_type="ml.g5.xlarge", instance_count=0), "JOB-INSTANCE-COUNT"),
        (job(max_run_seconds=28 * 86_400), None),
        (job(max_run_seconds=28 * 86_400 + 1), "JOB-MAX-RUN"),
        (job(name="Training"), "JOB-TEMPLATE-NAME"),
    ],
)
def test_a_job_that_sagemaker_would_refuse_is_refused_at_synth(stack, stated, rule):
    if rule is None:
        TrainingJobTemplate(stack, "Job", job=stated)
        return
    with pytest.raises(RuleViolationError, match=rule):
        TrainingJobTemplate(stack, "Job", job=stated)


def test_a_volume_that_an_instance_with_nvme_ignores_is_told(stack):
    TrainingJobTemplate(stack, "Job", job=job(instance_type="ml.g5.xlarge", volume_size_gib=500))

    note = Match.string_like_regexp("JOB-VOLUME-IGNORED")
    Annotations.from_stack(stack).has_info("/Stack/Job", note)

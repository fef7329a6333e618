"""What the local AWS takes for granted of MiniStack's insides, and each place where it corrects it.

A new version of MiniStack is taken when this file passes with it.
"""

import ast
import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

import trainfeed
from trainfeed.local import ministack

PACKAGE = Path(trainfeed.__file__).parent

#: Every private name of MiniStack that ministack.py uses beside STORES and FUNCTIONS.
PRIVATE = {
    "app": {"_MAIN_LOOP"},
    "changesets": set(),
    "cloudformation": {"_ACTION_HANDLERS"},
    "ec2": {"_ACTION_MAP", "_error"},
    "handlers": set(),
    "iam_evaluator": {"_conditions_met", "_service_principal_matches"},
    "provisioners": {"_REPLACING_PROPERTIES", "_RESOURCE_HANDLERS", "_STACK_TAG_PROPERTY"},
    "router": set(),
    "stacks": {"_add_event"},
    "stepfunctions": {"_ExecutionError"},
}


@pytest.fixture(autouse=True)
def _loaded(aws: Any):
    """MiniStack is imported with the environment of the running local AWS."""


def module(name: str) -> Any:
    return importlib.import_module(f"ministack.{name}")


def test_the_version_is_the_one_whose_insides_are_known(monkeypatch):
    monkeypatch.setattr(ministack, "version", lambda _: "9.9.9")
    with pytest.raises(RuntimeError, match=r"needs ministack 1\.5\.33 exactly, and 9\.9\.9 is installed"):
        ministack.load()


@pytest.mark.parametrize("name", sorted(ministack.STORES))
def test_stores(name):
    responses = module("core.responses")
    assert type(ministack.store(name)) in (responses.AccountScopedDict, responses.AccountRegionScopedDict)


@pytest.mark.parametrize("name", sorted(ministack.FUNCTIONS))
def test_functions_take_the_parameters_we_give(name):
    expected = ministack.FUNCTIONS[name][2]
    assert tuple(inspect.signature(ministack.function(name)).parameters) == expected


def test_only_one_module_knows_ministack():
    """And every private name that it uses is listed here."""
    used: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        imported = set()
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ministack":
                assert path == PACKAGE / "local" / "ministack.py", f"{path} imports {node.module}"
                imported |= {alias.name for alias in node.names}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in imported
                and node.attr.startswith("_")
            ):
                used.setdefault(node.value.id, set()).add(node.attr)
    assert used == {name: names for name, names in PRIVATE.items() if names}


@pytest.mark.parametrize(
    ("table", "key", "shape"),
    [
        (("app", "SERVICE_REGISTRY"), "s3", {"module": "s3"}),
        (("core.router", "SERVICE_PATTERNS"), "sns", {"host_patterns": [], "target_prefixes": []}),
        (
            ("services.cloudformation.provisioners", "_RESOURCE_HANDLERS"),
            "AWS::Logs::LogGroup",
            {"create": len, "update": len, "delete": len},
        ),
    ],
)
def test_tables_of_dicts(table, key, shape):
    entry = getattr(module(table[0]), table[1])[key]
    for name, kind in shape.items():
        assert callable(entry[name]) if kind is len else isinstance(entry[name], type(kind))


@pytest.mark.parametrize(
    ("table", "key", "kind"),
    [
        (("services.cloudformation.provisioners", "_REPLACING_PROPERTIES"), "AWS::IAM::Role", tuple),
        (("services.cloudformation.provisioners", "_STACK_TAG_PROPERTY"), "AWS::IAM::Role", tuple),
    ],
)
def test_tables_of_values(table, key, kind):
    assert isinstance(getattr(module(table[0]), table[1])[key], kind)


@pytest.mark.parametrize(
    ("table", "key", "parameters"),
    [
        (("app", "SERVICE_HANDLERS"), "sqs", ("method", "path", "headers", "body", "query_params")),
        (("services.ec2", "_ACTION_MAP"), "DescribeVpcs", ("p",)),
        (("services.cloudformation", "_ACTION_HANDLERS"), "DescribeStacks", ("params",)),
    ],
)
def test_tables_of_functions(table, key, parameters):
    function = getattr(module(table[0]), table[1])[key]
    assert tuple(inspect.signature(function).parameters) == parameters


@pytest.mark.parametrize("name", ["stacks", "changesets", "handlers"])
def test_stack_events_are_added_by_one_function_known_under_one_name(name):
    stacks = module("services.cloudformation.stacks")
    assert module(f"services.cloudformation.{name}")._add_event is stacks._add_event


def test_stack_events_take_the_arguments_of_ours():
    source = inspect.getsource(module("services.cloudformation.stacks"))
    (defined,) = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == "_add_event"
    ]
    assert [argument.arg for argument in defined.args.args] == list(
        inspect.signature(ministack.StackEvent).parameters
    )


def test_records_of_networks(aws):
    ec2 = aws.client("ec2")
    vpc_id = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet_id = ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    group_id = ec2.create_security_group(GroupName="jobs", Description="jobs", VpcId=vpc_id)["GroupId"]
    interface = ec2.create_network_interface(SubnetId=subnet_id, Groups=[group_id])["NetworkInterface"]
    endpoint = ec2.create_vpc_endpoint(VpcId=vpc_id, ServiceName="com.amazonaws.us-east-1.s3")["VpcEndpoint"]
    table = ec2.create_route_table(VpcId=vpc_id)["RouteTable"]
    with ministack.scope("123456789012", "us-east-1"):
        assert {"VpcId", "CidrBlock"} <= ministack.store("vpcs")[vpc_id].keys()
        assert {"VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId"} <= ministack.store("subnets")[
            subnet_id
        ].keys()
        group = ministack.store("security groups")[group_id]
        assert {"IpRanges", "Ipv6Ranges", "PrefixListIds", "UserIdGroupPairs", "IpProtocol"} == group[
            "IpPermissionsEgress"
        ][0].keys()
        made = ministack.create_network_interface(subnet_id, [group_id], "ours")
        interfaces = ministack.store("network interfaces")
        assert interfaces[made].keys() == interfaces[interface["NetworkInterfaceId"]].keys()
        assert {"VpcEndpointType", "VpcId", "ServiceName", "State", "RouteTableIds"} <= ministack.store(
            "endpoints"
        )[endpoint["VpcEndpointId"]].keys()
        assert ministack.store("route tables")[table["RouteTableId"]]["Associations"] == []


def test_records_of_roles(aws):
    iam = aws.client("iam")
    arn = iam.create_role(RoleName="jobs", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    with ministack.scope("123456789012", "us-east-1"):
        assert ministack.store("roles")["jobs"]["Arn"] == arn


# The corrections. Those of Step Functions are in test_contract_stepfunctions.py (roles) and in
# test_stepfunctions.py (TimeoutSeconds, 256 KiB, stopping, unknown arguments).

PARAMETER = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "one"}}


def test_outputs_alone_are_a_change(stack):
    resources = {"Parameter": PARAMETER}
    stack.create(resources, Outputs={"One": {"Value": "1"}})

    changes = stack.change(resources, Outputs={"One": {"Value": "2"}})
    assert (changes["Status"], changes["ExecutionStatus"]) == ("CREATE_COMPLETE", "AVAILABLE")
    assert changes["Changes"] == []
    assert stack.execute().outputs == {"One": "2"}

    assert stack.update(resources, Outputs={"Two": {"Value": "2"}}).outputs == {"Two": "2"}


@pytest.mark.parametrize(
    ("default", "joined", "made"),
    [
        ("", {"Ref": "Names"}, False),
        ("a,b", {"Ref": "Names"}, True),
        ("", ["x", {"Ref": "Names"}], True),
        ("", ["", {"Ref": "Names"}], False),
    ],
)
def test_conditions_join_texts(stack, default, joined, made):
    given = {"Fn::Not": [{"Fn::Equals": ["", {"Fn::Join": ["", joined]}]}]}
    sections = {
        "Parameters": {"Names": {"Type": "CommaDelimitedList", "Default": default}},
        "Conditions": {"Given": given},
        "Outputs": {"Given": {"Value": {"Fn::If": ["Given", "yes", "no"]}}},
    }
    assert stack.create({"One": PARAMETER}, **sections).outputs == {"Given": "yes" if made else "no"}
    stack.change({"One": PARAMETER, "Two": {**PARAMETER, "Condition": "Given"}}, **sections)
    touched = {event["LogicalResourceId"] for event in stack.execute().events()}
    assert ("Two" in touched) is made


@pytest.mark.parametrize(
    "sections",
    [{"Outputs": {"One": {"Value": "1"}}}, {"Outputs": {"One": {"Value": "1"}}, "Description": "new"}],
)
def test_what_is_no_change_stays_none(stack, sections):
    resources = {"Parameter": PARAMETER}
    stack.create(resources, Outputs={"One": {"Value": "1"}})
    changes = stack.change(resources, **sections)
    assert changes["Status"] == "FAILED"
    assert "didn't contain changes" in changes["StatusReason"]


VALUES = [
    ({"Value": "x" * 4096}, None),
    ({"Value": "x" * 4097}, "maximum parameter value of 4096"),
    ({"Value": "ä" * 2048}, None),
    ({"Value": "ä" * 2048 + "x"}, "maximum parameter value of 4096"),
    ({"Value": "x" * 8192, "Tier": "Advanced"}, None),
    ({"Value": "x" * 8193, "Tier": "Advanced"}, "maximum parameter value of 8192"),
    ({"Value": "x" * 8192, "Tier": "Intelligent-Tiering"}, None),
    ({"Value": "{% $x %}"}, None),
    ({"Value": '{"a": {"b": 1}}'}, None),
    ({"Value": "{{ssm:other}}"}, "can't nest another parameter"),
]


@pytest.mark.parametrize(("settings", "refusal"), VALUES)
def test_parameters_have_bounds_in_the_api(aws, settings, refusal):
    put = aws.client("ssm").put_parameter
    if refusal is None:
        put(Name="/one", Type="String", **settings)
        assert aws.client("ssm").get_parameter(Name="/one")["Parameter"]["Value"] == settings["Value"]
    else:
        with pytest.raises(ClientError, match=refusal) as refused:
            put(Name="/one", Type="String", **settings)
        assert refused.value.response["Error"]["Code"] == "ValidationException"


@pytest.mark.parametrize(("settings", "refusal"), VALUES)
def test_parameters_have_bounds_in_stacks(stack, settings, refusal):
    stack.create({"Parameter": {**PARAMETER, "Properties": {"Type": "String", **settings}}})
    if refusal is None:
        assert stack.status == "CREATE_COMPLETE"
    else:
        assert stack.status == "ROLLBACK_COMPLETE"
        assert refusal in stack.reasons()[0]


def test_an_update_to_a_value_out_of_bounds_is_rolled_back(aws, stack):
    stack.create({"Parameter": PARAMETER})
    too_big = {**PARAMETER, "Properties": {"Type": "String", "Value": "x" * 4097}}
    assert stack.update({"Parameter": too_big}).status == "UPDATE_ROLLBACK_COMPLETE"
    name = stack.physical("Parameter")
    assert aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"] == "one"


def test_stack_events_reach_event_bridge(aws, stack):
    sqs, events = aws.client("sqs"), aws.client("events")
    url = sqs.create_queue(QueueName="heard")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(
        Name="stacks",
        EventPattern=json.dumps(
            {
                "source": ["aws.cloudformation"],
                "detail-type": ["CloudFormation Stack Status Change"],
                "detail": {"status-details": {"status": ["CREATE_COMPLETE", "DELETE_COMPLETE"]}},
            }
        ),
    )
    events.put_targets(Rule="stacks", Targets=[{"Id": "queue", "Arn": arn}])
    stack.create({"Parameter": PARAMETER})
    stack.delete()
    heard = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    bodies = [json.loads(message["Body"]) for message in heard]
    assert [body["detail"]["status-details"]["status"] for body in bodies] == [
        "CREATE_COMPLETE",
        "DELETE_COMPLETE",
    ]
    assert bodies[0]["detail"]["stack-id"] == bodies[0]["resources"][0] == stack.events()[0]["StackId"]


def test_events_of_a_failed_update_name_its_operation_and_its_rollback(stack):
    """So the CDK CLI shows the failures of this deployment, and not those of the one before."""
    stack.create({"Parameter": PARAMETER})
    for _ in range(2):
        stack.update({"Parameter": {**PARAMETER, "Properties": {"Type": "String", "Value": "{{"}}})
    operations = [event["OperationId"] for event in stack.events()]
    assert len(dict.fromkeys(operations)) == 5


def test_an_update_has_events_of_what_it_changes(stack):
    one, two = ({**PARAMETER, "Properties": {"Type": "String", "Value": value}} for value in "12")
    stack.create({"Changed": one, "Kept": one})
    stack.update({"Changed": two, "Kept": one})
    told = [(event["LogicalResourceId"], event["ResourceStatus"]) for event in reversed(stack.events())]
    assert told[-4:] == [
        (stack.name, "UPDATE_IN_PROGRESS"),
        ("Changed", "UPDATE_IN_PROGRESS"),
        ("Changed", "UPDATE_COMPLETE"),
        (stack.name, "UPDATE_COMPLETE"),
    ]
    times = [event["Timestamp"] for event in reversed(stack.events())]
    assert times == sorted(set(times))

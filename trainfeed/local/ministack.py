# ruff: noqa: PLC0415 - MiniStack reads its environment when it is imported, so importing it waits.
"""The one door to MiniStack's insides.

MiniStack (https://pypi.org/project/ministack/, MIT) is an AWS in one Python process: CloudFormation, S3,
IAM, EC2, Step Functions, EventBridge, SSM and more, with its state in module-level tables. It offers no
way to add a service or a resource type, so this module writes into those tables. Everything that it
touches is named in STORES and FUNCTIONS below or in this file, and tests/local/test_contract.py holds
each of them, which is why the version is pinned exactly.

What is registered here lasts until `release`, so a stopped local AWS leaves MiniStack as it was.
"""

import asyncio
import contextvars
import importlib
import json
import logging
import secrets
import sys
import threading
from collections.abc import Callable, MutableMapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from ipaddress import ip_network
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from trainfeed.local.service import ApiError, JsonService, encode

VERSION = "1.5.33"

#: MiniStack's state, by names of ours. Each store maps ids to records, for the account and region of
#: the request that is being served.
STORES = {
    "bucket policies": ("ministack.services.s3", "_bucket_policies"),
    "bucket tags": ("ministack.services.s3", "_bucket_tags"),
    "change sets": ("ministack.services.cloudformation", "_change_sets"),
    "endpoints": ("ministack.services.ec2", "_vpc_endpoints"),
    "executions": ("ministack.services.stepfunctions", "_executions"),
    "network interfaces": ("ministack.services.ec2", "_network_interfaces"),
    "object versions": ("ministack.services.s3", "_object_versions"),
    "roles": ("ministack.services.iam", "_roles"),
    "route tables": ("ministack.services.ec2", "_route_tables"),
    "security groups": ("ministack.services.ec2", "_security_groups"),
    "stack events": ("ministack.services.cloudformation", "_stack_events"),
    "stacks": ("ministack.services.cloudformation", "_stacks"),
    "state machines": ("ministack.services.stepfunctions", "_state_machines"),
    "subnets": ("ministack.services.ec2", "_subnets"),
    "vpcs": ("ministack.services.ec2", "_vpcs"),
}

#: The modules in which CloudFormation evaluates conditions; each has a name of its own for the function.
CONDITIONS_IN = ("engine", "changesets", "handlers", "stacks")

#: MiniStack's functions that are called or wrapped, by names of ours, with the parameters they take.
FUNCTIONS = {
    **{
        f"evaluate conditions in {module}": (
            f"ministack.services.cloudformation.{module}",
            "_evaluate_conditions",
            ("template", "params"),
        )
        for module in CONDITIONS_IN
    },
    "add execution event": (
        "ministack.services.stepfunctions",
        "_add_event",
        ("execution", "event_type", "details"),
    ),
    "announce execution status": (
        "ministack.services.stepfunctions",
        "_emit_execution_status_event",
        ("execution",),
    ),
    "create state machine": ("ministack.services.stepfunctions", "_create_state_machine", ("data",)),
    "endpoint as XML": ("ministack.services.ec2", "_vpce_fields_xml", ("ep", "tag")),
    "evaluate policies": ("ministack.core.iam_evaluator", "evaluate", ("ctx", "policies", "limits")),
    "fail execution": (
        "ministack.services.stepfunctions",
        "_fail_execution",
        ("execution", "error", "cause"),
    ),
    "fire rules": ("ministack.services.eventbridge", "_tick_scheduled_rules", ()),
    "fire schedules": ("ministack.services.scheduler", "_tick_schedules", ()),
    "id of a zone": ("ministack.services.ec2", "_az_id_for_zone_name", ("zone_name",)),
    "invoke resource": ("ministack.services.stepfunctions", "_invoke_resource", ("resource", "input_data")),
    "list object versions": (
        "ministack.services.s3",
        "_list_object_versions",
        ("bucket_name", "query_params"),
    ),
    "match error": ("ministack.services.stepfunctions", "_error_matches", ("error_equals", "error")),
    "permissions boundary": (
        "ministack.core.iam_evaluator",
        "_permissions_boundary",
        ("store", "name", "account_id"),
    ),
    "policies of a role": (
        "ministack.core.iam_evaluator",
        "_gather_role_policies",
        ("role_name", "account_id"),
    ),
    "put events": ("ministack.services.eventbridge", "_put_events", ("data", "allow_aws_source")),
    "reset executions": ("ministack.services.stepfunctions", "reset", ()),
    "run execution": ("ministack.services.stepfunctions", "_run_execution", ("exec_arn",)),
    "runs on a thread": (
        "ministack.services.cloudformation.stacks",
        "_runs_on_worker_thread",
        ("resource_type",),
    ),
    "security group rules": (
        "ministack.services.cloudformation.provisioners",
        "_ec2_sg_permissions",
        ("rules",),
    ),
    "server-side encryption": (
        "ministack.services.s3",
        "_resolve_sse_write_headers",
        ("headers", "bucket_name"),
    ),
    "sleep in execution": ("ministack.services.stepfunctions", "_scaled_sleep", ("seconds",)),
    "start execution": ("ministack.services.stepfunctions", "_start_execution", ("data",)),
    "stop execution": ("ministack.services.stepfunctions", "_stop_execution", ("data",)),
    "update resource": (
        "ministack.services.cloudformation.stacks",
        "_update_resource",
        (
            "resource_type",
            "physical_id",
            "old_props",
            "new_props",
            "stack_name",
            "logical_id",
            "old_attrs",
        ),
    ),
    "update state machine": ("ministack.services.stepfunctions", "_update_state_machine", ("data",)),
    "tag filters": (
        "ministack.services.ec2",
        "_resource_matches_tag_filters",
        ("resource_id", "filters"),
    ),
}

#: Services that run containers. They are not offered: their reset sweeps the machine's Docker, which is
#: none of ours.
WITH_CONTAINERS = ("documentdb", "ecs", "elasticache", "kinesisanalyticsv2", "opensearch", "rds")

Create = Callable[[str, dict[str, Any], str], tuple[str, dict[str, Any]]]
Update = Callable[[str, dict[str, Any], dict[str, Any], str], tuple[str, dict[str, Any]]]
Delete = Callable[[str, dict[str, Any]], None]
Answer = tuple[int, dict[str, str], Any]

_log = logging.getLogger("trainfeed.local")
_registered = ExitStack()
_timers: set[threading.Timer] = set()


def _require_version() -> None:
    installed = version("ministack")
    if installed != VERSION:
        raise RuntimeError(
            f"The local AWS needs ministack {VERSION} exactly, and {installed} is installed. "
            f"Run: pip install 'ministack=={VERSION}'"
        )


def load() -> None:
    """Import MiniStack, which takes seconds, without letting it set up logging for the whole process.

    Raises:
        RuntimeError: another version is installed than the one whose insides are known.
    """
    _require_version()
    root = logging.getLogger()
    silencer = logging.NullHandler()
    # logging.basicConfig, which MiniStack calls as it is imported, does nothing where a handler is.
    root.addHandler(silencer)
    try:
        from ministack import app

        for module in {module for module, *_ in (*STORES.values(), *FUNCTIONS.values())}:
            importlib.import_module(module)
    finally:
        root.removeHandler(silencer)
    for name in WITH_CONTAINERS:
        _registered.callback(app.SERVICE_HANDLERS.__setitem__, name, app.SERVICE_HANDLERS.pop(name))


# Tables


def store(name: str) -> Any:
    """One of MiniStack's stores, named as in STORES."""
    module, attribute = STORES[name]
    return getattr(importlib.import_module(module), attribute)


def function(name: str) -> Callable[..., Any]:
    """One of MiniStack's functions, named as in FUNCTIONS, with what was wrapped around it."""
    module, attribute, _ = FUNCTIONS[name]
    return getattr(importlib.import_module(module), attribute)


def wrap(name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put a function around one of MiniStack's, until `release`; `make` is given the one before."""
    module, attribute, _ = FUNCTIONS[name]
    before = function(name)
    made = make(before)
    made.__wrapped__ = before  # pyright: ignore[reportFunctionMemberAccess] - where inspect looks for it
    _put(vars(importlib.import_module(module)), attribute, made)


def release() -> None:
    """Cancel what is timed, and leave MiniStack as it was before anything was registered."""
    cancel_timers()
    _registered.close()


def reset() -> None:
    """Empty every service; what is registered stays."""
    from ministack import app

    cancel_timers()
    for name, service in app.SERVICE_REGISTRY.items():
        for module in (service["module"], *service.get("sub_modules", ())):
            loaded: Any = sys.modules.get(f"ministack.services.{module}")
            if name not in WITH_CONTAINERS and hasattr(loaded, "reset"):
                loaded.reset()


def _put(table: MutableMapping[str, Any], key: str, value: Any) -> None:
    before = table.get(key)
    table[key] = value
    if before is None:
        _registered.callback(table.pop, key, None)
    else:
        _registered.callback(table.__setitem__, key, before)


# Where a request is made


def account_id() -> str:
    """The account of the request that is being served."""
    from ministack.core.responses import get_account_id

    return get_account_id()


def region() -> str:
    """The region of the request that is being served."""
    from ministack.core.responses import get_region

    return get_region()


def scope(account: str, in_region: str) -> AbstractContextManager[None]:
    """Serve another account or region inside this block."""
    from ministack.core.responses import request_scope

    return request_scope(account, in_region)


def scoped_table() -> MutableMapping[str, Any]:
    """A mapping that shows each account and region its own entries."""
    from ministack.core.responses import AccountRegionScopedDict

    return AccountRegionScopedDict()  # pyright: ignore[reportReturnType] - a mapping in all but name


# Services


def register_service(service: JsonService) -> None:
    """Serve one of our services over HTTP."""
    from ministack import app
    from ministack.core import router
    from ministack.core.concurrency import run_reentrant

    async def handle(method: str, path: str, headers: dict[str, str], body: bytes, query: Any) -> Answer:
        operation = headers.get("x-amz-target", "").rpartition(".")[2]
        # A thread of its own, since an operation may call the local AWS again.
        status, answer = await run_reentrant(service.answer, operation, body)
        answered = {"Content-Type": "application/x-amz-json-1.1"}
        if status >= 400:
            answered["x-amzn-errortype"] = answer["__type"]
        return status, answered, encode(answer)

    _put(app.SERVICE_HANDLERS, service.name, handle)
    _put(
        router.SERVICE_PATTERNS,
        service.name,
        {
            "target_prefixes": [service.target_prefix + "."],
            "host_patterns": [rf"(^|\.){service.name}\."],
            "credential_scope": service.name,
        },
    )


def guard(service: str, operation: str, check: Callable[[dict[str, Any]], None]) -> None:
    """Look at a request before MiniStack answers it; `check` raises ApiError to refuse.

    The request is a dict as boto3 takes it for the JSON services (`ssm`), and the flat form parameters
    for EC2 (`{"SubnetId": "subnet-1"}`).
    """
    from ministack import app

    before = app.SERVICE_HANDLERS[service]

    async def handle(method: str, path: str, headers: dict[str, str], body: bytes, query: Any) -> Answer:
        asked, request = _request(headers, body, query)
        if asked == operation:
            try:
                check(request)
            except ApiError as error:
                return _refusal(service, error)
        return await before(method, path, headers, body, query)

    _put(app.SERVICE_HANDLERS, service, handle)


def _request(headers: dict[str, str], body: bytes, query: dict[str, list[str]]) -> tuple[str, dict[str, Any]]:
    target = headers.get("x-amz-target")
    if target:
        try:
            request = json.loads(body or b"{}")
        except ValueError:
            request = None
        return target.rpartition(".")[2], request if isinstance(request, dict) else {}
    form = {**query, **parse_qs(body.decode("utf-8", errors="replace"), keep_blank_values=True)}
    flat = {name: values[0] for name, values in form.items()}
    return flat.get("Action", ""), flat


def _refusal(service: str, error: ApiError) -> Answer:
    if service == "ec2":
        from ministack.services import ec2

        return ec2._error(error.code, escape(str(error)), error.status)
    return refused(error)


def wrap_ec2_action(name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put a function around an EC2 action of MiniStack; it takes the form's lists of values.

    It raises ApiError to refuse the request.
    """
    from ministack.services import ec2

    action = make(ec2._ACTION_MAP[name])

    def act(form: dict[str, list[str]]) -> Answer:
        try:
            return action(form)
        except ApiError as error:
            return _refusal("ec2", error)

    _put(ec2._ACTION_MAP, name, act)


# CloudFormation


def register_type(
    name: str,
    *,
    create: Create,
    update: Update | None = None,
    delete: Delete,
    replacing: tuple[str, ...] | Callable[[dict[str, Any], dict[str, Any]], bool] = (),
    blocking: bool = True,
    tags: tuple[str, str] | None = None,
) -> None:
    """Provide a CloudFormation resource type.

    Args:
        name: `AWS::FSx::FileSystem`.
        create: takes the logical id, the properties and the stack name; gives the physical id, which Ref
            returns, and the attributes for Fn::GetAtt.
        update: takes the physical id, the old and the new properties and the stack name; gives the same
            as create. Without it, any change replaces.
        delete: takes the physical id and the properties. What is gone already is no error.
        replacing: the properties whose change replaces the resource, or a function of the old and new
            properties for types where that depends on a nested value.
        blocking: run on a thread, so that a long create is seen in progress.
        tags: the property and shape (`("Tags", "list")`) that stack tags are merged into.
    """
    from ministack.services.cloudformation import provisioners

    def change(physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str):
        if update is None or (callable(replacing) and replacing(old, new)):
            # The engine sees another physical id and deletes the old resource in its cleanup phase.
            return _explained(create)(logical_id, new, stack)
        return _explained(update)(physical_id, old, new, stack)

    _put(
        provisioners._RESOURCE_HANDLERS,
        name,
        {
            "create": _explained(create),
            "update": change,
            "update_with_logical_id": True,
            "delete": _explained(delete),
            "blocking": blocking,
        },
    )
    _put(provisioners._REPLACING_PROPERTIES, name, () if callable(replacing) else replacing)
    if tags is not None:
        _put(provisioners._STACK_TAG_PROPERTY, name, tags)


def wrap_type(
    name: str,
    *,
    replacing: tuple[str, ...] = (),
    blocking: bool = False,
    tags: tuple[str, str] | None = None,
    **wrappers: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> None:
    """Put functions around `create`, `update` or `delete` of a resource type that MiniStack has.

    Args:
        name: `AWS::S3::Bucket`.
        replacing: the properties whose change replaces the resource, where MiniStack does not know.
        blocking: run on a thread, as calls to the local AWS itself need.
        tags: as for `register_type`, where MiniStack leaves stack tags out.
        wrappers: for each step, makes the new function from the old one.
    """
    from ministack.services.cloudformation import provisioners

    handlers = dict(provisioners._RESOURCE_HANDLERS[name])
    for step, make in wrappers.items():
        handlers[step] = _explained(make(handlers[step]))
    if blocking:
        handlers["blocking"] = True
    _put(provisioners._RESOURCE_HANDLERS, name, handlers)
    if replacing:
        _put(provisioners._REPLACING_PROPERTIES, name, replacing)
    if tags is not None:
        _put(provisioners._STACK_TAG_PROPERTY, name, tags)


def run_blocking_types_on_threads() -> None:
    """Have CloudFormation run the types registered as blocking on threads of their own."""
    from ministack.services.cloudformation import provisioners

    def make(before: Callable[[str], bool]) -> Callable[[str], bool]:
        return lambda name: provisioners._RESOURCE_HANDLERS.get(name, {}).get("blocking") or before(name)

    wrap("runs on a thread", make)


@dataclass(frozen=True)
class StackEvent:
    """A change of a stack or of one of its resources, as CloudFormation records it."""

    stack_id: str
    stack_name: str
    logical_id: str
    resource_type: str
    status: str
    reason: str = ""
    physical_id: str = ""
    detailed_status: str = ""


def watch_stack_events(watch: Callable[[StackEvent], None]) -> None:
    """Call `watch` with each stack event, after it is recorded."""
    from ministack.services.cloudformation import changesets, handlers, stacks

    before = stacks._add_event

    def add_event(*args: Any, **kwargs: Any) -> None:
        before(*args, **kwargs)
        watch(StackEvent(*args, **kwargs))

    for module in (stacks, changesets, handlers):
        _put(vars(module), "_add_event", add_event)


def wrap_stack_action(name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put a function around a CloudFormation action of MiniStack; it takes the form's lists of values."""
    from ministack.services import cloudformation

    _put(cloudformation._ACTION_HANDLERS, name, make(cloudformation._ACTION_HANDLERS[name]))


def _explained(step: Callable[..., Any]) -> Callable[..., Any]:
    """Give an API's refusal the words with which CloudFormation reports it."""

    def run(*args: Any) -> Any:
        try:
            return step(*args)
        except ApiError as error:
            raise ValueError(
                f'Resource handler returned message: "{error}" (ErrorCode: {error.code})'
            ) from error

    return run


# Step Functions


def task_error(error: str, cause: str) -> Exception:
    """What fails a task when a function wrapped around one of Step Functions' raises it."""
    from ministack.services import stepfunctions

    return stepfunctions._ExecutionError(error, cause)


def refused(error: ApiError) -> Answer:
    """The answer of a JSON service to a request that it refuses."""
    from ministack.core.responses import error_response_json

    return error_response_json(error.code, str(error), error.status)


# EventBridge


def put_event(source: str, detail_type: str, detail: dict[str, Any], resources: list[str]) -> None:
    """Send an event of an AWS service (`aws.sagemaker`) to the default bus of this account and region."""
    entry = {
        "Source": source,
        "DetailType": detail_type,
        "Detail": json.dumps(detail),
        "Resources": resources,
    }
    function("put events")({"Entries": [entry]}, allow_aws_source=True)


# EC2


def zones() -> dict[str, str]:
    """The Availability Zones of this region, each name with its id."""
    names = [f"{region()}{letter}" for letter in "abc"]
    return {name: function("id of a zone")(name) for name in names}


def subnet(subnet_id: str) -> dict[str, Any] | None:
    """A subnet (SubnetId, VpcId, AvailabilityZone, AvailabilityZoneId), or None."""
    return store("subnets").get(subnet_id)


def security_group(group_id: str) -> dict[str, Any] | None:
    """A security group (GroupId, VpcId, IpPermissions, IpPermissionsEgress), or None."""
    return store("security groups").get(group_id)


def vpc_endpoints(vpc_id: str) -> list[dict[str, Any]]:
    """The endpoints of a VPC (ServiceName, VpcEndpointType, RouteTableIds, PolicyDocument)."""
    return [endpoint for endpoint in store("endpoints").values() if endpoint["VpcId"] == vpc_id]


def route_table(subnet_id: str) -> dict[str, Any] | None:
    """The route table of a subnet: its own, or the main one of its VPC."""
    home = subnet(subnet_id)
    if home is None:
        return None
    tables = [table for table in store("route tables").values() if table["VpcId"] == home["VpcId"]]
    main = None
    for table in tables:
        for association in table["Associations"]:
            if association.get("SubnetId") == subnet_id:
                return table
            if association.get("Main"):
                main = table
    return main


def create_network_interface(subnet_id: str, group_ids: list[str], description: str) -> str:
    """Make the network interface of a service, in use in a subnet; its id."""
    home = store("subnets")[subnet_id]
    interface_id = f"eni-{secrets.token_hex(9)[:17]}"
    store("network interfaces")[interface_id] = {
        "NetworkInterfaceId": interface_id,
        "SubnetId": subnet_id,
        "VpcId": home["VpcId"],
        "AvailabilityZone": home["AvailabilityZone"],
        "Description": description,
        "OwnerId": account_id(),
        "Status": "in-use",
        "PrivateIpAddress": _free_address(home),
        "InterfaceType": "interface",
        "SourceDestCheck": True,
        "MacAddress": ":".join(["02", *(secrets.token_hex(1) for _ in range(5))]),
        "Groups": [
            {"GroupId": group_id, "GroupName": (security_group(group_id) or {}).get("GroupName", group_id)}
            for group_id in group_ids
        ],
        "Attachment": None,
    }
    return interface_id


def delete_network_interface(interface_id: str) -> None:
    """Take a service's network interface away; one that is gone already is no error."""
    store("network interfaces").pop(interface_id, None)


def _free_address(home: dict[str, Any]) -> str:
    taken = {
        interface["PrivateIpAddress"]
        for interface in store("network interfaces").values()
        if interface["SubnetId"] == home["SubnetId"]
    }
    # AWS keeps the first four addresses of a subnet for itself.
    for number, address in enumerate(ip_network(home["CidrBlock"]).hosts(), 1):
        if number > 3 and str(address) not in taken:
            return str(address)
    raise ApiError("InsufficientFreeAddressesInSubnet", f"The subnet {home['SubnetId']} has no free address.")


# IAM


def role_allows(
    role_arn: str, action: str, resource: str, context: dict[str, Any] | None = None
) -> str | None:
    """Whether a role's own policies let it do something.

    Args:
        role_arn: the role.
        action: `fsx:DescribeFileSystems`.
        resource: the ARN that is acted on, or `*`.
        context: condition keys and their values (`{"iam:PassedToService": "sagemaker.amazonaws.com"}`).

    Returns:
        None where it may, else the text of the denial.
    """
    from ministack.core import iam_evaluator

    account, name = role_arn.split(":")[4], role_arn.rpartition("/")[2]
    session = f"arn:aws:sts::{account}:assumed-role/{name}/local"
    request = iam_evaluator.EvalContext(
        principal_arn=role_arn,
        principal_type="AssumedRole",
        principal_account=account,
        action=action,
        resource_arn=resource,
        region=region(),
        secure_transport=True,
        service_context={key.lower(): value for key, value in (context or {}).items()},
    )
    policies = function("policies of a role")(name, account)
    boundary = function("permissions boundary")(store("roles"), name, account)
    decision = function("evaluate policies")(request, policies, *boundary).decision
    if decision == "Allow":
        return None
    reason = (
        "with an explicit deny in an identity-based policy"
        if decision == "Deny"
        else f"because no identity-based policy allows the {action} action"
    )
    return f"User: {session} is not authorized to perform: {action} on resource: {resource} {reason}"


def role_trusts(role_arn: str, service: str) -> bool:
    """Whether a role exists and lets a service (`states.amazonaws.com`) assume it."""
    from ministack.core import iam_evaluator

    account, name = role_arn.split(":")[4], role_arn.rpartition("/")[2]
    role = store("roles").get(name)
    if role is None or role["Arn"] != role_arn:
        return False
    request = iam_evaluator.EvalContext(
        principal_arn=service,
        principal_type="Service",
        principal_account=account,
        action="sts:AssumeRole",
        resource_arn=role_arn,
        region=region(),
        secure_transport=True,
        service_context={"aws:sourceaccount": account},
    )
    document = role["AssumeRolePolicyDocument"]
    statements = (json.loads(document) if isinstance(document, str) else document)["Statement"]
    effects = {
        statement["Effect"]
        for statement in (statements if isinstance(statements, list) else [statements])
        if iam_evaluator._service_principal_matches(statement.get("Principal"), service)
        and iam_evaluator._conditions_met(statement.get("Condition", {}), request)
    }
    return effects == {"Allow"}


# Time


def later(seconds: float, call: Callable[..., Any], *args: Any) -> None:
    """Call a function later, for the same account and region; dropped at reset and stop."""
    context = contextvars.copy_context()

    def run() -> None:
        try:
            context.run(call, *args)
        except Exception:
            _log.exception("%s failed", getattr(call, "__qualname__", call))
        finally:
            _timers.discard(timer)

    timer = threading.Timer(seconds, run)
    timer.daemon = True
    timer.name = "trainfeed-local-timer"
    _timers.add(timer)
    timer.start()


def cancel_timers() -> None:
    """Drop what is timed, and wait for what has begun."""
    for timer in list(_timers):
        timer.cancel()
        if timer is not threading.current_thread():
            timer.join(10)
        _timers.discard(timer)


# The server


def application() -> Callable[..., Any]:
    """MiniStack as an ASGI application.

    MiniStack's own start and stop also open ports for MQTT and SFTP, sweep Docker and start threads that
    never end; here they only tell MiniStack its event loop and fire EventBridge's schedules.
    """
    from ministack import app

    async def serve(scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        if scope["type"] != "lifespan":
            await app.app(scope, receive, send)
            return
        await receive()
        app._MAIN_LOOP = asyncio.get_running_loop()
        ticking = asyncio.create_task(_fire_schedules())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        ticking.cancel()
        app._MAIN_LOOP = None
        await send({"type": "lifespan.shutdown.complete"})

    return serve


async def _fire_schedules() -> None:
    while True:
        await asyncio.sleep(1)
        for name in ("fire rules", "fire schedules"):
            try:
                await asyncio.to_thread(function(name))
            except Exception:
                _log.exception("EventBridge could not %s at %s", name, datetime.now(UTC))

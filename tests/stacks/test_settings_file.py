import ast
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from ruamel.yaml import YAML

from stacks.settings import Settings, locate, read
from stacks.yaml_file import SettingsError

ROOT = Path(__file__).parents[2]
JOB = "jobs: {j: {channels: {c: {source: s3}}}}\n"


def job(text):
    return f"jobs:\n  j:\n    channels: {{c: {{source: s3}}}}\n    {text}\n"


def channel(text):
    return f"jobs:\n  j:\n    channels:\n      c: {{{text}}}\n"


def source(text):
    return f"sources:\n  fsx-lustre:\n    {text}\n"


def existing(**ids):
    usual = {"vpc_id": "vpc-01234567", "subnet_id": "subnet-01234567", "security_group_id": "sg-01234567"}
    listed = ", ".join(f"{name}: {value}" for name, value in {**usual, **ids}.items() if value)
    return f"{JOB}network:\n  existing: {{{listed}}}\n"


FAULTS = [
    # unknown names, with the nearest known one
    ("netwrok: {}\n" + JOB, 1, "netwrok: unknown setting. Did you mean `network`? Allowed: network, dataset"),
    (JOB + "network:\n  zoneid: use1-az1\n", 3, "network.zoneid: unknown setting. Did you mean `zone_id`?"),
    (source("storage_capcity_gib: 1200"), 3, "Did you mean `storage_capacity_gib`?"),
    (source("links: [{path: /data, uri: dataset, prefix: x}]"), 3, "links.0.prefix: unknown setting."),
    (source("import_path: s3://bucket"), 3, "import_path: unknown setting."),
    (channel("source: s3, path: /data"), 4, "channels.c.path: unknown setting. Allowed: source, uri, mode."),
    (channel("source: fsx-lustre, mode: File"), 4, "mode: unknown setting. Allowed: source, path, access."),
    # values out of a list
    (
        source("deployment_type: SCRATCH2"),
        3,
        "Did you mean `SCRATCH_2`? Allowed: SCRATCH_1, SCRATCH_2",
    ),
    (source("data_compression_type: GZIP"), 3, "Allowed: LZ4, NONE."),
    (source("removal: snapshot"), 3, "Allowed: destroy, retain."),
    (source("type: efs"), 3, "Allowed: fsx-lustre."),
    (source("links: [{path: /d, uri: dataset, auto_import: [NEWER]}]"), 3, "Did you mean `NEW`?"),
    (channel("source: s3, mode: Fast"), 4, "Allowed: File, FastFile, Pipe."),
    # values of another kind
    (source("storage_capacity_gib: '1200'"), 3, "storage_capacity_gib: '1200' is not allowed"),
    (source("storage_capacity_gib: lots"), 3, "'lots' is not allowed"),
    (source("efa_enabled: 1"), 3, "efa_enabled: 1 is not allowed"),
    (source("efa_enabled:"), 3, "efa_enabled: nothing is not allowed"),
    (source("storage_type: true"), 3, "storage_type: true is not allowed. Allowed: SSD, HDD."),
    (source("links: [true]"), 3, "links.0: true is not allowed: write settings below it"),
    ("jobs:\n  j:\n", 2, "jobs.j: nothing is not allowed: write settings below it"),
    (source("efa_enabled: yes"), 3, "'yes' is not allowed"),
    (job("instance_count: 1.5"), 4, "instance_count: 1.5 is not allowed"),
    (
        job("instance_count: 0"),
        4,
        "instance_count: 0 is not allowed: input should be greater than or equal to 1.",
    ),
    (job("max_runtime_seconds: 2419201"), 4, "less than or equal to 2419200"),
    (
        job("hyperparameters: {layers: [1, 2]}"),
        4,
        "hyperparameters.layers: [1, 2] is not allowed: write a text",
    ),
    ("network: 10.0.0.0/20\n" + JOB, 1, "network: '10.0.0.0/20' is not allowed: write settings below it"),
    ("- network\n", 1, "write settings below it"),
    # addresses, ids and names
    (JOB + "network: {cidr: 10.0.0.0/8}\n", 2, "network.cidr: '10.0.0.0/8' is not allowed: a VPC holds"),
    (JOB + "network: {cidr: 10.0.0.0/29}\n", 2, "/16 to /28"),
    (JOB + "network: {cidr: 10.0.0.1/20}\n", 2, "has host bits set"),
    (
        JOB + "dataset: {data_bucket: My-Bucket}\n",
        2,
        "data_bucket: 'My-Bucket' is not allowed: the bucket 'My-Bucket' has upper-case letters. "
        "Bucket names are lower-case, such as 'my-bucket'.",
    ),
    (JOB + "dataset: {access_log_bucket: 192.168.1.1}\n", 2, "and no IP address. Correct the name."),
    (JOB + "dataset: {output_bucket: a..b}\n", 2, "'a..b' is no name of a bucket"),
    (JOB + "dataset: {data_bucket: sthree-mine}\n", 2, "are reserved"),
    *(
        (JOB + f"dataset: {{data_bucket: mine{suffix}}}\n", 2, "is no general purpose bucket")
        for suffix in ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")
    ),
    (JOB + "dataset: {prefix: /}\n", 2, "dataset.prefix: '/' is not allowed"),
    (
        source("links: [{path: data, uri: dataset}]"),
        3,
        "links.0.path: 'data' is not allowed: write an absolute path",
    ),
    (source("links: [{path: /data, uri: s3://}]"), 3, "write `dataset`, `output` or an S3 address"),
    (source("links: [{path: /data, uri: bucket}]"), 3, "links.0.uri: 'bucket' is not allowed"),
    (source("links: [{uri: dataset}]"), 3, "links.0.path: is missing."),
    (source("security_group_id: default"), 3, "write an id like sg-0123456789abcdef0"),
    (
        "jobs:\n  My_Job: {channels: {c: {source: s3}}}\n",
        2,
        "jobs.My_Job: 'My_Job' is not allowed: a name has",
    ),
    (f"jobs:\n  {'a' * 43}: {{channels: {{c: {{source: s3}}}}}}\n", 2, "at most 42 characters"),
    (existing(subnet_id=None), 3, "network.existing.subnet_id: is missing."),
    (existing(vpc_id="subnet-01234567"), 3, "vpc_id: 'subnet-01234567' is not allowed"),
    # what does not go together
    ("sources: {}\njobs: {}\n", 1, "there is nothing to deploy"),
    ("", 1, "there is nothing to deploy"),
    (
        job("instance_count: 1").replace("{c: {source: s3}}", "{}"),
        3,
        "channels: {} is not allowed: write at least one",
    ),
    ("jobs:\n  j: {}\n", 2, "jobs.j.channels: is missing."),
    (
        channel("source: fsx-lustr") + "sources:\n  fsx-lustre:\n    type: fsx-lustre\n",
        4,
        "Did you mean `fsx-lustre`?",
    ),
    (channel("source: fsx-lustre"), 4, "'fsx-lustre' is no source. Allowed: s3."),
    (existing() + "  zone_id: use1-az1\n", 4, "an existing subnet has a zone of its own"),
    (source("security_group_id: sg-01234567"), 3, "sg-01234567 is in a VPC that was there before"),
    ("sources:\n  s3: {}\n", 2, "channels call S3 itself by that name"),
    ("sources:\n  network: {}\n", 2, "its stack would be NetworkStack, which is that of the network"),
    ("sources:\n  a-job: {}\njobs:\n  a: {channels: {c: {source: s3}}}\n", 4, "its stack would be AJobStack"),
    # no YAML
    ("jobs: [\n", 2, "not valid YAML"),
    ("jobs: {}\njobs: {}\n", 2, 'not valid YAML: found duplicate key "jobs"'),
    ("jobs:\n\tj: {}\n", 2, "not valid YAML"),
]


@pytest.mark.parametrize(("text", "line", "message"), FAULTS)
def test_a_fault_is_one_line_with_its_place_and_what_is_allowed(write, text, line, message):
    path = write(text)
    with pytest.raises(SettingsError) as caught:
        read(path)

    (told,) = str(caught.value).splitlines()
    assert told.startswith(f"{path}:{line}: ")
    assert message in told


RIGHT = [
    JOB,
    source("storage_capacity_gib: 2400"),
    source("storage_capacity_gib: 3600"),  # the rules' business, which know the Region's and type's sizes
    source("links: []"),
    source("links: [{path: /, uri: s3://bucket}]"),
    source("removal: retain"),
    channel("source: s3, uri: s3://bucket/folder, mode: FastFile"),
    channel("source: s3, uri: output"),
    job("hyperparameters: {a: 1, b: 0.5, c: text, d: true}"),
    job("max_runtime_seconds: 2419200"),
    existing(),
    JOB + "network: {cidr: 10.0.0.0/28}\n",
    JOB + "dataset: {data_bucket: my.bucket-1, intelligent_tiering_days: null}\n",
    JOB + "dataset: {intelligent_tiering_days: 0}\n",
    f"jobs:\n  {'a' * 42}: {{channels: {{c: {{source: s3}}}}}}\n",
    "sources:\n  fsx-lustre:\n",  # the same for a source
    existing() + source("security_group_id: sg-01234567"),
    JOB + "dataset: {data_bucket: mine-s3alias-data}\n",
    JOB + "sources:\nnetwork:\ndataset:\n",  # sections of which every line is commented out
]


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_is_read(write, text):
    assert isinstance(read(write(text)).content, Settings)


def test_faults_are_told_together_in_the_order_of_their_lines(write):
    path = write("network: {zone: a}\n" + source("deployment_type: X") + channel("source: s4, uri: x"))
    with pytest.raises(SettingsError) as caught:
        read(path)

    lines = [told.split(":")[1] for told in str(caught.value).splitlines()]
    assert lines == ["1", "4", "8"]


def test_a_file_that_is_no_text_is_told_by_name(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=rf"^{path}: cannot be read: not UTF-8 text"):
        read(path)


def test_a_folder_is_told_to_be_no_file(tmp_path):
    with pytest.raises(SettingsError, match=rf"^{tmp_path}: cannot be read: Is a directory"):
        read(tmp_path)


def test_hyperparameters_travel_as_text(write):
    file = read(write(job("hyperparameters: {a: 1, b: 0.5, c: text, d: true}")))

    assert file.content.jobs["j"].hyperparameters == {"a": "1", "b": "0.5", "c": "text", "d": "true"}


def test_whole_capacities_are_whole_numbers(write):
    file = read(write(source("storage_capacity_gib: 2400")))

    assert repr(file.content.sources["fsx-lustre"].storage_capacity_gib) == "2400"


def test_the_file_is_that_given_or_that_of_the_environment_or_the_one_here(monkeypatch):
    monkeypatch.delenv("TRAINFEED_CONFIG", raising=False)
    assert locate() == Path("trainfeed.yaml")
    monkeypatch.setenv("TRAINFEED_CONFIG", "theirs.yaml")
    assert locate() == Path("theirs.yaml")
    assert locate("mine.yaml") == Path("mine.yaml")


def test_the_settings_import_neither_the_cdk_nor_boto3():
    for name in ("settings", "yaml_file"):
        tree = ast.parse((ROOT / "stacks" / f"{name}.py").read_text())
        imported = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in ([ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else node.names)
        }
        assert not [
            module for module in imported if module.startswith(("aws_cdk", "boto3", "trainfeed_constructs"))
        ]


def models(annotation: Any) -> list[type[BaseModel]]:
    """Every model an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, UnionType, dict, tuple):
        return [model for argument in get_args(annotation) for model in models(argument)]
    return []


def stated(model: type[BaseModel], values: list[dict[str, Any]], where: str) -> Any:
    """Each setting of a model, and the values the file gives it."""
    for name, field in model.model_fields.items():
        given = [value[name] for value in values if name in value]
        yield f"{where}{name}", field, given
        for inner in models(field.annotation):
            holders = [
                item for value in given for item in unfold(value) if set(item) & set(inner.model_fields)
            ]
            yield from stated(inner, holders, f"{where}{name}.")


def unfold(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [value, *(item for item in value.values() if isinstance(item, dict))]
    return []


def test_the_shipped_file_holds_every_setting_with_its_default():
    shipped = YAML(typ="safe").load(ROOT / "trainfeed.yaml")

    for where, field, given in stated(Settings, [shipped], ""):
        if where.startswith("network.existing."):
            continue  # in a comment, as an example
        assert given, where
        if field.default is not PydanticUndefined and where not in ("sources", "jobs"):
            default = list(field.default) if isinstance(field.default, tuple) else field.default
            assert default in given, where


def test_a_line_of_the_shipped_file_can_be_deleted_and_nothing_changes(write):
    def strip(content):
        for section in ("network", "dataset"):
            del content[section]
        content["sources"]["fsx-lustre"] = {}
        job = content["jobs"]["training"]
        content["jobs"]["training"] = {"channels": job["channels"]}

    assert read(write(strip)).content == read(ROOT / "trainfeed.yaml").content


def test_every_setting_of_the_shipped_file_has_a_comment_before_or_in_its_block():
    lines = (ROOT / "trainfeed.yaml").read_text().splitlines()
    commented, bare = False, []
    seen: set[str] = set()
    for line in lines:
        text = line.strip()
        key = text.removeprefix("- ").split(":")[0]
        if text.startswith("#") or not text:
            commented = bool(text)
        elif not commented and key not in seen:
            bare.append(key)
        if text and not text.startswith("#"):
            seen.add(key)
    assert bare == [], "say what these mean"

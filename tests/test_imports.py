"""Who may import whom, and that the constructs' source root hides nothing."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

_ROOT = Path(__file__).parents[1]
_SOURCES = ("app.py", "trainfeed", "constructs", "stacks", "benchmarks", "examples", "tests")
_CORE = ("images", "names", "rules", "sources", "job", "execution_role", "state_machine")


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph(
        "trainfeed", "trainfeed_constructs", "stacks", include_external_packages=True, cache_dir=None
    )


def test_the_layers_hold():
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    result = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_every_module_has_its_layer(graph):
    contracts = tomllib.loads((_ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    placed = {module for line in layers for module in line.replace("|", " ").replace(":", " ").split()}
    assert graph.find_children("trainfeed") <= placed


def test_the_core_needs_the_standard_library_and_pydantic_alone(graph):
    core = {
        module
        for name in _CORE
        for module in {f"trainfeed.{name}", *graph.find_descendants(f"trainfeed.{name}")}
    }
    imported = {found for module in core for found in graph.find_modules_directly_imported_by(module)}
    outside = {found for found in imported if found.partition(".")[0] != "trainfeed"}
    assert outside - sys.stdlib_module_names <= {"pydantic"}


def test_one_module_alone_knows_ministack(graph):
    assert graph.find_modules_that_directly_import("ministack") == {"trainfeed.local.ministack"}


def test_pypis_constructs_is_the_one_imported():
    import constructs

    import trainfeed_constructs

    assert constructs.__file__ is not None
    assert "site-packages" in constructs.__file__
    assert trainfeed_constructs.__file__ == str(_ROOT / "constructs" / "trainfeed_constructs" / "__init__.py")
    assert not (_ROOT / "constructs" / "__init__.py").exists()


def _python_files():
    for source in _SOURCES:
        path = _ROOT / source
        yield from [path] if path.is_file() else path.rglob("*.py")


def _imported(path):
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_nobody_imports_the_constructs_by_their_folder():
    # It would give a second copy of each class.
    wrong = [
        f"{path.relative_to(_ROOT)}: {name}"
        for path in _python_files()
        for name in _imported(path)
        if name.startswith("constructs.trainfeed_constructs")
    ]
    assert wrong == []


def test_the_command_line_starts_without_what_its_subcommands_need():
    heavy = ("aws_cdk", "boto3", "botocore", "ministack", "rich", "pydantic")
    program = f"import sys, trainfeed.cli; print(*sorted(set({heavy!r}) & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []

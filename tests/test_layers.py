"""Imports point one way: a module knows its own layer and the layers before it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

# From the bottom up. A package stands for all its modules but those listed by themselves; "" is australis/__init__.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "arguments", "schema", "expr", "commands", "java", "kernel", "place", "ripe", "chance", "late"),
    (
        "train",
        "table",
        "box",
        "order",
        "keys",
        "columns",
        "span",
        "queues",
        "edges",
        "panes",
        "windows",
        "folds",
        "aggregation",
        "qos",
    ),
    ("boxes",),
    ("signals",),
    ("moving",),
    (
        "network",
        "stream",
        "netfile",
        "form",
        "forms",
        "plain_forms",
        "moving_forms",
        "moving_methods",
        "signal_methods",
        "signal_facts",
        "written",
        "yamltext",
        "validate",
        "parameters",
        "build",
        "explain",
        "picture",
        "layout",
        "layers",
    ),
    ("rules",),
    ("qos.monitor", "qos.scheduler", "qos.shedder"),
    ("plan",),
    ("run",),
    ("sql",),
    ("testing", ""),
    (
        "linear_road",
        "bench",
        "moving.city",
        "moving.command",
        "moving.picture",
        "moving.picture_answers",
        "moving.picture_frames",
        "moving.picture_page",
        "signals.command",
        "signals.picture",
        "signals.simulate",
        "signals.survey",
    ),
    ("studio",),
    ("network_commands", "demo_command"),
    ("cli", "__main__"),
)
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}

# What is asked of a value and answered by a later layer: imported when it is called, never when the module is read.
LATE = {("network", "run"), ("explain", "plan")}

SPARK = {"run", "linear_road", "bench"}

MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "australis").rglob("*.py"))
}


def part(module: str) -> str:
    """The name in LAYERS that covers a module: the longest that fits."""
    name = module.removeprefix("australis").removeprefix(".")
    while name and name not in LEVEL:
        name = name.rpartition(".")[0]
    assert name or module == "australis", f"{module} is in no layer: add it to LAYERS in {__file__}"
    return name


def imports(module: str) -> Iterator[tuple[str, int, bool]]:
    """Each imported module, its line, and whether it is imported only when a function is called, or for its types."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_text())
    late = {
        node
        for part in ast.walk(tree)
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) or (isinstance(part, ast.stmt) and _for_types(part))
        for node in ast.walk(part)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{origin}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else origin for name in names]
        else:
            continue
        for name in names:
            yield name, node.lineno, node in late


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module: str) -> None:
    own = part(module)
    for name, line, late in imports(module):
        where = f"{MODULES[module]}:{line}: {module} imports {name}"
        if name.partition(".")[0] == "australis":
            other = part(name)
            assert LEVEL[other] <= LEVEL[own] or (late and (own, other) in LATE), f"{where}, of a later layer"
        if name.partition(".")[0] == "pyspark":
            assert own in SPARK, f"{where}; only {sorted(SPARK)} may"


@pytest.mark.parametrize("module", MODULES)
def test_modules_are_short(module: str) -> None:
    lines = len(MODULES[module].read_text().splitlines())
    assert lines <= 400, f"{MODULES[module]} has {lines} lines: split it where a second noun appears"


@pytest.mark.parametrize("module", [name for name, path in MODULES.items() if path.name == "__init__.py"])
def test_packages_hold_no_logic(module: str) -> None:
    for node in ast.parse(MODULES[module].read_text()).body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        assert (
            docstring
            or _for_types(node)
            or _late(node)
            or isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)
        ), f"{MODULES[module]}:{node.lineno}: a package's __init__ only imports and lists"


def _for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _late(node: ast.stmt) -> bool:
    """A list of names that are imported when they are asked for."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "late"


def test_a_module_in_no_layer_is_told_to_be_added() -> None:
    with pytest.raises(AssertionError, match=r"australis\.unheard_of is in no layer: add it"):
        part("australis.unheard_of")


ALONE = """
import importlib, os, sys
import numpy, pandas, pyarrow.compute, pyarrow.csv, pyarrow.parquet, numba, pydantic, rich.console, sqlglot, typer
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(name, repr(error), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
def test_every_module_can_be_imported_first() -> None:
    """Nothing may count on what another module, which happened to be imported before, has imported."""
    names = [name for name in MODULES if not name.endswith("__main__")]
    command = [sys.executable, "-W", "ignore", "-c", ALONE, *names]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""

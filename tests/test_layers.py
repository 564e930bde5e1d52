"""Imports point one way: a module knows its own layer and the layers before it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

# From the bottom up, as folders. A module at the root is below all of them; the root itself, "", gathers their names.
ROWS = (
    ("disk", "kernels"),
    ("arrow",),
    ("expressions",),
    ("model",),
    ("boxes",),
    ("netfile", "plan"),
    ("drawing", "qos", "storage"),
    ("connectors",),
    ("engine",),
    ("api",),
    ("queries",),
    ("",),
    ("testing",),
    ("apps",),
    ("bench",),
    ("studio",),
    ("cli",),
)
LEVEL = {name: level for level, row in enumerate(ROWS, 1) for name in row}

MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "australis").rglob("*.py"))
}


def level(module: str) -> int:
    """How high a module stands: the row of its folder."""
    names = module.split(".")[1:]
    if not names:
        return LEVEL[""]
    if names == ["__main__"]:
        return LEVEL["cli"]
    if module in MODULES and len(names) == 1 and MODULES[module].name != "__init__.py":
        return 0
    assert names[0] in LEVEL, f"{module} is in no row: add its folder to ROWS in {__file__}"
    return LEVEL[names[0]]


def imports(module: str) -> Iterator[tuple[str, int]]:
    """Each imported module, and its line."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    stub = path.with_suffix(".pyi")
    for node in ast.walk(ast.parse(path.read_text() + (stub.read_text() if stub.exists() else ""))):
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
            yield name, node.lineno


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module: str) -> None:
    """Also those that are made when a function is called, and those for types alone."""
    for name, line in imports(module):
        where = f"{MODULES[module]}:{line}: {module} imports {name}"
        if name.partition(".")[0] == "australis":
            assert level(name) <= level(module), f"{where}, of a later row"
        if name.partition(".")[0] == "pyspark":
            assert "spark" in module.split("."), f"{where}; only what lies in a folder named spark may"


@pytest.mark.parametrize("module", MODULES)
def test_modules_are_short(module: str) -> None:
    lines = len(MODULES[module].read_text().splitlines())
    assert lines <= 400, f"{MODULES[module]} has {lines} lines: split it where a second noun appears"


@pytest.mark.parametrize("module", [name for name, path in MODULES.items() if path.name == "__init__.py"])
def test_packages_hold_no_logic(module: str) -> None:
    for node in ast.parse(MODULES[module].read_text()).body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        assert docstring or isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign), (
            f"{MODULES[module]}:{node.lineno}: a package's __init__ only imports and lists"
        )


def test_a_module_in_no_row_is_told_to_be_added() -> None:
    with pytest.raises(AssertionError, match=r"australis\.unheard_of is in no row: add its folder"):
        level("australis.unheard_of")


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

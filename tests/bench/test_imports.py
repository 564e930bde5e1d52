"""The modules that a process imports."""

import sys
from pathlib import Path

import pytest

from australis.bench.imports import Imported, Package, by_package, measure_imports, parse
from australis.errors import RunError


def test_lines_are_read_among_others() -> None:
    text = (
        "import time: self [us] | cumulative | imported package\nhello\nimport time:       0 |    1500000 |     a.b.c\n"
    )
    assert parse(text) == [Imported("a.b.c", 0.0, 1.5)]
    assert parse("") == []


def test_the_slowest_package_is_first() -> None:
    some = [Imported("a", 1.0, 9.0), Imported("b.x", 0.5, 0.5), Imported("b", 2.0, 2.0), Imported("b.y", 0.0, 0.0)]
    assert by_package(some) == [Package("b", 3, 2.5, "b"), Package("a", 1, 1.0, "a")]
    assert by_package([]) == []


def test_what_a_command_imports_is_told(tmp_path: Path) -> None:
    (tmp_path / "inner.py").write_text("")
    (tmp_path / "outer.py").write_text("import inner")
    found = [each.module for each in measure_imports([sys.executable, "-c", "import outer"], tmp_path)]
    assert [name for name in found if name in ("inner", "outer")] == ["inner", "outer"]
    with pytest.raises(RunError, match=r"failed: (.|\n)*ModuleNotFoundError"):
        measure_imports([sys.executable, "-c", "import no_such_module"], tmp_path)

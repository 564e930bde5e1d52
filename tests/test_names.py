"""Names by which things are found: a module's test by its own (`tests/a/test_b.py` for `a/b.py`), a class by one."""

import ast
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src/australis"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.name != "__init__.py")

TESTED_ELSEWHERE = {
    "__main__.py": "cli/test_main.py",
    "api/methods/moving.py": "api/test_methods.py",
    "api/methods/signals.py": "api/test_methods.py",
    "api/methods/squal.py": "api/test_methods.py",
    "apps/linear_road/benchmark.py": "apps/linear_road/test_rate.py",
    "apps/linear_road/pictures.py": "apps/linear_road/test_show.py",
    "apps/linear_road/record.py": "apps/linear_road/test_check.py",
    "apps/linear_road/validation/arrays.py": "apps/linear_road/validation/test_validate.py",
    "apps/linear_road/validation/history.py": "apps/linear_road/validation/test_validate.py",
    "bench/machine.py": "bench/test_engine.py",
    "bench/moving_alone.py": "bench/test_moving_paper.py",
    "bench/overload_grid.py": "bench/test_overload.py",
    "bench/overload_picture.py": "bench/test_overload_tables.py",
    "bench/overload_semantic.py": "bench/test_overload.py",
    "bench/signal_picture.py": "bench/test_signals.py",
    "bench/spark/moving.py": "bench/test_moving.py",
    "boxes/moving/families.py": "boxes/test_facts.py",
    "engine/spark/task_context.py": "engine/spark/test_run.py",
    "expressions/aggregates.py": "expressions/test_aggregate.py",
    "model/ascent.py": "queries/test_order.py",
    "model/windows.py": "boxes/aggregate/test_shedding.py",
}
"""Modules that only declare, or that only run as a part of others, and where they do."""


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_has_a_test_of_its_name(module: Path) -> None:
    own = TESTS / module.with_name(f"test_{module.name.lstrip('_')}")
    elsewhere = TESTED_ELSEWHERE.get(module.as_posix())
    assert own.exists() != bool(elsewhere), f"write {own}"
    assert elsewhere is None or (TESTS / elsewhere).exists(), f"there is no tests/{elsewhere} any more"


def test_what_is_tested_elsewhere_is_there() -> None:
    assert {Path(module) for module in TESTED_ELSEWHERE} <= set(MODULES)


def test_a_class_has_a_name_of_its_own() -> None:
    trees = [ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")]
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert not [name for name, count in names.items() if count > 1]

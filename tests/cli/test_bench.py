"""The command line of measurements."""

import re
import sys
from inspect import signature

import pytest

from tests.cli.commands import told


def test_bench_hands_its_options_on(monkeypatch):
    boxes = pytest.importorskip("australis.bench.boxes")
    given = []
    real = signature(boxes.main)
    monkeypatch.setattr(boxes, "main", lambda **options: given.append(real.bind(**options).arguments))
    told("bench", "boxes", "--tuples", "10", "--train", "5", "--only", "filter")
    assert (given[0]["tuples"], given[0]["train"], given[0]["only"]) == (10, 5, "filter")


def test_a_benchmark_says_which_packages_it_compares_with(monkeypatch):
    for module in [each for each in sys.modules if each.startswith("australis.bench")]:
        monkeypatch.delitem(sys.modules, module)
    for package in ("polars", "duckdb"):
        monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    result = told("bench", "boxes", "--tuples", "1000", code=1)
    assert re.search(
        r"bench boxes: it compares with \w+, which is not installed; pip install duckdb polars", result.stderr
    )


def test_lists_are_given_with_commas_or_again_everywhere(place, monkeypatch):
    from australis.bench import boxes, engine, signals

    asked = []
    for bench in boxes, engine, signals:
        monkeypatch.setattr(bench, "main", lambda **options: asked.append(options["only"]))
    for name in "boxes", "engine", "signals":
        told("bench", name, "--only", "a,b")
        told("bench", name, "--only", "a", "--only", "b")
        told("bench", name)
    assert asked == ["a,b", "a,b", ""] * 3
    monkeypatch.undo()
    for name in "boxes", "engine", "signals":
        assert "nosuch" in told("bench", name, "--only", "nosuch,other", code=1).stderr
    for name in "one", "two":
        (place / f"{name}.py").write_text(f"print('{name}')\n")
    assert told("check", str(place / "net.yaml"), "--functions", f"{place}/one.py,{place}/two.py").stdout.startswith(
        "one\ntwo\n"
    )

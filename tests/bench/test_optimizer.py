"""The benchmark of the optimizer: networks that give the same in any order, and a very short real run."""

import json
from pathlib import Path

import pytest

from australis.bench import optimizer
from australis.bench.optimizer import FILTERS, filters, halves, soon
from australis.bench.overload_network import INPUT, source
from australis.testing import rows


def test_no_order_of_filters_and_no_sharing_changes_results() -> None:
    worst, best = (
        filters(order).run_local({INPUT: source(1000.0, 2000, 0)}) for order in (list(FILTERS), list(reversed(FILTERS)))
    )
    assert rows(worst["out"]) == rows(best["out"])
    assert 0 < worst["out"].num_rows < 2000
    one, apart = (halves(shared).run_local({INPUT: source(1000.0, 2000, 0)}) for shared in (True, False))
    assert {name: rows(table) for name, table in one.items()} == {name: rows(table) for name, table in apart.items()}


def test_an_order_that_is_never_near_the_best_is_told() -> None:
    assert soon([(float(second), 10.0) for second in range(20)], 100.0) is None
    assert soon([], 100.0) is None


@pytest.mark.spark
@pytest.mark.slow
def test_a_short_run_counts_what_is_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: object, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(optimizer, "SLOWER", 0.0)
    monkeypatch.setattr(optimizer, "_TRAIN", 2000)
    monkeypatch.setattr(optimizer, "_TUPLES", 20_000)
    monkeypatch.setattr(optimizer, "_GROUP", 1000)
    optimizer.main(seconds=1.0, json=tmp_path / "out.json")
    report = json.loads((tmp_path / "out.json").read_text())
    ways = report["sharing"]["ways"]
    assert ways["optimized"]["first"] == ways["one"]["first"] == ways["apart"]["first"] / optimizer.OUTPUTS
    skipping = report["skipping"]["ways"]
    assert (skipping["all read"]["part"], skipping["skipped"]["part"]) == (0, 0.95)
    assert "Five filters" in capsys.readouterr().out

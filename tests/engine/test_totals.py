"""Totals count every batch once, and go on from a checkpoint."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.engine import measures
from australis.engine.totals import Totals, read_totals


def entry(batch: int) -> tuple[dict[str, Any], list[pa.RecordBatch], int]:
    """A batch of as many tuples as its version."""
    progress = {"batch": batch, "taken": {"in": batch}, "given": {"out": 2 * batch}, "delay": {"out": batch / 8},
                "late": {}, "refused": {}, "seconds": batch / 4, "letters": 0}  # fmt: skip
    place = {"batch": batch, "name": "box", "partition": 0, "taken": batch}
    rows = [{**place, "kind": "box", "port": "out", "seconds": 0.5, "given": batch},
            {**place, "kind": "arrow", "port": "out", "given": batch},
            {**place, "kind": "arrow", "port": "late", "given": 1},
            {**place, "kind": "exchange", "port": "out", "seconds": 0.25},
            {"batch": batch, "kind": "source", "name": "in", "seconds": 0.125, "given": batch},
            {"batch": batch, "kind": "sink", "name": "out", "seconds": 0.5, "taken": 2 * batch},
            {"batch": batch, "kind": "output", "name": "out", "given": 2 * batch, "delay": 0.5, "worst": batch / 8,
             "age": 1.0, "oldest": float(batch), "delays": [0, 2 * batch, *[0] * 48]},
            {"batch": batch, "kind": "output", "name": "none", "given": 0},
            {"batch": batch, "kind": "batch", "seconds": batch / 4, "fixed": batch / 8}]  # fmt: skip
    return progress, [pa.RecordBatch.from_pylist(rows, measures.SCHEMA)], 3


def totals_of(batches: list[int]) -> Totals:
    totals = Totals()
    for batch in batches:
        totals.add(*entry(batch))
    return totals


@given(st.lists(st.integers(1, 4), max_size=6))
def test_a_batch_that_is_run_again_is_counted_once(again: list[int]) -> None:
    order = [batch for last, times in enumerate(again, 1) for batch in [last] * times]
    totals, once = totals_of(order), list(range(1, len(again) + 1))
    assert totals == totals_of(once)
    assert (totals.batches, totals.taken["in"], totals.given["out"]) == (len(once), sum(once), 2 * sum(once))
    assert totals.letters == 3 * len(once)
    assert totals.late == ({"box": len(once)} if once else {})
    if once:
        assert totals.delays == {"out": [0, 2 * sum(once), *[0] * 48]}
        assert (totals.delayed, totals.oldest) == ({"out": float(sum(once))}, {"out": len(once)})
        assert totals.costs == {
            "exchange": {"box.out": [0.25 * len(once), sum(once)]},
            "source": {"in": [0.125 * len(once), sum(once)]},
            "sink": {"out": [0.5 * len(once), 2 * sum(once)]},
        }
        assert totals.fixed == sum(once) / 8


@given(st.integers(0, 8), st.integers(0, 8))
def test_a_run_that_is_started_again_goes_on_from_its_checkpoint(tmp_path_factory: Any, stop: int, last: int) -> None:
    folder = tmp_path_factory.mktemp("checkpoint")
    first = totals_of(list(range(1, stop + 1)))
    first.save(folder)
    resumed = read_totals(folder, stop)
    assert resumed == first
    for batch in range(max(stop, 1), last + 1):  # the last one is run again
        resumed.add(*entry(batch))
    assert resumed == totals_of(list(range(1, max(stop, last) + 1)))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"boxes": {}}', '{"boxes": [], "taken": {}, "given": {}}'])
def test_totals_that_do_not_read_begin_anew(tmp_path: Path, text: str) -> None:
    assert read_totals(tmp_path, 9) == Totals()
    totals_of([1, 2]).save(tmp_path)
    (tmp_path / "measures" / "totals.json").write_text(text)
    assert read_totals(tmp_path, 9) == Totals()


def test_totals_of_batches_that_the_checkpoint_does_not_know_begin_anew(tmp_path: Path) -> None:
    totals_of([1, 2, 3]).save(tmp_path)
    assert read_totals(tmp_path, 3).batches == 3
    assert read_totals(tmp_path, 2) == Totals()


def test_totals_are_for_their_user_alone_and_leave_nothing_beside_them(tmp_path: Path) -> None:
    totals_of([1]).save(tmp_path)
    totals_of([1, 2]).save(tmp_path)
    (path,) = (tmp_path / "measures").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text())["batches"] == 2


def measured(*rows: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=measures.SCHEMA)


def box(name: str, seconds: float, taken: int) -> dict[str, Any]:
    return {"kind": "box", "name": name, "seconds": seconds, "taken": taken}


def arrow(name: str, port: str, given: int, taken: int | None = 0) -> dict[str, Any]:
    return {"kind": "arrow", "name": name, "port": port, "taken": taken, "given": given}


def progress(batch: int, taken: int, given: int, delay: float | None) -> dict[str, Any]:
    return {
        "batch": batch,
        "taken": {"in": taken},
        "given": {"out": given},
        "delay": {"out": delay},
        "seconds": 0.5,
    }


def test_batches_and_partitions_are_summed_up() -> None:
    totals = Totals()
    parts = [
        measured(
            box("stats", 0.25, 3), arrow("stats", "out", 1), arrow("stats", "late", 2), arrow("in", "out", 3, None)
        ),
        measured(box("stats", 0.5, 4), arrow("stats", "out", 0), arrow("stats", "refused_left", 1)),
    ]
    totals.add(progress(1, 7, 1, 2.5), parts)
    totals.add(progress(2, 0, 0, None), [measured(arrow("stats", "late", 5))], 4)
    assert (totals.batches, totals.taken["in"], totals.given["out"], totals.letters, totals.last) == (2, 7, 1, 4, 0.5)
    assert (totals.boxes["stats"].seconds, totals.boxes["stats"].taken) == (0.75, 7)
    assert totals.ports == {"stats": {"out": 1, "late": 7, "refused_left": 1}}
    assert (totals.late, totals.refused) == ({"stats": 7}, {"stats": 1})
    assert totals.delay == {"out": 2.5}


def test_a_run_without_batches() -> None:
    totals = Totals()
    assert (totals.batches, totals.last, totals.ports, totals.late, totals.delay) == (0, None, {}, {}, {})

"""Totals: what a run has done since it was started."""

from typing import Any

import pyarrow as pa

from australis.engine.measures import SCHEMA
from australis.engine.totals import Totals


def measured(*rows: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=SCHEMA)


def box(name: str, seconds: float, taken: int) -> dict[str, Any]:
    return {"kind": "box", "name": name, "seconds": seconds, "taken": taken}


def arrow(name: str, port: str, given: int, taken: int | None = 0) -> dict[str, Any]:
    return {"kind": "arrow", "name": name, "port": port, "taken": taken, "given": given}


def progress(taken: int, given: int, delay: float | None, letters: int) -> dict[str, Any]:
    return {
        "taken": {"in": taken},
        "given": {"out": given},
        "delay": {"out": delay},
        "letters": letters,
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
    totals.add(progress(7, 1, 2.5, 0), parts)
    totals.add(progress(0, 0, None, 4), [measured(arrow("stats", "late", 5))])
    assert (totals.batches, totals.taken["in"], totals.given["out"], totals.letters, totals.last) == (2, 7, 1, 4, 0.5)
    assert (totals.boxes["stats"].seconds, totals.boxes["stats"].taken) == (0.75, 7)
    assert totals.ports == {"stats": {"out": 1, "late": 7, "refused_left": 1}}
    assert (totals.late, totals.refused) == ({"stats": 7}, {"stats": 1})
    assert totals.delay == {"out": 2.5}


def test_a_run_without_batches() -> None:
    totals = Totals()
    assert (totals.batches, totals.last, totals.ports, totals.late, totals.delay) == (0, None, {}, {}, {})

"""Measurements of a run."""

from typing import Any

import numpy as np

import australis as au
from australis.engine.measures import SCHEMA, TaskMeasures, output, part, progress, rows_of
from australis.engine.superbox import steps, tables_of
from australis.model.box import Moment
from australis.model.train import Train
from australis.testing import train

REPORTS = au.stream("reports", "time int, mph int")
STATS = REPORTS.filter("mph > 60", box="fast").aggregate(on="time", size=10, n="count(*)", box="stats")
NETWORK = au.network(out=STATS)


def measured(times: list[int], mph: list[int]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The rows of one step, by kind, name and port."""
    measures = TaskMeasures(NETWORK)
    reports = train("time int, mph int", time=times, mph=mph)
    measures.count("reports", "out", reports)
    nodes = NETWORK.nodes
    measures.run(steps(NETWORK, nodes, tables_of(NETWORK, nodes), {("reports", "out"): reports}, Moment(len(times))))
    table = measures.table(7, 2)
    assert table.schema == SCHEMA
    assert {(row["batch"], row["partition"]) for row in table.to_pylist()} == {(7, 2)}
    return {(row["kind"], row["name"], row["port"]): row for row in table.to_pylist()}


def test_boxes_and_arrows_are_counted() -> None:
    rows = measured([1, 2, 15, 3], [70, 50, 80, 90])
    fast, stats = rows["box", "fast", "out"], rows["box", "stats", "out"]
    assert (fast["taken"], fast["given"], fast["late"], fast["refused"]) == (4, 3, None, None)
    assert (stats["taken"], stats["given"], stats["late"]) == (3, 1, 1)
    assert rows["arrow", "reports", "out"]["given"] == 4
    assert rows["arrow", "reports", "out"]["taken"] is None
    assert rows["arrow", "reports", "out"]["bytes"] == 4 * 8
    assert (rows["arrow", "fast", "rest"]["taken"], rows["arrow", "fast", "rest"]["given"]) == (4, 1)
    assert all(row["seconds"] >= 0 for row in rows.values() if row["kind"] == "box")


def test_what_every_partition_has_is_counted_by_one() -> None:
    measures = TaskMeasures(NETWORK)
    trains = {("reports", "out"): train("time int, mph int", time=[1], mph=[70])}
    boxes = steps(NETWORK, NETWORK.nodes, tables_of(NETWORK, NETWORK.nodes), trains, Moment(1))
    measures.run(boxes, {("fast", "out")})
    assert ("fast", "out") not in measures.arrows
    assert measures.arrows["fast", "rest"][0] == 0


def entered(*times: int) -> Train:
    return Train(train("a bigint", a=list(times)).tuples, np.array(times, np.int64), np.arange(len(times)))


def test_delays_are_since_tuples_entered() -> None:
    now = 1_800_000_000_000_000
    parts = [part("out", "f", [entered(), entered(now - 10**6, now - 3 * 10**6)]), part("out", "", [entered(now)])]
    empty = part("out", "f", [entered()])
    (row,) = rows_of([output(3, "out", rows_of([*parts, empty]), now)])
    assert (row["given"], row["delay"], row["worst"]) == (3, 4 / 3, 3.0)
    (none,) = rows_of([output(3, "out", rows_of([empty]), now)])
    assert (none["given"], none["delay"], none["worst"]) == (0, None, None)


def test_a_batch_in_short() -> None:
    measures = TaskMeasures(NETWORK)
    reports = train("time int, mph int", time=[1, 15, 3], mph=[70, 80, 90])
    measures.count("reports", "out", reports)
    trains = {("reports", "out"): reports}
    measures.run(steps(NETWORK, NETWORK.nodes, tables_of(NETWORK, NETWORK.nodes), trains, Moment(3)))
    tables = [measures.table(1, 0), output(1, "out", [{"tuples": 1, "bytes": 8, "first": 0, "after": 0.0}], 10**6)]
    assert progress(NETWORK, 1, tables) == {
        "batch": 1, "taken": {"reports": 3}, "given": {"out": 1}, "delay": {"out": 1.0}, "late": {"stats": 1},
        "refused": {},
    }  # fmt: skip
    assert progress(NETWORK, 2, []) == {
        "batch": 2, "taken": {"reports": 0}, "given": {}, "delay": {}, "late": {}, "refused": {},
    }  # fmt: skip

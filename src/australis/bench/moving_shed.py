"""SOLE 7.7 and 7.8: how much load is left at an accuracy, and how many more queries then fit in a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from australis.arrow.schema import schema
from australis.bench.moving_chart import Chart, Panel
from australis.bench.moving_load import OBJECTS, Floats, Load, run_box, train
from australis.bench.moving_shared import watch
from australis.boxes.moving import Watch
from australis.model.box import Moment, Tables
from australis.model.train import empty

WAYS = ("objects", "queries")
_CARRIED = ((), ("x", "y", "time"))
BUDGETS = (70, 80, 85, 90, 92, 94, 95, 96)


def accuracies(load: Load, counts: Sequence[int], demands: Sequence[float]) -> Chart:
    """Figure 22: the load that is left, by the accuracy that all queries demand, with few and with many queries."""
    names = [f"{way} shed, {count:,} queries" for count in counts for way in WAYS]
    wholes = {count: _load(watch(load), replace(load, queries=count))[0] for count in counts}
    rows = []
    for accuracy in demands:
        row = [100 * accuracy, 100 * accuracy]
        means_of_row = []
        for count in counts:
            for way in WAYS:
                box = replace(watch(load), budget=1, shed=way)
                left, mean = _load(box, replace(load, queries=count, accuracy=accuracy))
                row.append(100 * left / wholes[count])
                means_of_row.append(100 * mean)
        rows.append(row + means_of_row)
    means = [f"mean accuracy: {name}" for name in names]
    panels = [Panel("load, %", ["expected", *names]), Panel("mean accuracy, %", ["expected", *means])]
    columns = ["% accuracy asked for", "expected", *names, *means]
    return Chart("shedding", "22", "The load that is left at an accuracy", columns, rows, panels)


def table_bytes(load: Load) -> Chart:
    """Figure 22 in bytes of tables: shadows need some too, and objects need more if they carry columns."""
    rows = []
    for accuracy in (0.9, 0.7, 0.5, 0.3):
        row = [100 * accuracy]
        for carry in _CARRIED:
            plain = replace(watch(load), carry=carry)
            boxes = [plain, *(replace(plain, budget=1, shed=way) for way in WAYS)]
            for box in boxes:
                *_, (_, tables, _) = run_box(box, replace(load, accuracy=accuracy), 2)
                row.append(sum(tables[name].nbytes for name in tables if name != "queries") / 1e6)
        rows.append(row)
    ways = ("none", *WAYS)
    names = [f"{way} shed{', carrying 3' if carry else ''}" for carry in _CARRIED for way in ways]
    panels = [Panel("MB of objects and shadows", names)]
    title = f"Memory at an accuracy, {load.queries:,} queries"
    return Chart("shedding_bytes", "22", title, ["% accuracy asked for", *names], rows, panels)


def by_queries(load: Load, counts: Sequence[int]) -> Chart:
    """Figure 23: the same for accuracies of 70 and 90%, by the number of queries."""
    names = [f"{way} shed, {accuracy}%" for accuracy in (70, 90) for way in WAYS]
    rows = []
    for count in counts:
        each = replace(load, queries=count)
        whole, _ = _load(watch(load), each)
        row: list[float] = [count]
        for accuracy in (0.7, 0.9):
            for way in WAYS:
                left, _ = _load(replace(watch(load), budget=1, shed=way), replace(each, accuracy=accuracy))
                row.append(100 * left / whole)
        rows.append(row)
    panels = [Panel("load, %", names, scale="x")]
    return Chart("shedding_queries", "23", "The load that is left at 70 and 90%", ["queries", *names], rows, panels)


def budgets(load: Load, counts: Sequence[int]) -> Chart:
    """Figure 24: the mean accuracy if objects are shed down to a part of the load, by the number of queries."""
    wholes = [_load(watch(load), replace(load, queries=count))[0] for count in counts]
    rows = []
    for part in (0.1, 0.3, 0.5, 0.7, 0.9):
        row = [100 * part]
        for count, whole in zip(counts, wholes, strict=True):
            box = replace(watch(load), budget=max(int(part * whole), 1))
            row.append(100 * _load(box, replace(load, queries=count, accuracy=0.0))[1])
        rows.append(row)
    names = [f"{count:,} queries" for count in counts]
    panels = [Panel("mean accuracy, %", names)]
    return Chart("shedding_budgets", "24", "Objects shed to a part of the load", ["% of load", *names], rows, panels)


def supported(load: Load, sizes: Sequence[float]) -> Chart:
    """Figure 25a: how many times as many queries fit in a budget of objects if each accepts an accuracy of 90%.

    The least load is measured for more and more queries, until it reaches the budget.
    """
    columns, lines = ["budget, % of objects"], []
    for size in sizes:
        counts, least = _curves(replace(load, smallest=size, largest=size))
        columns += [f"queries of {100 * size:g}%, none shed", *(f"ratio, {way} shed, {100 * size:g}%" for way in WAYS)]
        most_queries = [
            [_supported_queries(counts, each, budget / 100 * load.objects) for each in least] for budget in BUDGETS
        ]
        lines.append([[none, objects / none, queries / none] for none, objects, queries in most_queries])
    rows = [[budget, *(value for line in lines for value in line[at])] for at, budget in enumerate(BUDGETS)]
    panels = [
        Panel(f"{way} shed: times the queries", [name for name in columns if f", {way} " in name], scale="y")
        for way in WAYS
    ]
    return Chart(
        "supported", "25a", "Queries that a budget holds at 90%, to those without shedding", columns, rows, panels
    )


def _curves(load: Load) -> tuple[Floats, list[Floats]]:
    """Numbers of queries, and the least load for so many: without shedding, by objects and by queries."""
    counts: list[int] = []
    least: list[list[int]] = [[], [], []]
    count = 0.2 / load.largest
    while count <= 60 / load.largest and count < 100_000:
        each = replace(load, queries=int(count), accuracy=0.9)
        counts.append(int(count))
        least[0].append(_load(watch(load), each)[0])
        for line, way in zip(least[1:], WAYS, strict=True):
            line.append(_load(replace(watch(load), budget=1, shed=way), each)[0])
        count *= 1.75
    return np.array(counts, np.float64), [np.array(line, np.float64) for line in least]


def _supported_queries(counts: Floats, least: Floats, budget: float) -> float:
    """The largest number of queries for which a budget is enough; the last one if it is enough for all."""
    over = np.flatnonzero(least > budget)
    if not len(over):
        return float(counts[-1])
    at = int(over[0])
    if not at:
        return float(counts[0])
    part = (budget - least[at - 1]) / (least[at] - least[at - 1])
    return float(counts[at - 1] + part * (counts[at] - counts[at - 1]))


def arriving(load: Load, ticks: int) -> Chart:
    """Figure 25b: accuracies while more and more queries that accept 70% come, after memory is full."""
    first = load.queries // ticks
    whole, _ = _load(watch(load), replace(load, queries=first * (ticks // 3)))
    columns = ["queries"]
    rows: list[list[float]] = [[first * (tick + 1)] for tick in range(ticks)]
    for way in WAYS:
        box = replace(watch(load), budget=whole, shed=way)
        queries = replace(load, accuracy=0.7).query_rows()
        tables = box.tables(schema(OBJECTS), queries.schema)
        for tick, reports in enumerate(load.ticks(ticks)):
            new = queries.slice(tick * first, first)
            box.step(tables, (train(reports), train(new) if len(new) else empty(queries.schema)), Moment(tick))
            accuracies_now = _accuracies(tables)
            rows[tick] += [
                100 * float(accuracies_now.mean()),
                100 * float(accuracies_now.min()),
                100 * len(tables["objects"]) / whole,
            ]
        columns += [f"{what}, {way} shed" for what in ("mean", "least", "load")]
    accuracy = [name for name in columns if name[:4] in ("mean", "leas")]
    panels = [Panel("accuracy, %", accuracy), Panel("objects kept, % of budget", [columns[3], columns[6]])]
    return Chart(
        "arriving", "25b", f"Queries that come while there is room for {whole:,} objects", columns, rows, panels
    )


def _load(box: Watch, load: Load) -> tuple[int, float]:
    """The objects that a box keeps after a train of all, and the mean accuracy of queries."""
    *_, (_, tables, _) = run_box(box, load, 1)
    return len(tables["objects"]), float(_accuracies(tables).mean())


def _accuracies(tables: Tables) -> Floats:
    queries = tables["queries"]
    shares: Floats = 1 - queries["missed"][queries.slots]
    return shares

"""Each box compared with a library that does the nearest thing, on one thread, in one run.

The libraries get all tuples at once, in memory. The boxes get them in trains, keep their order, and can stop anywhere.
"""

from __future__ import annotations

import json as json_
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as Sheet

from australis.arrow.compute import pc
from australis.boxes import Aggregate, BSort, Filter, Join, Map, Resample
from australis.errors import RunError
from australis.expressions import aggregation, expr
from australis.model.box import Box, Moment, Trains
from australis.model.order import Order
from australis.model.train import Train, empty

Answer = tuple[Any, ...]
_KEYS = 200
LENGTHS = (1_000, 10_000, 100_000)


@dataclass(frozen=True)
class Case:
    """A box, its inputs, and the library's way to the same answer."""

    name: str
    library: str
    box: Box
    inputs: tuple[pa.Table, ...]
    peer: Callable[[], Answer]
    answer: Callable[[pa.Table], Answer]
    target: float


def cases(tuples: int) -> Iterator[Case]:
    """The cases, each built when it is needed."""
    import duckdb
    import polars as pl

    database = duckdb.connect(config={"threads": 1})
    random = np.random.default_rng(7)
    times = np.arange(tuples) // 1000
    reports = pa.table(
        {
            "time": times,
            "vid": random.integers(0, 50_000, tuples),
            "mph": random.integers(0, 100, tuples),
            "seg": random.integers(0, _KEYS, tuples),
        }
    )
    jam = expr("mph < 40 and seg != 4")

    def filter_by_library() -> Answer:
        mask = pc.and_kleene(pc.less(reports["mph"], 40), pc.not_equal(reports["seg"], 4))
        return _sums(reports.filter(mask))

    yield Case("filter", "pyarrow", Filter(jam), (reports,), filter_by_library, _sums, 0.5)

    conversion = Map((("time", expr("time")), ("kph", expr("mph * 1.6")), ("place", expr("seg * 100 + mph"))))

    def map_by_library() -> Answer:
        kph = pc.multiply(pc.cast(reports["mph"], pa.float64()), 1.6)
        place = pc.add_checked(pc.multiply_checked(reports["seg"], 100), reports["mph"])
        return _sums(pa.table({"time": reports["time"], "kph": kph, "place": place}))

    yield Case("map", "pyarrow", conversion, (reports,), map_by_library, _sums, 0.5)

    minutes = Aggregate(
        (("cars", aggregation("count(*)")), ("mph", aggregation("avg(mph)"))), Order("time", by=("seg",)), 60, 60
    )
    frame = pl.from_arrow(reports)
    assert isinstance(frame, pl.DataFrame)

    def group_by_library() -> Answer:
        by = [(pl.col("time") // 60 * 60).alias("time"), pl.col("seg")]
        return _sums(frame.group_by(by).agg(pl.len().alias("cars"), pl.col("mph").mean()).to_arrow())

    yield Case("aggregate", "polars", minutes, (reports,), group_by_library, _sums, 0.5)

    slack = 64
    shuffled = pa.table(
        {"a": np.arange(tuples) + random.integers(0, slack // 2, tuples), "b": reports["vid"], "c": reports["mph"]}
    )

    def sort_by_library() -> Answer:
        order = np.argsort(shuffled["a"].to_numpy(), kind="stable")
        return _sums(shuffled.take(order))

    def sort_alone() -> Answer:
        return (int(np.sort(shuffled["a"].to_numpy())[-1]),)

    sorting = BSort(Order("a", slack=slack))
    yield Case("bsort", "numpy argsort", sorting, (shuffled,), sort_by_library, _sums, 0.25)
    yield Case("bsort", "numpy sort", sorting, (shuffled,), sort_alone, _last, 0.25)

    half = tuples // 2
    ids = random.permutation(half)
    requests = pa.table({"id": ids, "at": np.arange(half), "x": random.integers(0, 100, half)})
    lag = random.integers(0, 1000, half)
    later = np.argsort(np.arange(half) + lag, kind="stable")
    answered = pa.table({"id": ids[later], "at": (np.arange(half) + lag)[later], "y": random.integers(0, 100, half)})
    left, right = pl.from_arrow(requests), pl.from_arrow(answered)
    assert isinstance(left, pl.DataFrame)
    assert isinstance(right, pl.DataFrame)

    def join_by_library() -> Answer:
        pairs = left.join(right, on="id", coalesce=False).filter((pl.col("at") - pl.col("at_right")).abs() <= 500)
        return _sums(pairs.to_arrow())

    matching = Join(Order("at"), Order("at"), 500, expr("left.id = right.id"))
    yield Case("join", "polars", matching, (requests, answered), join_by_library, _sums, 0.25)

    step, reach = 20, 10
    readings = pa.table({"at": np.arange(tuples) // 2, "x": random.integers(0, 1000, tuples)})
    beats = pa.table({"at": np.arange(0, tuples // 2, step)})
    read = pl.from_arrow(readings)
    assert isinstance(read, pl.DataFrame)

    def resample_on_grid() -> Answer:
        windows = read.group_by_dynamic("at", every=f"{step}i", period=f"{2 * reach + 1}i", offset=f"-{reach}i")
        means = windows.agg(pl.col("x").mean()).with_columns(at=pl.col("at") + reach)
        return _sums(means.filter(pl.col("at") <= int(beats["at"][-1].as_py())).to_arrow())

    near = Resample((("x", aggregation("avg(x)")),), Order("at"), Order("at"), reach)

    database.register("beats", beats)
    database.register("readings", readings)

    def resample_by_range() -> Answer:
        query = (
            "select b.at, avg(r.x) x from beats b join readings r on r.at between b.at - ? and b.at + ? group by b.at"
        )
        return _sums(database.sql(query, params=[reach, reach]).to_arrow_table())

    # polars only has windows on a grid, and is very good at it; duckdb, like the box, has windows around any tuples.
    yield Case("resample", "duckdb", near, (beats, readings), resample_by_range, _sums, 0.25)
    yield Case("resample", "polars", near, (beats, readings), resample_on_grid, _sums, 0.25)


def _sums(table: pa.Table) -> Answer:
    """The number of rows and the sums of their columns, which do not depend on their order."""
    return (table.num_rows, *(round(float(pc.sum(table[name]).as_py() or 0), 3) for name in table.column_names))


def _last(table: pa.Table) -> Answer:
    return (table["a"][-1].as_py(),)


def trains(tables: tuple[pa.Table, ...], length: int) -> Iterator[Trains]:
    """Inputs as trains of a length. Two inputs advance together, in proportion to their tuples."""
    longest = max(table.num_rows for table in tables)
    whole = [table.combine_chunks() for table in tables]
    for start in range(0, longest, length):
        step = []
        for table in whole:
            low, high = (min(at, longest) * table.num_rows // longest for at in (start, start + length))
            part = table.slice(low, high - low).to_batches()
            numbers = np.arange(low, high) * longest // table.num_rows
            step.append(Train(part[0], numbers, numbers) if part else empty(table.schema))
        yield tuple(step)


def run(box: Box, steps: list[Trains]) -> pa.Table:
    """Run a box over all trains."""
    tables = box.tables(*(train.schema for train in steps[0]))
    out = [box.step(tables, step, Moment())[0].tuples for step in steps]
    out.append(box.step(tables, tuple(empty(train.schema) for train in steps[0]), Moment(end=True))[0].tuples)
    return pa.Table.from_batches(out)


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Seconds of processor time, which a busy machine does not change on one thread."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main(
    tuples: int = 10_000_000, train: int = 65_536, repeat: int = 3, json: Path | None = None, only: str = ""
) -> None:
    """Measure, print a table, and write JSON to `json` if it is given."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    pa.set_cpu_count(1)
    chosen, names = only.split(",") if only else [], dict.fromkeys(case.name for case in cases(1000))
    for name in chosen:
        if name not in names:
            raise RunError(f"no box is named {name}: there are {', '.join(names)}")
    console = Console()
    results = []
    with Progress(console=console, transient=True) as progress:
        for case in cases(tuples):
            if only and case.name not in chosen:
                continue
            task = progress.add_task(f"{case.name} beside {case.library}", total=repeat + 1)
            results.append(_measure(case, train, repeat, partial(progress.advance, task)))
            progress.remove_task(task)
    console.print(_sheet(results, tuples, train))
    if json is not None:
        machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
        report = {"tuples": tuples, "train": train, "machine": machine, "results": results}
        json.write_text(json_.dumps(report, indent=2))


def _measure(case: Case, train: int, repeat: int, advance: Callable[[], None]) -> dict[str, Any]:
    """Medians of a case, box and library in turn, after a first run that warms up and compares the answers."""
    total = sum(table.num_rows for table in case.inputs)
    steps = list(trains(case.inputs, train))
    box_answer, library_answer = case.answer(run(case.box, steps)), case.peer()
    if box_answer != library_answer:
        raise RunError(f"{case.name}: the box answers {box_answer}, {case.library} {library_answer}")
    advance()
    own, peer = [], []
    for _ in range(repeat):
        own.append(cpu_seconds(partial(run, case.box, steps)))
        peer.append(cpu_seconds(case.peer))
        advance()
    box_seconds, library_seconds = statistics.median(own), statistics.median(peer)
    tenth = tuple(table.slice(0, table.num_rows // 10) for table in case.inputs)
    return {
        "box": case.name,
        "library": case.library,
        "box_mtuples": total / box_seconds / 1e6,
        "library_mtuples": total / library_seconds / 1e6,
        "ratio": library_seconds / box_seconds,
        "target": case.target,
        "by_train_length": {length: _speed(case.box, case.inputs, length) for length in LENGTHS},
        "tenth_mtuples": _speed(case.box, tenth, train),
    }


def _speed(box: Box, inputs: tuple[pa.Table, ...], length: int) -> float:
    """Million tuples a second in trains of a length."""
    steps = list(trains(inputs, length))
    return sum(table.num_rows for table in inputs) / cpu_seconds(partial(run, box, steps)) / 1e6


def _sheet(results: list[dict[str, Any]], tuples: int, train: int) -> Sheet:
    sheet = Sheet(
        title=f"{tuples:,} tuples in trains of {train:,}, one thread: million tuples a second",
        caption="last columns: in trains of other lengths, and a tenth of the tuples",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    lengths = [f"{length // 1000}k" for length in LENGTHS]
    for column in ("box", "speed", "beside", "speed", "ratio", "goal", *lengths, "1/10"):
        sheet.add_column(column, justify="left" if column in ("box", "beside") else "right", no_wrap=True)
    for row in results:
        colour = "green" if row["ratio"] >= row["target"] else "red"
        speeds = [*row["by_train_length"].values(), row["tenth_mtuples"]]
        sheet.add_row(
            row["box"], f"{row['box_mtuples']:.3g}", row["library"], f"{row['library_mtuples']:.3g}",
            f"[{colour}]{row['ratio']:.2f}[/]", f"{row['target']:.2f}", *(f"{speed:.3g}" for speed in speeds),
        )  # fmt: skip
    return sheet

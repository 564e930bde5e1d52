"""The whole engine compared with plain Spark: same files, machine and session, and the same answers."""

from __future__ import annotations

import json as json_
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as Sheet

from australis.api.network import Network
from australis.arrow.compute import pc
from australis.bench import measuring, workloads
from australis.bench.machine import machine
from australis.bench.spark import peers
from australis.bench.spark.peers import Peer
from australis.bench.workloads import FILE, tuples
from australis.engine.spark.session import session
from australis.errors import RunError

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

WORKLOADS = ("windows", "chain", "changes", "trains", "overhead", "apart")
CORES = 2
CHANGES_PART = 200_000
"""The length of a batch of changes. Spark gets one: it would take some twenty minutes for all."""
TRAINS = (10_000, 100_000, 1_000_000)
_BATCHES = 20
"""The most batches of a train length, and the batches of one tuple."""


@dataclass(frozen=True)
class Side:
    """A way to do a workload: what goes from a folder of so many tuples to another folder, with a checkpoint."""

    name: str
    tuples: int
    run: Callable[[Path, Path, Path], Any]
    goal: float | None = None
    """How many times as fast as this side we want to be."""
    answers: bool = True
    """Whether its answers must equal ours."""
    forgets: str = ""
    """The column by which it may leave out the last answers."""
    missing: str = ""
    """A module that it needs and that is not installed."""


@dataclass(frozen=True)
class Contest:
    """A workload on our engine, and on others."""

    name: str
    label: str
    ours: Side
    others: tuple[Side, ...] = ()
    turns: int = 100
    """How many turns are enough. Some contests take minutes, and differ by more than noise."""


def australis(
    spark: SparkSession,
    net: Network,
    partitions: int,
    train: int | None,
    source: Path,
    out: Path,
    checkpoint: Path,
) -> list[dict[str, Any]]:
    """Run a network over files to their end, and return the progress of each batch."""
    connectors = {"tuples": f"{source}/*.parquet", "out": f"{out}/"}
    run = net.run(connectors, spark=spark, checkpoint=str(checkpoint), partitions=partitions, train=train)
    return list(run.progress)


def contests(spark: SparkSession, count: int) -> Iterator[Contest]:
    """All contests, for a number of tuples."""

    def ours(
        name: str, net: Network, goal: float | None = None, answers: bool = True,
        partitions: int = CORES, train: int | None = None, most: int = count,
    ) -> Side:  # fmt: skip
        return Side(name, min(count, most), partial(australis, spark, net, partitions, train), goal, answers)

    def theirs(peer: Peer, goal: float | None = None, forgets: str = "", most: int = count) -> Side:
        missing = "" if peer.ready else peer.needs
        return Side(peer.name, min(count, most), partial(peer.run, spark), goal, forgets=forgets, missing=missing)

    windows, changes, chain = workloads.windows(), workloads.changes(), workloads.chain()
    one, boxes = workloads.chain((workloads.ONE,)), tuple(node.box for node in chain.nodes)
    yield Contest(
        "windows", "windows", ours("Australis", windows, partitions=1),
        (
            theirs(peers.WINDOWS, goal=5, forgets="time"), theirs(peers.WINDOWS_AS_IT_COMES, goal=5, forgets="time"),
            ours("two partitions", windows),
        ),
    )  # fmt: skip
    yield Contest(
        "windows", "windows by file", ours("Australis", windows, partitions=1, train=FILE),
        (theirs(peers.WINDOWS_BY_FILE, forgets="time"),),
    )  # fmt: skip
    yield Contest(
        "chain", "chain", ours("Australis", chain),
        (
            theirs(peers.CHAIN_NATIVE, goal=3), theirs(peers.CHAIN_AS_IT_COMES, goal=3),
            ours("one box", one, goal=1 / 1.5, answers=False),
            ours("one partition", chain, goal=1.6, partitions=1),
        ),
    )  # fmt: skip
    yield Contest("changes", "changes", ours("Australis", changes, partitions=1), (theirs(peers.CHANGES),), turns=1)
    yield Contest(
        "changes", "changes by 200k", ours("Australis", changes, partitions=1, train=CHANGES_PART),
        tuple(theirs(peer, goal=100, most=CHANGES_PART) for peer in (peers.CHANGES, peers.CHANGES_BY_PROCESSOR)),
        turns=2,
    )  # fmt: skip
    for length in TRAINS:
        each = ours("Australis", windows, partitions=1, train=length, most=_BATCHES * length)
        yield Contest("trains", f"{length:,}", each, turns=3)
    yield Contest("trains", "all", ours("Australis", windows, partitions=1, train=count), turns=3)
    apart = (theirs(peers.CHAIN_APART), theirs(peers.boxes_apart(boxes)))
    yield Contest("apart", "chain apart", ours("Australis", chain), apart, turns=1)


def once(side: Side, data: Path, count: int, answer: bool = False) -> tuple[float, pa.Table]:
    """The seconds of one run, from its start until all is written, and its answers if `answer` is set."""
    source = tuples(data, count)
    with tempfile.TemporaryDirectory(dir=data) as folder:
        out, checkpoint = Path(folder) / "out", Path(folder) / "checkpoint"
        start = time.perf_counter()
        side.run(source, out, checkpoint)
        seconds = time.perf_counter() - start
        return seconds, _read_answers(out) if answer else pa.table({})


def _read_answers(out: Path) -> pa.Table:
    return pa.concat_tables(pa.parquet.read_table(path) for path in sorted(out.glob("*.parquet")))


def count_forgotten(ours: pa.Table, theirs: pa.Table, forgets: str = "") -> int | None:
    """How many of our answers the other side left out, all at the end of a column; None if answers differ otherwise."""
    missing = ours.num_rows - theirs.num_rows
    if forgets:
        ours = ours.filter(pc.less_equal(ours[forgets], pc.max(theirs[forgets])))
    return missing if _sort(ours).equals(_sort(theirs)) else None


def _sort(table: pa.Table) -> pa.Table:
    """Rows in one order, with doubles rounded to what every order of addition gives."""
    for at, each in enumerate(table.schema):
        if pa.types.is_floating(each.type):
            table = table.set_column(at, each.name, pc.round(table[each.name], 6))
    return table.sort_by([(name, "ascending") for name in table.column_names]).replace_schema_metadata()


def measure(contest: Contest, data: Path, repeat: int, on_progress: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each side. The sides run in turn, after a first run of each that warms up and compares the answers."""
    sides = [contest.ours, *(side for side in contest.others if not side.missing)]
    ours: dict[int, pa.Table] = {}
    forgotten_answers: dict[str, int | None] = {}
    for side in sides:
        on_progress(f"{contest.label}: {side.name}, first run")
        _, answer = once(side, data, side.tuples, side.answers)
        if side is contest.ours:
            ours[side.tuples] = answer
        elif side.answers:
            if side.tuples not in ours:
                _, ours[side.tuples] = once(contest.ours, data, side.tuples, True)
            forgotten_answers[side.name] = count_forgotten(ours[side.tuples], answer, side.forgets)
    seconds: dict[str, list[float]] = {side.name: [] for side in sides}
    repeat = min(repeat, contest.turns)
    for turn in range(repeat):
        for side in sides:
            on_progress(f"{contest.label}: {side.name}, {turn + 1} of {repeat}")
            seconds[side.name].append(once(side, data, side.tuples)[0])
    speeds = {side.name: side.tuples / statistics.median(seconds[side.name]) / 1e6 for side in sides}
    own_speed = speeds[contest.ours.name]
    return [
        {
            "workload": contest.name,
            "label": contest.label,
            "side": side.name,
            "ours": side is contest.ours,
            "tuples": side.tuples,
            "seconds": seconds.get(side.name, []),
            "mtuples": speeds.get(side.name),
            "ratio": own_speed / speeds[side.name] if side.name in speeds else None,
            "goal": side.goal,
            "same": forgotten_answers[side.name] is not None if side.name in forgotten_answers else None,
            "forgotten": forgotten_answers.get(side.name),
            "missing": side.missing,
        }
        for side in (contest.ours, *contest.others)
    ]


def overhead(spark: SparkSession, data: Path, repeat: int) -> list[float]:
    """The seconds of each batch of one tuple, except the first of a run."""
    run = partial(australis, spark, workloads.windows(), CORES, 1)
    batches: list[dict[str, Any]] = []
    side = Side("Australis", _BATCHES, lambda *folders: batches.extend(run(*folders)[1:]))
    for _ in range(repeat):
        once(side, data, _BATCHES)
    return [each["seconds"] for each in batches if each["taken"] == {"tuples": 1}]


def main(
    count: int = 10_000_000,
    repeat: int = 5,
    json: Path | None = None,
    only: str = "",
    quick: bool = False,
    data: Path | None = None,
) -> None:
    """Measure, print the tables, and write JSON to `json` if it is given."""
    chosen = only.split(",") if only else WORKLOADS
    for name in chosen:
        if name not in WORKLOADS:
            raise RunError(f"no workload is named {name}: there are {', '.join(WORKLOADS)}")
    if quick:
        count, repeat = min(count, 1_000_000), 1
    folder = data or Path(tempfile.gettempdir()) / "australis-bench"
    console = Console()
    load = os.getloadavg()[0]
    if load > CORES / 4:
        console.print(f"the machine is busy with other work (load {load:.1f}): figures will be low", highlight=False)
    spark, own = session(master=f"local[{CORES}]")
    where = machine(spark) | {"load": load}
    report: dict[str, Any] = {"tuples": count, "repeat": repeat, "machine": where, "results": [], "empty": []}
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("")

        def show_progress(what: str) -> None:
            progress.update(task, description=what)

        for contest in contests(spark, count):
            if contest.name in chosen:
                report["results"] += measure(contest, folder, repeat, show_progress)
                _save(report, json)
        if "overhead" in chosen:
            show_progress("batches of one tuple")
            report["empty"] = overhead(spark, folder, repeat)
            show_progress("a task with and without measurements")
            report["measuring"] = {
                name: measuring.share_apart(tuples(folder, count), 5 * repeat, name) for name in measuring.NETWORKS
            }
            _save(report, json)
    if own:
        spark.stop()
    if "measuring" in report:
        shares = ", ".join(f"{share:.1%} of a task with {name}" for name, share in report["measuring"].items())
        console.print(f"  measuring takes {shares}", highlight=False)
    for sheet in sheets(report["results"], report["empty"], count, repeat):
        console.print(sheet)
    console.print(", ".join(f"{name} {value}" for name, value in report["machine"].items()), highlight=False)


def _save(report: dict[str, Any], json: Path | None) -> None:
    """Write the figures so far, since a run takes long."""
    if json is not None:
        json.write_text(json_.dumps(report, indent=2))


def sheets(rows: list[dict[str, Any]], batches: list[float], count: int, repeat: int) -> Iterator[Sheet | str]:
    """The tables of the results, and notes under them."""
    own_speeds = {row["label"]: row["mtuples"] for row in rows if row["ours"]}
    others = [row for row in rows if not row["ours"]]
    if others:
        yield _beside(others, own_speeds, f"{count:,} tuples: tuples a second, medians of {repeat}")
        for row in others:
            if row["forgotten"]:
                yield f"  {row['label']}: {row['side']} leaves out the last {row['forgotten']:,} answers"
            if row["missing"]:
                yield f"  {row['label']}: {row['side']} needs the module {row['missing']}"
    lengths = [row for row in rows if row["workload"] == "trains"]
    if lengths:
        sheet = _sheet("windows in trains of", *(row["label"] for row in lengths))
        sheet.add_row("tuples a second", *(_short(row["mtuples"] * 1e6) for row in lengths))
        yield sheet
    if batches:
        yield f"  a batch of one tuple takes {statistics.median(batches):.3f} s"


def _beside(rows: list[dict[str, Any]], own_speeds: dict[str, float], title: str) -> Sheet:
    sheet = _sheet("workload", "speed", "beside", "tuples", "speed", "ratio", "goal", "same")
    sheet.title = title
    for row in rows:
        first = (row["label"], _short(own_speeds[row["label"]] * 1e6), row["side"])
        if row["missing"]:
            sheet.add_row(*first, "-", "-", "-", f"{row['goal']:.3g}")
            continue
        good = row["goal"] is None or row["ratio"] >= row["goal"]
        sheet.add_row(
            *first, _short(row["tuples"]), _short(row["mtuples"] * 1e6),
            f"[{'green' if good else 'red'}]{row['ratio']:.3g}[/]", f"{row['goal']:.3g}" if row["goal"] else "",
            {True: "yes", False: "[red]no[/]", None: ""}[row["same"]],
        )  # fmt: skip
    return sheet


def _sheet(*columns: str) -> Sheet:
    sheet = Sheet(box=SIMPLE_HEAD, padding=0, show_edge=False)
    for column in columns:
        sheet.add_column(column, justify="left" if column in ("workload", "beside") else "right", no_wrap=True)
    return sheet


def _short(count: float) -> str:
    """A number of tuples in few characters.

    >>> _short(10_000_000), _short(255_400), _short(7_612.3), _short(20)
    ('10M', '255k', '7.61k', '20')
    """
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if count >= 0.9995 * unit:
            return f"{count / unit:.3g}{sign}"
    return f"{count:.3g}"

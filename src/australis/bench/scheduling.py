"""Scheduling: what it takes to bring tuples to boxes (Aurora 4.3 and Fig. 7, XStream III-C).

Aurora's figure: forty boxes, four deep, take the same position reports a tuple at a time, in trains, and in trains that
pass several boxes as one superbox. What boxes themselves take is told apart from what is spent around them. XStream's
comparison: the segments of a sound go through an application in different orders.
"""

from __future__ import annotations

import json as json_
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

import australis as au
from australis.api.network import Network
from australis.bench.applications import APPLICATIONS, SOUNDS
from australis.boxes.signals.column import column
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.engine.superbox import Arrows, Event, Passage, steps, tables_of
from australis.errors import RunError
from australis.kernels.generated import WORTH
from australis.model.box import Box, Moment, Tables, Trains
from australis.model.network import OUT
from australis.model.train import Train, empty
from australis.plan import plan
from australis.plan.chains import Chain, chains

AURORA = {"trains": 0.48, "superboxes": 0.43}
"""By what the time in Aurora's scheduler falls with trains, and again with superboxes (Fig. 7)."""
XSTREAM = {"FIFO": 1.0, "RTC": 1.2, "DF": 1.51}
"""XStream's schedulers, by the samples a second of the first of them (III-C)."""
CONSUMERS = 10
_TRAIN = 1000
_SEGMENT, _SEGMENTS = 4096, 64
_COMPILING = 600.0  # seconds


@dataclass(frozen=True)
class RunCost:
    """The seconds of a run, those within boxes, and how often a box was called."""

    seconds: float
    within: float
    calls: int
    results: int

    @property
    def around(self) -> float:
        """The seconds around boxes: to choose them, and to bring them their tuples."""
        return self.seconds - self.within


def dissemination(consumers: int = CONSUMERS) -> Network:
    """Position reports for consumers that each want another part of them, in four boxes each."""
    reports = au.stream("reports", "time int, unit int, x double, y double, kind int")
    outputs = {}
    for each in range(consumers):
        near = reports.filter(f"x >= {each * 10} and x < {each * 10 + 30}", box=f"near_{each}")
        moved = near.map(time="time", unit="unit", kind="kind", r=f"(x - {each * 10}) * 2 + y", box=f"moved_{each}")
        wanted = moved.filter(f"kind != {each % 5} and r > 10", box=f"wanted_{each}")
        outputs[f"to_{each}"] = wanted.map(time="time", unit="unit", r="r / 2", box=f"told_{each}")
    return au.network(**outputs)


def reports(count: int) -> pa.RecordBatch:
    """Reports of units at random places of a square of 100."""
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {
        "time": np.arange(count, dtype=np.int32),
        "unit": rng.integers(0, 500, count).astype(np.int32),
        "x": rng.uniform(0, 100, count),
        "y": rng.uniform(0, 100, count),
        "kind": rng.integers(0, 5, count).astype(np.int32),
    }
    return pa.RecordBatch.from_pydict(columns)


def cut(tuples: pa.RecordBatch, length: int) -> list[Train]:
    """Trains of a length, in order."""
    numbers = np.arange(tuples.num_rows)
    return [
        Train(tuples.slice(at, length), np.zeros_like(numbers[at : at + length]), numbers[at : at + length])
        for at in range(0, tuples.num_rows, length)
    ]


class TimedBox:
    """A box that notes how long its steps take. All else is the box's own."""

    def __init__(self, box: Box, spent: list[float]) -> None:
        self._box, self._spent = box, spent

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        start = time.perf_counter()
        results = self._box.step(tables, trains, moment)
        self._spent.append(time.perf_counter() - start)
        return results

    def __getattr__(self, name: str) -> Any:
        return getattr(self._box, name)


class TimedChain:
    """A superbox that notes how long its steps take."""

    def __init__(self, chain: Chain, spent: list[float]) -> None:
        self._chain, self._spent = chain, spent

    def step(self, train: Train) -> Any:
        start = time.perf_counter()
        result = self._chain.step(train)
        self._spent.append(time.perf_counter() - start)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chain, name)


def run(network: Network, trains: Sequence[Train], superboxes: bool = False, breadth: bool = False) -> RunCost:
    """Run trains of the one input of a network through it, each through all boxes before the next.

    With `breadth` every box takes all trains before the next box runs. That is for networks without keyed tables, which
    readers see as they were when a train was written.
    """
    spent: list[float] = []
    (stage,) = plan(network, {input.name: () for input in network.inputs}).stages
    loops = {name: TimedChain(chain, spent) for name, chain in chains(network, stage).items()} if superboxes else {}
    nodes = [replace(node, box=cast(Box, TimedBox(node.box, spent))) for node in network.nodes]
    tables, (input,) = tables_of(network, network.nodes), network.inputs
    arrows: list[Arrows] = []
    end = Train(empty(input.schema).tuples, np.zeros(0, np.int64), np.zeros(0, np.int64))

    def step(train: Train, moment: Moment) -> Iterator[Event | Passage]:
        arrows.append({(input.name, OUT): train})
        return steps(network, nodes, tables, arrows[-1], moment, chains=cast("dict[str, Chain]", loops))

    def count() -> int:
        found = sum(len(a[o.arrow.source, o.arrow.port]) for a in arrows for o in network.outputs)
        arrows.clear()
        return found

    results, start = 0, time.perf_counter()
    moments = [Moment(int(train.number[-1])) for train in trains]
    last = (end, Moment(moments[-1].number, end=True))
    if breadth:
        for _ in zip(*(step(train, moment) for train, moment in zip(trains, moments, strict=True)), strict=True):
            pass
        results += count()
        trains, moments = [], []
    for train, moment in [*zip(trains, moments, strict=True), last]:
        for _ in step(train, moment):
            pass
        results += count()
    return RunCost(time.perf_counter() - start, sum(spent), len(spent), results)


def compiled(network: Network) -> None:
    """Wait until the superboxes of a network of reports run as one loop each: they compile after many tuples."""
    (stage,) = plan(network, {input.name: () for input in network.inputs}).stages
    by_name, until = chains(network, stage), time.monotonic() + _COMPILING
    (train,) = cut(reports(WORTH // 4), WORTH)
    while None in [chain.step(train) for chain in by_name.values()]:
        if time.monotonic() > until:
            raise RunError(f"the superboxes were not compiled in {_COMPILING:g} s")
        time.sleep(0.1)


def disciplines(count: int, repeat: int) -> dict[str, RunCost]:
    """Aurora's figure: medians of `repeat` runs in turn, all over the same reports."""
    network, tuples = dissemination(), reports(count)
    compiled(network)
    ways: dict[str, Callable[[], RunCost]] = {
        "a tuple at a time": lambda: run(network, cut(tuples, 1)),
        "trains": lambda: run(network, cut(tuples, _TRAIN)),
        "superboxes": lambda: run(network, cut(tuples, _TRAIN), superboxes=True),
    }
    return _in_turn(ways, repeat)


def orders(application: str, samples: int, repeat: int) -> dict[str, RunCost]:
    """XStream's comparison, for one of its applications: a segment at a time, all at once, or train by train."""
    network = APPLICATIONS[application]()
    singles, long = (sound_trains(network, application, samples, segments) for segments in (1, _SEGMENTS))
    ways: dict[str, Callable[[], RunCost]] = {
        "FIFO": lambda: run(network, singles, breadth=True),
        "RTC": lambda: run(network, long, breadth=True),
        "DF": lambda: run(network, long),
    }
    return _in_turn(ways, repeat)


def sound_trains(network: Network, application: str, samples: int, segments: int) -> list[Train]:
    """The sound of an application as trains of so many segments."""
    (input,), sound = network.inputs, SOUNDS[application].frames(0, samples)
    names, base = input.schema.names[1:], timebase(48_000)
    begins = range(0, len(sound), _SEGMENT)
    pieces = {
        name: [segment(np.ascontiguousarray(channel[at : at + _SEGMENT]), base, at) for at in begins]
        for name, channel in zip(names, sound.T, strict=True)
    }
    trains = []
    for at in range(0, len(begins), segments):
        some = {name: column(each[at : at + segments], "int16") for name, each in pieces.items()}
        count = len(begins[at : at + segments])
        batch = pa.RecordBatch.from_arrays([pa.array([0] * count, pa.int32()), *some.values()], schema=input.schema)
        trains.append(Train(batch, np.zeros(count, np.int64), np.arange(at, at + count)))
    return trains


def _in_turn(ways: dict[str, Callable[[], RunCost]], repeat: int) -> dict[str, RunCost]:
    turns: dict[str, list[RunCost]] = {name: [] for name in ways}
    for turn in range(repeat + 1):
        for name, way in ways.items():
            took = way()
            turns[name] += [took] if turn else []  # the first warms up
    for took in (each[0] for each in turns.values()):
        if took.results != next(iter(turns.values()))[0].results:
            raise RunError("the ways to schedule the boxes differ in their results")
    return {name: sorted(each, key=lambda took: took.around)[len(each) // 2] for name, each in turns.items()}


def main(
    tuples: int = 20_000, samples: int = 1 << 22, repeat: int = 5, quick: bool = False, json: Path | None = None
) -> None:
    """Measure, print both tables, and write JSON to `json` if it is given."""
    if quick:
        tuples, samples, repeat = min(tuples, 2000), min(samples, 1 << 18), 1
    load, console = os.getloadavg()[0], Console()
    with console.status("a tuple at a time, trains, superboxes"):
        ways = disciplines(tuples, repeat)
    applications = {}
    for name in ("passchain", "detectaudio", "pipeline"):
        with console.status(f"the orders of boxes in {name}"):
            applications[name] = orders(name, samples, repeat)
    console.print(_disciplines_sheet(ways, tuples))
    console.print(_orders_sheet(applications, samples))
    if json is not None:
        report = {
            "tuples": tuples,
            "samples": samples,
            "repeat": repeat,
            "load": load,
            "disciplines": {name: asdict(took) for name, took in ways.items()},
            "orders": {app: {name: asdict(took) for name, took in each.items()} for app, each in applications.items()},
        }
        json.write_text(json_.dumps(report, indent=2))


def _disciplines_sheet(ways: dict[str, RunCost], tuples: int) -> Sheet:
    sheet = Sheet(box=SIMPLE_HEAD)
    for heading in ("", "calls", "in boxes", "around", "share", "of before", "paper's"):
        sheet.add_column(heading, no_wrap=True)
    sheet.title = f"Aurora's figure 7: {tuples:,} reports through {4 * CONSUMERS} boxes, seconds in and around them"
    before: RunCost | None = None
    for name, took in ways.items():
        fell = "" if before is None else f"{took.around / before.around:.3f}"
        share, aurora = f"{took.around / took.seconds:.0%}", f"{AURORA[name]:.2f}" if name in AURORA else ""
        sheet.add_row(name, f"{took.calls:,}", f"{took.within:.3f}", f"{took.around:.3f}", share, fell, aurora)
        before = took
    return sheet


def _orders_sheet(applications: dict[str, dict[str, RunCost]], samples: int) -> Sheet:
    sheet = Sheet("", *XSTREAM, "by the first", box=SIMPLE_HEAD)
    sheet.title = "XStream's schedulers: million samples a second (its own: 1, 1.20, 1.51)"
    for application, ways in applications.items():
        channels = SOUNDS[application].channels
        speeds = [samples * channels / ways[name].seconds / 1e6 for name in XSTREAM]
        by_first = ", ".join(f"{speed / speeds[0]:.2f}" for speed in speeds)
        sheet.add_row(application, *(f"{speed:.0f}" for speed in speeds), by_first)
    return sheet

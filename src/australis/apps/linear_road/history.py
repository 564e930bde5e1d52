"""History: ten weeks of tolls and of traffic, made for an input by Spark, one task an expressway (3.1.3)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.history_writer import write
from australis.apps.linear_road.record import REPORT
from australis.apps.linear_road.road_history import NOTE, TABLES, VERSION, RoadHistory, open_history, read_note
from australis.apps.linear_road.weeks import DAYS
from australis.engine.spark.failures import reason
from australis.engine.spark.session import session
from australis.engine.spark.task_context import attempt
from australis.errors import RunError

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

__all__ = ["RoadHistory", "generate", "open_history"]

Batches = Iterator[pa.RecordBatch]


def generate(
    feed: Feed,
    out: Path,
    seed: int | None = None,
    spark: SparkSession | None = None,
    csv: bool = False,
    on_progress: Callable[[str], None] | None = None,
    *,
    replace: bool = False,
) -> None:
    """Make the history of an input in a folder, which appears whole or not at all.

    The seed is by default that of the simulation, or 1. `csv` writes the paper's flat files beside the others. A
    history that is in the folder already is replaced only with `replace`.
    """
    out = Path(out).absolute()
    _check_free(out, replace)
    seed = int(feed.note.get("seed", 1)) if seed is None else seed
    unfinished = out.with_name(f".{out.name}.making")
    shutil.rmtree(unfinished, ignore_errors=True)  # left by a generation that was killed
    try:
        for table in TABLES:
            (unfinished / table).mkdir(parents=True)
        drivers = _generate(feed, unfinished, seed, spark, csv)
        if not drivers:
            raise RunError("there is no position report in the input, so no vehicle to make a history for")
        numbers = {"xways": feed.xways, "vehicles": feed.vehicles, "queries": feed.queries}
        note = {"version": VERSION, "seed": seed, "numbers": numbers, "days": DAYS, "xways": drivers}
        (unfinished / NOTE).write_text(json.dumps(note, indent=2) + "\n")
        _replace(out, unfinished)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); make room, or give another folder") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    if on_progress is not None:
        size = sum(path.stat().st_size for path in out.rglob("*.*"))
        on_progress(
            f"{out}: {DAYS} days, {len(drivers)} expressways, {sum(drivers.values())} vehicles, {size >> 20} MiB"
        )


def _check_free(out: Path, replace: bool) -> None:
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if read_note(out) is None:
        raise RunError(f"{out}: holds something that is no history; delete it, or give another folder")
    if not replace:
        raise RunError(f"{out}: holds a history; say --replace to put another in its place, or give a new folder")


def _replace(out: Path, unfinished: Path) -> None:
    """Move a new history into place, instead of the old one if there is one."""
    old = out.with_name(f".{out.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    unfinished.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def _generate(feed: Feed, folder: Path, seed: int, spark: SparkSession | None, flat: bool) -> dict[int, int]:
    """Find the vehicles of each expressway and write its files, with Spark. Returns how many vehicles there are."""
    active, own_session = session(spark)
    try:
        files = active.createDataFrame([(str(path.absolute()),) for path in feed.files], "file string")
        # Expressways beyond the feed's number share tasks: a task writes all that it gets.
        width = max(feed.xways, active.sparkContext.defaultParallelism)
        pairs = files.repartition(len(feed.files)).mapInArrow(_drivers(feed), "xway int, vid int")
        task = _writer(folder, seed, flat)
        written = pairs.repartitionById(width, pairs["xway"]).mapInArrow(task, "xway int, vehicles int")
        return dict(sorted((row.xway, row.vehicles) for row in written.collect()))
    except Exception as error:
        raise RunError(f"the history was not made: {reason(error)}") from error
    finally:
        if own_session:
            active.stop()


def _drivers(feed: Feed) -> Callable[[Any], Any]:
    """A task that finds the vehicles that report from each expressway, each pair at least once."""

    def read(batches: Batches) -> Batches:
        for batch in batches:
            for path in batch["file"].to_pylist():
                for tuples in feed.read(Path(str(path))):
                    reports = tuples["type"].to_numpy() == REPORT
                    yield _pairs(tuples["xway"].to_numpy()[reports], tuples["vid"].to_numpy()[reports])

    return read


def _writer(folder: Path, seed: int, flat: bool) -> Callable[[Any], Any]:
    """A task that writes the files of the expressways whose vehicles it gets."""

    def make(batches: Batches) -> Batches:
        pairs_of_task = pa.Table.from_batches(batches, pa.schema({"xway": pa.int32(), "vid": pa.int32()}))
        pairs = _pairs(pairs_of_task["xway"].to_numpy(), pairs_of_task["vid"].to_numpy())
        for xway in np.unique(pairs["xway"].to_numpy()).tolist():
            vids = pairs["vid"].to_numpy()[pairs["xway"].to_numpy() == xway]
            write(folder, seed, xway, vids, flat, str(attempt()))
            yield pa.record_batch({"xway": np.array([xway], np.int32), "vehicles": np.array([len(vids)], np.int32)})

    return make


def _pairs(xways: npt.NDArray[Any], vids: npt.NDArray[Any]) -> pa.RecordBatch:
    """Expressways with their vehicles, each pair once, in order."""
    keys = np.unique(xways.astype(np.int64) << 32 | vids)
    return pa.record_batch({"xway": (keys >> 32).astype(np.int32), "vid": (keys & 0xFFFFFFFF).astype(np.int32)})

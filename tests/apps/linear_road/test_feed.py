"""Feeds: folders and flat files, merged by time and copied."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, ipc, parquet

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.record import INPUT
from australis.errors import RunError


def tuples(times: list[int], xway: int = 0, **given: int) -> pa.RecordBatch:
    values = {name: np.full(len(times), given.get(name, 0)) for name in INPUT.names}
    values |= {"time": np.array(times), "vid": np.arange(len(times)), "xway": np.full(len(times), xway)}
    return pa.record_batch([pa.array(values[column.name], column.type) for column in INPUT], schema=INPUT)


def written(path: Path, *batches: pa.RecordBatch) -> Path:
    table = pa.Table.from_batches(batches)
    if path.suffix == ".arrow":
        with ipc.new_file(path, INPUT) as file:
            file.write_table(table)
    elif path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        csv.write_csv(table, path, csv.WriteOptions(include_header=path.suffix == ".csv"))
    return path


@pytest.mark.parametrize("ending", [".arrow", ".parquet", ".csv", ".dat"])
def test_a_feed_is_the_same_from_every_form(tmp_path: Path, ending: str) -> None:
    file = written(tmp_path / f"one{ending}", tuples([0, 3, 3, 40]))
    assert pa.Table.from_batches(feed(file).merge()).equals(pa.Table.from_batches([tuples([0, 3, 3, 40])]))


def test_files_are_merged_by_time(tmp_path: Path) -> None:
    written(tmp_path / "xway-0.arrow", tuples([0, 3, 40]), tuples([41]))
    written(tmp_path / "xway-1.arrow", tuples([3, 12], xway=1))
    rows = pa.Table.from_batches(feed(tmp_path).merge(5)).select(["time", "xway"]).to_pydict()
    assert list(zip(*rows.values(), strict=True)) == [(0, 0), (3, 0), (3, 1), (12, 1), (40, 0), (41, 0)]


@pytest.mark.parametrize("noted", [True, False])
def test_copies_are_numbered_after_each_other(tmp_path: Path, noted: bool) -> None:
    written(tmp_path / "xway-0.arrow", tuples([0, 1], qid=6, day=-1))
    if noted:
        (tmp_path / "simulation.json").write_text(json.dumps({"xways": 1, "vehicles": 2, "queries": 7, "copies": 3}))
    table = pa.Table.from_batches(feed(tmp_path, copies=None if noted else 3).merge())
    assert table["xway"].to_pylist() == [0, 1, 2] * 2
    assert table["vid"].to_pylist() == [0, 2, 4, 1, 3, 5]
    assert table["qid"].to_pylist() == [6, 13, 20] * 2
    assert set(table["day"].to_pylist()) == {-1}


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such file or folder; `australis linear-road simulate --out"):
        feed(tmp_path / "none")
    with pytest.raises(RunError, match=r"no file in it ends with \.arrow"):
        feed(tmp_path)
    file = written(tmp_path / "one.arrow", tuples([5, 3]))
    with pytest.raises(RunError, match=r"one\.arrow, row 2: .*: times fall from 5 to 3; sort the file"):
        list(feed(file).merge())
    file = tmp_path / "short.csv"
    file.write_text("0,1,2\n")
    with pytest.raises(RunError, match=r"short.csv: CSV.*a line has 15 integers: type,time,vid"):
        list(feed(file).merge())
    with pytest.raises(RunError, match="0 copies: give 1 or more"):
        feed(file, copies=0)

"""Writers: folders that are there whole or not at all."""

import errno
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from australis.apps.linear_road.feed import NOTE, feed
from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.simulation.writer import FORMS, folder, names
from australis.errors import RunError


def some(rows: int) -> pa.RecordBatch:
    columns = {column.name: np.zeros(rows, np.int64) for column in INPUT} | {"vid": np.arange(rows)}
    return pa.record_batch([pa.array(columns[column.name], column.type) for column in INPUT], schema=INPUT)


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_reads_as_it_was_written(tmp_path: Path, form: str) -> None:
    out = tmp_path / "some" / "where"
    with folder(out, form, 1, lambda: {"vehicles": 100}) as (write,):
        write(some(40))
        write(some(60))
        assert not [path for path in out.iterdir() if path.suffix != ".tmp"]
    assert sorted(path.name for path in out.iterdir()) == sorted([*names(form, 1), NOTE])
    assert pa.Table.from_batches(feed(out).read(feed(out).files[0])).equals(pa.Table.from_batches([some(40), some(60)]))
    assert feed(out).vehicles == 100


def test_other_things_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with (
        pytest.raises(RunError, match=r"holds thesis\.tex and no simulation\.json.*give another folder, or empty this"),
        folder(tmp_path, "arrow", 1, dict),
    ):
        pass
    with (
        pytest.raises(RunError, match=r"thesis\.tex: is a file; give a folder"),
        folder(tmp_path / "thesis.tex", "arrow", 1, dict),
    ):
        pass


def test_beside_a_simulation_other_things_stay(tmp_path: Path) -> None:
    with folder(tmp_path, "arrow", 2, dict):
        pass
    (tmp_path / "mine.txt").touch()
    (tmp_path / ".xway-000.arrow.0123.tmp").touch()  # of a process that was killed
    with folder(tmp_path, "parquet", 1, dict, replace=True):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", NOTE, "xway-000.parquet"]


def test_a_simulation_is_replaced_only_where_that_is_asked_for(tmp_path: Path) -> None:
    with folder(tmp_path, "csv", 1, lambda: {"vehicles": 1}):
        pass
    with (
        pytest.raises(RunError, match="holds a simulation; say --replace to put another in its place, or give a new"),
        folder(tmp_path, "csv", 1, lambda: {"vehicles": 2}),
    ):
        pass
    assert feed(tmp_path).vehicles == 1
    with folder(tmp_path, "csv", 1, lambda: {"vehicles": 2}, replace=True):
        pass
    assert feed(tmp_path).vehicles == 2


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    def fill() -> None:
        with folder(tmp_path / "out", "arrow", 1, dict) as (write,):
            write(some(10))
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(RunError, match=r"cannot be written \(.*No space left.*free some room, or give another folder"):
        fill()
    assert not (tmp_path / "out").exists()

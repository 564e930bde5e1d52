"""A road: the file of one expressway, searched by time."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import ipc

from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.road import RoadFile
from australis.errors import RunError
from tests.oracles.linear_road import Row, balance, report


def written(path: Path, parts: list[list[Row]]) -> RoadFile:
    with ipc.new_file(path, INPUT) as file:
        for rows in parts:
            columns = [pa.array([getattr(row, field.name) for row in rows], field.type) for field in INPUT]
            file.write_batch(pa.record_batch(columns, schema=INPUT))
    return RoadFile(path)


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=4), st.integers(-1, 11), st.integers(-1, 11))
def test_rows_are_found_by_time(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[list[int]], start: int, stop: int
) -> None:
    """Of any batches, some of them empty, and of seconds that several batches share."""
    times = sorted(time for part in cuts for time in part)
    parts, at = [], 0
    for part in cuts:
        parts.append([report(time, vid, 5) for vid, time in enumerate(times[at : at + len(part)], at)])
        at += len(part)
    road = written(tmp_path_factory.mktemp("road") / "road.arrow", parts)
    assert (len(road), road.end) == (len(times), times[-1] + 1 if times else 0)
    assert road.row(start) == sum(time < start for time in times)
    found = [(first + at, vid) for first, batch in road.between(start, stop)
             for at, vid in enumerate(batch["vid"].to_pylist())]  # fmt: skip
    assert found == [(row, row) for row, time in enumerate(times) if start <= time < stop]


def test_its_expressway_is_that_of_the_first_report(tmp_path: Path) -> None:
    road = written(tmp_path / "a.arrow", [[balance(0, 1, 1)], [balance(0, 2, 2), report(1, 1, 5, xway=3)]])
    assert road.xway == 3
    assert written(tmp_path / "b.arrow", [[balance(0, 1, 1)]]).xway == -1


def test_what_is_no_road_is_told(tmp_path: Path) -> None:
    (tmp_path / "text.arrow").write_text("no arrow")
    with pytest.raises(RunError, match=r"text\.arrow: .*; simulate it again"):
        RoadFile(tmp_path / "text.arrow")
    with ipc.new_file(tmp_path / "other.arrow", pa.schema({"time": pa.int32()})):
        pass
    with pytest.raises(RunError, match="its columns are time, not type, time, vid"):
        RoadFile(tmp_path / "other.arrow")

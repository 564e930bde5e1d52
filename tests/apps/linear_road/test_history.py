"""The history: what is written is what the paper asks for, and what is looked up is what is written."""

import filecmp
import json
import pickle
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from australis.apps.linear_road import history_writer
from australis.apps.linear_road.feed import Feed, feed
from australis.apps.linear_road.history import generate, open_history
from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.road_history import TABLES, RoadHistory
from australis.apps.linear_road.weeks import DAYS, MINUTES, tolls_paid, weekday
from australis.errors import RunError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

VIDS = {0: [0, 3, 4, 9], 2: [3, 10, 11]}
VEHICLES, XWAYS, SEED = 12, 3, 5


def tuples(type: int, xway: int, vids: list[int]) -> pa.RecordBatch:
    values = dict.fromkeys(("time", "spd", "lane", "dir", "seg", "pos", "qid", "day"), 0) | {"type": type, "xway": xway}
    columns = {name: np.full(len(vids), values.get(name, -1)) for name in INPUT.names} | {"vid": np.array(vids)}
    return pa.record_batch([pa.array(columns[column.name], column.type) for column in INPUT], schema=INPUT)


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An input: vehicle 3 reports from two expressways and 5 only asks; from expressway 1 nobody reports."""
    folder = tmp_path_factory.mktemp("road")
    for xway, vids in VIDS.items():
        with ipc.new_file(folder / f"xway-{xway}.arrow", INPUT) as file:
            file.write_batch(tuples(0, xway, vids[::-1]))
            file.write_batch(tuples(3, xway, [5]))
            file.write_batch(tuples(0, xway, vids[:2]))
    note = {"xways": XWAYS, "vehicles": VEHICLES, "queries": 1, "seed": SEED}
    (folder / "simulation.json").write_text(json.dumps(note))
    yield folder
    shutil.rmtree(folder)  # pytest would keep some, and they are large


@pytest.fixture(scope="module")
def history(road: Path, spark: "SparkSession") -> Path:
    told: list[str] = []
    generate(feed(road), road / "history", spark=spark, on_progress=told.append)
    assert len(told) == 1
    assert "70 days, 2 expressways, 7 vehicles" in told[0]
    assert spark.range(3).count() == 3, "a session that is given is not stopped"
    return road / "history"


@pytest.fixture(scope="module")
def past(history: Path, road: Path) -> RoadHistory:
    return open_history(history, feed(road))


def table(history: Path, name: str, xway: int = 0) -> pa.Table:
    with pa.memory_map(str(history / name / f"xway-{xway:03}.arrow")) as file:
        return ipc.open_file(file).read_all()


def test_a_folder_holds_the_tables_and_a_note(history: Path) -> None:
    files = sorted(str(path.relative_to(history)) for path in history.rglob("*") if path.is_file())
    assert files == sorted(["history.json", *(f"{name}/xway-00{xway}.arrow" for name in TABLES for xway in VIDS)])
    assert json.loads((history / "history.json").read_text()) == {
        "version": 1,
        "seed": SEED,
        "numbers": {"xways": XWAYS, "vehicles": VEHICLES, "queries": 1},
        "days": DAYS,
        "xways": {"0": 4, "2": 3},
    }
    assert not [path.name for path in history.parent.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("xway", VIDS)
def test_every_vehicle_that_reports_has_a_row_for_every_day(history: Path, xway: int) -> None:
    rows = table(history, "tolls", xway)
    assert rows.schema == TABLES["tolls"]
    assert rows["vid"].to_pylist() == [vid for vid in VIDS[xway] for _ in range(DAYS)]
    assert rows["day"].to_pylist() == list(range(1, DAYS + 1)) * len(VIDS[xway])
    assert set(rows["xway"].to_pylist()) == {xway}
    tolls = rows["tolls"].to_numpy()
    assert tolls.min() == 0 < np.count_nonzero(tolls) < len(tolls)


def test_every_minute_of_every_segment_has_a_row(history: Path) -> None:
    rows = table(history, "segments", 2)
    assert rows.schema == TABLES["segments"]
    assert rows.num_rows == DAYS * MINUTES * 200
    minute, dir, seg = (axis.ravel() for axis in np.indices((MINUTES, 2, 100), np.int16))
    reached = np.array([[75, 150], [5, 0]])
    for day, batch in enumerate(rows.to_batches(), 1):
        for name, wanted in {"day": day, "min": minute + 1, "xway": 2, "dir": dir, "seg": seg}.items():
            assert np.all(batch[name].to_numpy() == wanted), name
        lav, cnt, toll = (batch[name].to_numpy() for name in ("lav", "cnt", "toll"))
        above = cnt.astype(np.int32) - 50
        assert np.array_equal(toll, np.where((lav < 40) & (above > 0), 2 * above**2, 0))
        reached[0] = np.minimum(reached[0], [lav.min(), cnt.min()])
        reached[1] = np.maximum(reached[1], [lav.max(), cnt.max()])
    assert np.all(reached[0] >= [5, 0])
    assert np.all(reached[0] < [40, 50])
    assert np.all(reached[1] > [60, 50])
    assert np.all(reached[1] <= [75, 150])


def test_speeds_follow_the_clock_and_the_place(history: Path) -> None:
    lav = table(history, "weekly")["lav"].to_numpy().reshape(7, MINUTES, 2, 100)
    morning, night = lav[:, 480], lav[:, 180]
    assert np.all(morning[:5, :, 45:55].mean(axis=(1, 2)) < 45)
    assert np.all(night.mean(axis=(1, 2)) > 60)
    assert morning[5:].mean() > morning[:5].mean() + 5
    assert morning[0, 0, 20:40].mean() < morning[0, 1, 20:40].mean() - 5, "eastbound is on its way downtown"
    assert morning[0, 0, :5].mean() > morning[0, 0, 45:55].mean() + 10
    assert np.abs(np.diff(lav, axis=1)).mean() < 1.5


def test_weekly_is_the_average_of_the_same_weekdays(history: Path) -> None:
    rows, weekly = table(history, "segments"), table(history, "weekly")
    assert weekly.schema == TABLES["weekly"]
    assert weekly["dow"].to_pylist()[:: MINUTES * 200] == [1, 2, 3, 4, 5, 6, 7]
    assert np.array_equal(weekly["min"].to_numpy().reshape(7, MINUTES, 200)[6, :, 199], np.arange(1, MINUTES + 1))
    of = np.array([weekday(day) for day in range(1, DAYS + 1)])
    for name in ("lav", "cnt"):
        days = rows[name].to_numpy().reshape(DAYS, -1)
        wanted = np.array([days[of == dow].mean(axis=0) for dow in range(1, 8)])
        assert np.array_equal(weekly[name].to_numpy().reshape(7, -1), wanted), name


def test_the_same_seed_gives_the_same_bytes(history: Path, tmp_path: Path) -> None:
    for name in TABLES:
        (tmp_path / name).mkdir()
    vids = np.array(VIDS[2], np.int32)
    history_writer.write(tmp_path, SEED, 2, vids, flat=False)
    files = [f"{name}/xway-002.arrow" for name in TABLES]
    assert filecmp.cmpfiles(history, tmp_path, files, shallow=False)[0] == files
    shutil.rmtree(tmp_path)
    for seed, xway in ((SEED, 3), (SEED + 1, 2)):
        assert not np.array_equal(tolls_paid(seed, xway, vids), tolls_paid(SEED, 2, vids))


keys = st.tuples(st.integers(-1, 40), st.integers(-1, 72), st.integers(-1, 12))


@settings(max_examples=30)
@given(st.lists(keys, max_size=30), st.integers(1, 3))
def test_tolls_are_those_of_the_table_or_0(past: RoadHistory, wanted: list[tuple[int, int, int]], copies: int) -> None:
    rows = {
        (vid + copy * VEHICLES, day, xway + copy * XWAYS): toll
        for xway in VIDS
        for vid, day, _, toll in zip(*(c.to_pylist() for c in table(past.path, "tolls", xway).columns), strict=True)
        for copy in range(copies)
    }
    vid, day, xway = np.array(wanted, np.int64).reshape(-1, 3).T
    found = replace(past, copies=copies).tolls(vid, day, xway)
    assert found.dtype == np.int64
    assert found.tolist() == [rows.get(key, 0) for key in wanted]


cells = st.tuples(
    st.integers(0, 71), st.integers(0, 1441), st.integers(-1, 6), st.integers(-1, 2), st.integers(-1, 100)
)


@settings(max_examples=30)
@given(st.lists(cells, max_size=20))
def test_segments_are_those_of_the_table(past: RoadHistory, wanted: list[tuple[int, int, int, int, int]]) -> None:
    shape = (DAYS, MINUTES, 2, 100)
    tables = {xway: table(past.path, "segments", xway) for xway in VIDS}
    found = replace(past, copies=2).segment(*np.array(wanted, np.int64).reshape(-1, 5).T)
    for number, (day, minute, xway, dir, seg) in enumerate(wanted):
        at = (day - 1, minute - 1, dir, seg)
        if xway in (0, 2, 3, 5) and all(0 <= index < size for index, size in zip(at, shape, strict=True)):
            row = int(np.ravel_multi_index(at, shape))
            cell = tables[xway % XWAYS].slice(row, 1).select(["lav", "cnt", "toll"]).to_pylist()[0].values()
        else:
            cell = [-1, 0, 0]
        assert [int(column[number]) for column in found] == list(cell)


def test_weekly_arrays_are_views_of_the_file(past: RoadHistory) -> None:
    of_all, two = past.weekly(2), replace(past, copies=2)
    assert of_all is not None
    for name, array in zip(("lav", "cnt"), of_all, strict=True):
        assert array.shape == (7, MINUTES, 2, 100)
        assert array.dtype == np.float64
        assert not array.flags.owndata
        assert not array.flags.writeable
        assert np.array_equal(array.ravel(), table(past.path, "weekly", 2)[name].to_numpy())
    copied = two.weekly(2 + XWAYS)
    assert copied is not None
    assert np.array_equal(copied[0], of_all[0])
    assert [past.weekly(xway) for xway in (-1, 1, 3, 5)] == [None] * 4
    assert [two.weekly(xway) for xway in (-1, 4, 8)] == [None] * 3


def test_a_history_goes_to_another_process_unopened(past: RoadHistory) -> None:
    past.tolls([3], [1], [0])
    sent = pickle.dumps(past)
    assert len(sent) < 1000
    there = pickle.loads(sent)
    assert there == past
    assert there.tolls([3] * DAYS, range(1, DAYS + 1), [0] * DAYS).tolist() == past.tolls(3, range(1, 71), 0).tolist()


def test_a_folder_that_is_none_or_damaged_is_told(history: Path, road: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no history here; `australis linear-road history` makes one"):
        open_history(tmp_path)
    with pytest.raises(RunError, match="of 3 expressways and 12 vehicles, and this input has 3 expressways and 99"):
        open_history(history, replace(feed(road), vehicles=99))
    other = tmp_path / "other"
    shutil.copytree(history, other, copy_function=lambda source, target: Path(target).hardlink_to(source))
    whole = (other / "tolls" / "xway-000.arrow").read_bytes()
    (other / "tolls" / "xway-000.arrow").unlink()
    with pytest.raises(RunError, match=r"tolls/xway-000\.arrow: is missing; make the history again"):
        open_history(other)
    (other / "tolls" / "xway-000.arrow").write_bytes(whole[:-20])
    with pytest.raises(RunError, match=r"xway-000\.arrow: cannot be read .* make the history again"):
        open_history(other).tolls(3, 1, 0)
    shutil.copy(history / "tolls" / "xway-002.arrow", other / "tolls" / "xway-000.arrow")
    with pytest.raises(RunError, match=r"xway-000\.arrow: is not what the history says"):
        open_history(other).tolls(3, 1, 0)
    for note, said in (('{"version": 2}', "a history of version 2, and this is 1"), ("{", "cannot be read"),
                       ('{"version": 1}', "does not say which expressways")):  # fmt: skip
        (other / "history.json").unlink()
        (other / "history.json").write_text(note)
        with pytest.raises(RunError, match=said):
            open_history(other)
    shutil.rmtree(other)


def test_what_is_no_history_is_not_replaced(road: Path, spark: "SparkSession", tmp_path: Path) -> None:
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "today.txt").write_text("rain")
    for out in (tmp_path / "diary", tmp_path / "diary" / "today.txt"):
        with pytest.raises(RunError, match="holds something that is no history"):
            generate(feed(road), out, spark=spark)
    assert (tmp_path / "diary" / "today.txt").read_text() == "rain"


def test_a_history_is_replaced_only_where_that_is_asked_for(history: Path, road: Path, tmp_path: Path) -> None:
    shutil.copy(history / "history.json", tmp_path)
    with pytest.raises(RunError, match="holds a history; say --replace to put another in its place, or give a new"):
        generate(feed(road), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["history.json"]


def test_a_failure_leaves_the_old_history_and_nothing_else(
    history: Path, spark: "SparkSession", tmp_path: Path
) -> None:
    (tmp_path / "short.csv").write_text("0,1,2\n")
    (tmp_path / ".history.making").mkdir()
    (tmp_path / ".history.making" / "history.json").touch()
    (tmp_path / "history").mkdir()
    shutil.copy(history / "history.json", tmp_path / "history")
    with pytest.raises(RunError, match=r"not made: .*short\.csv: .* a line has 15 integers"):
        generate(feed(tmp_path / "short.csv"), tmp_path / "history", spark=spark, replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["history", "short.csv"]
    assert [path.name for path in (tmp_path / "history").iterdir()] == ["history.json"]


def test_an_input_without_reports_has_no_history(spark: "SparkSession", tmp_path: Path) -> None:
    with ipc.new_file(tmp_path / "asked.arrow", INPUT) as file:
        file.write_batch(tuples(2, -1, [5]))
    with pytest.raises(RunError, match="no position report in the input"):
        generate(Feed((tmp_path / "asked.arrow",)), tmp_path / "history", spark=spark)
    assert [path.name for path in tmp_path.iterdir()] == ["asked.arrow"]

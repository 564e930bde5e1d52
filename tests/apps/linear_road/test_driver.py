"""The driver: tuples at their times, divided by expressway."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from australis.apps.linear_road.drive import drive
from australis.apps.linear_road.driver import Driver
from australis.apps.linear_road.feed import Feed, feed
from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.road import road
from australis.apps.linear_road.road_layout import is_laid_out, lay_out
from australis.errors import RunError
from tests.oracles.linear_road import report, travel, write

SECOND = 1_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two expressways with several tuples a second, requests among them, in short batches."""
    path = tmp_path_factory.mktemp("roads")
    random = np.random.default_rng(3)
    for xway in range(2):
        time = np.sort(random.integers(0, 40, 500))
        columns = {name: random.integers(0, 50, 500) for name in INPUT.names} | {"time": time}
        columns["type"] = np.where(random.random(500) < 0.1, random.integers(2, 5, 500), 0)
        columns |= {"lane": columns["lane"] % 5, "dir": columns["dir"] % 2, "dow": columns["dow"] % 8}
        columns["seg"] = columns["pos"] // 5280
        columns["xway"] = np.where(columns["type"] == 0, xway, random.integers(-1, 2, 500))
        table = pa.table({column.name: pa.array(columns[column.name], column.type) for column in INPUT}, schema=INPUT)
        with ipc.new_file(path / f"xway-{xway:03}.arrow", INPUT) as file:
            file.write_table(table, max_chunksize=37)
    return path


def rows(tables: list[pa.RecordBatch]) -> list[tuple[int, ...]]:
    columns = pa.Table.from_batches(tables, INPUT).to_pydict()
    return sorted(zip(*columns.values(), strict=True))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(copies=st.integers(1, 3), partitions=st.integers(1, 3), limit=st.integers(1, 2000))
def test_all_tuples_come_once_divided_by_expressway_in_order(
    folder: Path, copies: int, partitions: int, limit: int
) -> None:
    driver = Driver(feed(folder, copies), speed=math.inf)
    offset, parts = driver.start(), [[] for _ in range(partitions)]
    while not driver.finished(offset):
        end = driver.latest(offset, limit)
        assert end["time"] > offset["time"]
        for place, split in enumerate(driver.splits(offset, end, partitions)):
            parts[place] += driver.read(split)
        offset = end
    assert driver.latest(offset, limit) == offset
    assert rows([part.tuples for some in parts for part in some]) == rows(list(feed(folder, copies).merge()))
    ways = [{way for part in some for way in part.tuples["xway"].to_pylist()} for some in parts]
    assert all(not one & other for at, one in enumerate(ways) for other in ways[:at])
    numbers = [np.concatenate([part.number for part in some] or [np.empty(0, int)]) for some in parts]
    assert all(np.all(np.diff(some) > 0) for some in numbers)
    every = np.concatenate(numbers)
    assert len(set(every.tolist())) == len(every)
    assert every.min() > 0


def test_a_tuple_keeps_its_number_however_the_stream_is_cut(folder: Path) -> None:
    driver = Driver(feed(folder, 2), speed=math.inf)

    def numbered(cut: int, count: int) -> set[tuple[int, ...]]:
        found = set()
        for second in range(0, driver.end, cut):
            for split in driver.splits({"time": second}, {"time": min(second + cut, driver.end)}, count):
                for part in driver.read(split):
                    found |= set(zip(part.number.tolist(), *part.tuples.to_pydict().values(), strict=True))
        return found

    assert numbered(1, 1) == numbered(7, 2) == numbered(40, 3)


def test_tuples_are_due_at_their_time_and_the_lead_at_once(folder: Path) -> None:
    now = 1000 * SECOND
    driver = Driver(feed(folder), speed=2, lead=10, clock=lambda: now)
    lead = driver.latest(driver.start(), 10**6)
    assert lead == {"time": 10, "began": None}
    first = driver.latest(lead, 10**6)
    assert first == {"time": 11, "began": now}
    assert driver.latest(first, 10**6) == first
    now += SECOND // 2
    assert driver.latest(first, 10**6)["time"] == 12
    now += 3 * SECOND
    assert driver.latest(first, 10**6)["time"] == 18
    assert driver.backlog(first) == sum(road(file).row(18) - road(file).row(11) for file in driver.feed.files)
    now += 100 * SECOND
    assert driver.latest(first, 10**6)["time"] == driver.end
    assert driver.finished(driver.latest(first, 10**6))


def test_tuples_after_the_lead_came_when_they_were_due(folder: Path) -> None:
    now = 1000 * SECOND
    driver = Driver(feed(folder, 2), speed=4, lead=10, clock=lambda: now)
    assert driver.urgent
    lead = driver.latest(driver.start(), 10**6)
    assert driver.arrived(driver.start()) is None  # the lead is there, and can wait
    assert all(part.ts is None for split in driver.splits(driver.start(), lead, 2) for part in driver.read(split))
    assert driver.arrived(lead) is None  # as can the first second, with which the clock begins
    first = driver.latest(lead, 10**6)
    assert driver.arrived(first) is None  # nothing is due yet
    now += 2 * SECOND
    assert driver.arrived(first) == now - 2 * SECOND + SECOND // 4
    end = driver.latest(first, 10**6)
    assert end["time"] == 19
    parts = [part for split in driver.splits(lead, end, 3) for part in driver.read(split)]
    assert sum(part.tuples.num_rows for part in parts) == driver._rows(10, 19)
    for part in parts:
        times = part.tuples["time"].to_numpy()
        assert np.all(np.diff(times) >= 0)
        assert part.ts.tolist() == [1000 * SECOND + (time - 10) * SECOND // 4 for time in times.tolist()]
    whole = Driver(feed(folder), speed=math.inf)
    assert not whole.urgent
    assert whole.arrived(whole.start()) is None
    assert all(part.ts is None for part in whole.read(whole.splits(whole.start(), {"time": 5}, 1)[0]))


def test_a_second_may_hold_many_tuples_and_a_batch_many_seconds(tmp_path: Path) -> None:
    write(tmp_path / "xway-000.arrow", [report(0, 1, 5), report(1000, 2, 5)])
    write(tmp_path / "requests.arrow", [travel(1000, 1, n, 1, 2) for n in range(5000)])
    write(tmp_path / "flood.arrow", [travel(1000, 1, 5000 + n, 1, 2) for n in range(5000)])
    driver = Driver(feed(tmp_path, 3), speed=math.inf)
    end = driver.latest(driver.start(), 10**6)
    assert end["time"] == driver.end == 1001
    (split,) = driver.splits(driver.start(), end, 1)
    numbers = np.concatenate([part.number for part in driver.read(split)]) - driver.before(split)
    assert len(np.unique(numbers)) == len(numbers) == 3 * 10_002
    assert 0 < numbers.min() <= numbers.max() < 1 << 36


def test_mistakes_are_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the speed is 0"):
        Driver(feed(folder), speed=0)
    with pytest.raises(RunError, match="several files hold reports of one expressway"):
        Driver(Feed((folder / "xway-000.arrow", folder / "xway-000.arrow")))
    (tmp_path / "bad.arrow").write_text("no")
    with pytest.raises(RunError, match=r"bad\.arrow: .*simulate it again"):
        Driver(feed(tmp_path / "bad.arrow"))
    (tmp_path / "many").mkdir()
    write(tmp_path / "many" / "flood.arrow", [travel(3, 1, n, 1, 2) for n in range(1 << 16)])
    crowded = Driver(feed(tmp_path / "many"), speed=math.inf)
    with pytest.raises(RunError, match="more than 65535 tuples of one second in a file, near time 3"):
        list(crowded.read(crowded.splits(crowded.start(), {"time": 4}, 1)[0]))
    with pytest.raises(RunError, match="40000 expressways are too many"):
        Driver(feed(tmp_path / "many", copies=40_000))


def test_flat_files_are_laid_out_by_expressway(folder: Path, tmp_path: Path) -> None:
    flat_file = tmp_path / "flat.dat"
    with flat_file.open("wb") as file:
        drive(feed(folder), [file.write], speed=math.inf)
    assert not is_laid_out(feed(flat_file))
    made = lay_out(feed(flat_file, copies=2), tmp_path / "roads")
    assert is_laid_out(made)
    assert rows(list(made.merge())) == rows(list(feed(folder, copies=2).merge()))
    driver = Driver(made, speed=math.inf)
    parts = [part for split in driver.splits({"time": 0}, {"time": driver.end}, 2) for part in driver.read(split)]
    assert rows([part.tuples for part in parts]) == rows(list(made.merge()))

"""A flood of requests over an input."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from australis.apps.linear_road.census import census
from australis.apps.linear_road.feed import NOTE, feed
from australis.apps.linear_road.flood import flood
from australis.apps.linear_road.record import TRAVEL
from australis.apps.linear_road.road_layout import lay_out
from australis.errors import RunError
from tests.oracles.linear_road import balance, report, travel, write

ROWS = [report(0, 5, 5, xway=2), report(1, 1, 5), balance(2, 1, 8), report(9, 5, 6, xway=2), travel(4, 1, 9, 1, 2)]


@pytest.fixture
def road(tmp_path: Path) -> Path:
    lay_out(feed(write(tmp_path / "flat.csv", ROWS)), tmp_path / "road")
    return tmp_path / "road"


def asked(folder: Path) -> pa.Table:
    return pa.Table.from_batches(feed(folder).read(folder / "flood.arrow"))


@pytest.mark.parametrize(("rate", "since", "until", "counts"), [(2.5, 3, 7, [2, 3, 2, 3]), (0.5, 0, None, [0, 1] * 5)])
def test_requests_are_spread_over_the_seconds(
    road: Path, tmp_path: Path, rate: float, since: int, until: int | None, counts: list[int]
) -> None:
    note = flood(feed(road), tmp_path / "flooded", rate, since, until)
    table = asked(tmp_path / "flooded")
    times = table["time"].to_pylist()
    assert [times.count(since + second) for second in range(len(counts))] == counts
    assert len(times) == sum(counts)
    assert set(table["type"].to_pylist()) == {TRAVEL}
    assert table["qid"].to_pylist() == list(range(10, 10 + len(times)))  # after those of the input
    assert note["queries"] == 10 + len(times)
    assert json.loads((tmp_path / "flooded" / NOTE).read_text()) == note
    assert census(feed(tmp_path / "flooded")) == census(feed(road)) | {TRAVEL: 1 + len(times)}


def test_requests_are_valid_various_and_the_same_for_a_seed(road: Path, tmp_path: Path) -> None:
    for name, seed in (("one", 7), ("two", 7), ("other", 8)):
        flood(feed(road), tmp_path / name, 2000, 0, 5, seed)
    one, two, other = (asked(tmp_path / name) for name in ("one", "two", "other"))
    assert one.equals(two)
    assert not one.equals(other)
    columns = one.to_pydict()
    assert all(begin != end for begin, end in zip(columns["sinit"], columns["send"], strict=True))
    for name, values in (("sinit", range(100)), ("send", range(100)), ("dow", range(1, 8)), ("xway", range(3))):
        assert set(columns[name]) == set(values)
    assert min(columns["tod"]) == 1
    assert max(columns["tod"]) == 1440
    assert set(columns["vid"]) == set(range(feed(road).vehicles))


def test_copies_have_a_flood_each(road: Path, tmp_path: Path) -> None:
    flood(feed(road), tmp_path / "flooded", 3, 0, 2)
    rows = pa.Table.from_batches(feed(tmp_path / "flooded", copies=2).merge()).to_pylist()
    qids = [row["qid"] for row in rows if row["type"] == TRAVEL]
    assert len(set(qids)) == len(qids) == 2 * 7


def test_what_cannot_be_flooded_is_told(road: Path, tmp_path: Path) -> None:
    flooded = tmp_path / "flooded"
    flood(feed(road), flooded, 3)
    for source, out, rate, since, until, said in (
        (tmp_path / "flat.csv", tmp_path / "new", 1, 0, 5, "a flood is laid over a folder that `simulate` made"),
        (flooded, tmp_path / "new", 1, 0, 5, "is flooded already; give the input that it was made of"),
        (road, road, 1, 0, 5, "is the input itself; give another folder"),
        (road, tmp_path / "new", 0, 0, 5, "0 requests a second: give more than 0, and 65535 at most"),
        (road, tmp_path / "new", 70_000, 0, 5, "70000 requests a second"),
        (road, tmp_path / "new", float("nan"), 0, 5, "nan requests a second"),
        (road, tmp_path / "new", 1, 5, 5, "requests from second 5 to 5: give the later one last"),
        (road, flooded, 1, 0, 5, "holds a simulation; say --replace"),
        (road, tmp_path, 1, 0, 5, "is not a simulation to be replaced"),
    ):
        with pytest.raises(RunError, match=said):
            flood(feed(source), out, rate, since, until)
    assert not (tmp_path / "new").exists()
    flood(feed(road), flooded, 1, 0, 5, replace=True)
    assert len(asked(flooded)) == 5

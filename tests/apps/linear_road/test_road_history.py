"""Looking up a history, of which only the tolls of some vehicles are written here."""

import json
from pathlib import Path

import numpy as np
import pytest

from australis.apps.linear_road.history_writer import _tolls, _write_table
from australis.apps.linear_road.road_history import NOTE, TABLES, RoadHistory, file, open_history, read_note
from australis.apps.linear_road.weeks import DAYS, tolls_paid
from australis.errors import RunError

VIDS = [0, 3, 4, 9, 2**31 - 1]


@pytest.mark.parametrize("count", range(1, len(VIDS) + 1))
def test_tolls_are_found_by_vehicle_and_day(count: int, tmp_path: Path) -> None:
    vids = np.array(VIDS[:count], np.int32)
    (tmp_path / "tolls").mkdir()
    _write_table(tmp_path, "tolls", 2, ("arrow",), "0", [_tolls(5, 2, vids)])
    past, paid = RoadHistory(tmp_path, {2: count}), tolls_paid(5, 2, vids).reshape(count, DAYS)
    asked = [(vid, day) for vid in (-1, *range(11), 2**31 - 1) for day in (0, 1, 35, DAYS, DAYS + 1)]
    found = past.tolls([vid for vid, _ in asked], [day for _, day in asked], 2)
    known = vids.tolist()
    assert found.tolist() == [
        int(paid[known.index(vid), day - 1]) if vid in known and 1 <= day <= DAYS else 0 for vid, day in asked
    ]
    assert past.tolls(VIDS[0], 1, [0, 1, 3]).tolist() == [0, 0, 0]


def test_what_is_not_there_is_not_known(tmp_path: Path) -> None:
    past = RoadHistory(tmp_path, {})
    assert past.weekly(0) is None
    assert [each.tolist() for each in past.segment(1, 1, [0, 1], 0, 0)] == [[-1, -1], [0, 0], [0, 0]]
    assert past.tolls([], [], []).tolist() == []


def test_a_folder_without_a_history_or_with_another_is_told(tmp_path: Path) -> None:
    assert read_note(tmp_path) is None
    with pytest.raises(RunError, match="there is no history here"):
        open_history(tmp_path)
    for note, said in (
        ("{", "cannot be read"),
        ('{"version": 0}', "a history of version 0, and this is 1"),
        ('{"version": 1}', "does not say which expressways there are"),
    ):
        (tmp_path / NOTE).write_text(note)
        with pytest.raises(RunError, match=said):
            open_history(tmp_path)
    (tmp_path / NOTE).write_text(json.dumps({"version": 1, "xways": {"3": 1}, "numbers": {"xways": 4, "vehicles": 1}}))
    with pytest.raises(RunError, match=r"tolls/xway-003\.arrow: is missing"):
        open_history(tmp_path)
    for table in TABLES:
        file(tmp_path, table, 3).parent.mkdir()
        file(tmp_path, table, 3).write_text("no arrow")
    with pytest.raises(RunError, match="cannot be read"):
        open_history(tmp_path).tolls(0, 1, 3)

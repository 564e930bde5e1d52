"""The picture of a recording, and the events that are marked in it."""

import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from australis.apps.sounds.picture import png, read_events
from australis.apps.sounds.survey import SoundSurvey
from australis.errors import RunError

SILENCE = SoundSurvey("a.wav", 8000.0, 100, 110, np.zeros((2, 10)), np.zeros((2, 10)), np.full((5, 10), -120.0), 1)


@pytest.mark.parametrize("name", ["events.csv", "events.parquet"])
def test_events_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("note,end,start\nx,7,3\ny,9,8\n")
    pa.parquet.write_table(
        pa.table({"start": pa.array([3, 8], pa.int32()), "end": [7, 9]}), tmp_path / "events.parquet"
    )
    assert read_events(tmp_path / name).tolist() == [[3, 7], [8, 9]]


@pytest.mark.parametrize("text", ["start\n1\n", "start,end\n1,x\n", ""])
def test_a_file_without_events_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text(text)
    with pytest.raises(RunError, match="gives no events"):
        read_events(tmp_path / "events.csv")


@pytest.mark.slow
def test_events_are_marked_where_they_lie(tmp_path: Path) -> None:
    plain = png(SILENCE, title="one")
    assert struct.unpack(">4s", plain[:4]) == (b"\x89PNG",)
    inside, outside = np.array([[102, 105]]), np.array([[0, 99], [110, 200]])
    assert png(SILENCE, outside, title="one") == plain
    assert png(SILENCE, inside, title="one") != plain

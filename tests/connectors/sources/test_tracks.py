"""Tracks: the columns that files of samples have."""

import numpy as np
import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.boxes.signals.timebases import timebase
from australis.connectors.sources.tracks import Tracks, based, named
from australis.errors import RunError


def test_segments_are_channels_and_one_other_column_tells_files_apart() -> None:
    tracks = Tracks(schema("left segment<int16>, file string, right segment<int16>"))
    assert (tracks.names, tracks.by, tracks.dtype, tracks.width) == (("left", "right"), ("file",), "int16", 4)
    assert tracks.at("a.wav", 7) is tracks
    alone = Tracks(schema("audio segment<float64>"))
    assert (alone.by, alone.width, alone.at("a.wav", 0)) == ((), 8, alone)
    with pytest.raises(RunError, match=r"a\.wav: is not the first file; several need a column that tells them apart"):
        alone.at("a.wav", 1)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("file int", "the columns are segments of one type"),
        ("a segment<int16>, b segment<int32>", "the columns are segments of one type"),
        ("a segment<int16>, b int, c int", "at most one that tells files apart"),
        ("a segment<int16>, b double", "b is double; files are told apart by a number or a text"),
    ],
)
def test_columns_that_no_files_have(columns: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        Tracks(schema(columns))


def test_tuples_in_an_order() -> None:
    tracks = Tracks(schema("file int, audio segment<int16>"))
    samples, sizes = np.arange(5, dtype=np.int16), np.array([2, 0, 3], np.int32)
    start, file = np.array([10, 20, 30]), np.array([0, 1, 2])
    made = tracks.tuples([samples], sizes, start, based(timebase(8), 3), file, named("x/a.wav", 3), np.array([2, 0, 1]))
    assert made["file"] == pa.array([2, 0, 1], pa.int32())
    found = segments(made["audio"]).values()
    assert [(each.start, np.asarray(each).tolist()) for each in found if each is not None] == [
        (30, [2, 3, 4]), (10, [0, 1]), (20, []),
    ]  # fmt: skip
    assert named("x/a.wav", 2).tolist() == ["a.wav", "a.wav"]

"""A recording as a reader of segments."""

from pathlib import Path

import numpy as np
import pytest

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.connectors.sources.segmented import Cutting, Segmented, cut
from australis.errors import RunError

SOUND = np.arange(25, dtype=np.int16)


@pytest.mark.parametrize(
    ("begin", "stop", "places"),
    [(0, 0, [0]), (0, 10, [0, 10]), (0, 11, [0, 10, 11]), (10, 20, [10, 20]), (9, 11, [9, 10, 11]), (3, 3, [3])],
)
def test_segments_end_at_multiples_of_their_size(begin: int, stop: int, places: list[int]) -> None:
    assert cut(begin, stop, 10).tolist() == places


def recording(folder: Path, **options: int) -> Segmented:
    (folder / "a.raw").write_bytes(SOUND.tobytes())
    return Segmented(
        str(folder / "a.raw"), schema("audio segment<int16>"), Cutting(10, "8"), 0, options.get("before", 0)
    )


def test_any_frames_are_read_as_the_same_segments(tmp_path: Path) -> None:
    file = recording(tmp_path, before=100)
    for begin, stop in ((0, 25), (10, 20), (5, 23), (24, 25)):
        found = [value for part in file.read(begin, stop) for value in segments(part.tuples["audio"]).values()]
        assert [each.start for each in found if each is not None] == [100 + at for at in cut(begin, stop, 10)[:-1]]
        assert [n for each in found if each is not None for n in np.asarray(each).tolist()] == list(range(begin, stop))


def test_places_to_cut(tmp_path: Path) -> None:
    file = recording(tmp_path)
    assert file.end(0, final=True) == 25
    assert [file.snap(at, 25) for at in (0, 1, 10, 21)] == [0, 10, 10, 25]
    assert [file.reach(3, 25, rows) for rows in (0, 1, 2, 9)] == [10, 10, 20, 25]
    assert file.rows(0, 25) == 3
    assert file.lost(25, file.size) == ""
    assert file.lost(26, file.size) == "has 25 frames, fewer than the 26 that it had"


def test_a_segment_has_a_sample() -> None:
    with pytest.raises(RunError, match="at least one sample, not size=0"):
        Cutting(0)

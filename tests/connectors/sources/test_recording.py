"""A recording: frames of the channels that are wanted."""

from pathlib import Path

import numpy as np
import pytest

from australis.boxes.signals.timebases import timebase
from australis.connectors.sources.recording import Recording
from australis.connectors.sources.wav import head
from australis.errors import RunError

FRAMES = np.array([[1, -1], [32767, -32768], [3, -3]], np.int16)


def recording(folder: Path, name: str, channels: tuple[int, ...] = (), rate: str = "") -> Recording:
    data = FRAMES.tobytes() if name.endswith(".raw") else head(8000, 2, "int16", 3) + FRAMES.tobytes()
    (folder / name).write_bytes(data)
    return Recording(str(folder / name), "int16", len(channels) or 2, rate, channels)


@pytest.mark.parametrize("name", ["a.raw", "a.wav"])
def test_frames_from_one_to_before_another(tmp_path: Path, name: str) -> None:
    file = recording(tmp_path, name, rate="8000")
    assert (file.frames(), file.mapped, file.growing) == (3, True, True)
    for begin in range(5):
        for end in range(5):
            assert file.read(begin, end).tolist() == FRAMES[begin:end].tolist()
    assert file.read(3, 9).shape == (0, 2)


def test_channels_are_counted_from_one(tmp_path: Path) -> None:
    assert recording(tmp_path, "a.wav", (2,)).read(0, 3).tolist() == FRAMES[:, [1]].tolist()
    assert recording(tmp_path, "a.wav", (2, 1)).read(0, 3).tolist() == FRAMES[:, ::-1].tolist()


def test_a_raw_file_is_told_its_rate_and_another_tells_it(tmp_path: Path) -> None:
    assert recording(tmp_path, "a.wav").timebase == timebase(8000)
    assert recording(tmp_path, "a.raw", rate="44100").timebase == timebase(44100)
    with pytest.raises(RunError, match="a raw file does not tell its rate"):
        _ = recording(tmp_path, "a.raw").timebase
    with pytest.raises(RunError, match="has 8000 samples a second, and rate=9 is asked for"):
        _ = recording(tmp_path, "a.wav", rate="9").timebase


def test_a_head_that_is_not_whole(tmp_path: Path) -> None:
    file = recording(tmp_path, "a.wav")
    file.whole()
    (tmp_path / "a.wav").write_bytes(head(8000, 2, "int16", 3)[:30])
    assert Recording(file.path, "int16", 2).frames() == 0
    with pytest.raises(RunError, match="has no whole head"):
        file.whole()

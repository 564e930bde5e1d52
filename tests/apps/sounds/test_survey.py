"""A survey of a recording."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile

from australis.apps.sounds.survey import COLUMNS, recording, survey
from australis.errors import RunError


def written(path: Path, values: object, rate: int = 8000) -> Path:
    soundfile.write(path, np.asarray(values), rate, subtype="DOUBLE")
    return path


@pytest.mark.parametrize("frames", [1, 2, 700, COLUMNS, 3 * COLUMNS + 1])
def test_columns_have_the_least_and_the_largest_sample(frames: int, tmp_path: Path) -> None:
    values = np.random.default_rng(frames).uniform(-1, 1, (frames, 2))
    found = survey(recording(written(tmp_path / "a.wav", values)), 0, frames, channel=2)
    edges = np.linspace(0, frames, min(COLUMNS, frames) + 1).astype(int)
    for column, (begin, end) in enumerate(pairwise(edges)):
        np.testing.assert_array_equal(found.low[:, column], values[begin:end].min(axis=0))
        np.testing.assert_array_equal(found.high[:, column], values[begin:end].max(axis=0))
    assert found.spectrum.shape[1] == len(edges) - 1
    assert np.isfinite(found.spectrum).all()


def test_a_tone_is_loudest_at_its_pitch(tmp_path: Path) -> None:
    tone = np.sin(2 * np.pi * 1000 * np.arange(8000) / 8000)
    found = survey(recording(written(tmp_path / "a.wav", tone)), 0, 8000)
    bins = found.spectrum.argmax(axis=0)
    assert set(bins) == {round(1000 / 4000 * (len(found.spectrum) - 1))}


def test_a_stretch_is_that_of_the_whole_and_what_is_no_number_is_drawn(tmp_path: Path) -> None:
    values = np.array([0.5, np.nan, np.inf, -np.inf, -0.25])
    found = survey(recording(written(tmp_path / "a.wav", values)), 1, 99)
    assert (found.begin, found.end) == (1, 5)
    assert found.low[0].tolist() == found.high[0].tolist() == [0.0, 1.0, -1.0, -0.25]


def test_what_cannot_be_surveyed_is_told(tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("no sound")
    file = recording(written(tmp_path / "a.wav", [0.0, 0.5]))
    for path, said in (
        (tmp_path, "is a folder"),
        (tmp_path / "b.wav", "no such file"),
        (tmp_path / "text.wav", "is no sound"),
    ):
        with pytest.raises(RunError, match=said):
            recording(path)
    with pytest.raises(RunError, match="do not tell their rate"):
        recording(tmp_path / "text.wav", raw=True)
    with pytest.raises(RunError, match="has 1 channels, not 2"):
        recording(tmp_path / "a.wav", channels=2)
    with pytest.raises(RunError, match="has no channel 2, but 1"):
        survey(file, 0, 2, channel=2)
    with pytest.raises(RunError, match="has 2 samples, none of them from 2 to 2"):
        survey(file, 2, 9)

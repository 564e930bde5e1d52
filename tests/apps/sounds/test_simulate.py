"""Artificial sounds in files."""

from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
import soundfile

from australis.apps.sounds.simulate import FORMS, simulate, write_events
from australis.apps.sounds.sounds import Sound
from australis.errors import RunError

VOICES = Sound("speech", rate=8000, channels=2, seed=3)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_has_the_frames_of_the_sound(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("australis.apps.sounds.simulate._STEP", 400)
    path, told = tmp_path / "new" / f"voices{form}", []
    simulate(VOICES, path, 1000, told.append)
    assert told == [400, 400, 200]
    if form in (".raw", ".pcm"):
        found = np.fromfile(path, "<i2").reshape(-1, 2)
    elif form == ".csv":
        table = pyarrow.csv.read_csv(path)
        assert table.column_names == ["c1", "c2"]
        found = np.stack([column.to_numpy() for column in table.columns], axis=1)
    else:
        found, rate = soundfile.read(path, dtype="int16")
        assert rate == 8000
    assert np.array_equal(found, VOICES.frames(0, 1000))


def test_no_frames_are_a_file_too(tmp_path: Path) -> None:
    simulate(VOICES, tmp_path / "none.wav", 0)
    assert soundfile.info(tmp_path / "none.wav").frames == 0


def test_events_have_their_first_and_last_sample(tmp_path: Path) -> None:
    count = write_events(VOICES, tmp_path / "events.csv", 80_000)
    table = pyarrow.csv.read_csv(tmp_path / "events.csv")
    assert count == table.num_rows > 0
    assert np.array_equal(np.stack([column.to_numpy() for column in table.columns], axis=1), VOICES.events(0, 80_000))
    assert write_events(VOICES, tmp_path / "events.csv", 0) == 0


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"ends in one of \.wav, \.flac"):
        simulate(VOICES, tmp_path / "voices.mp3", 10)
    for form in (".wav", ".flac"):
        (tmp_path / f"folder{form}").mkdir()
        with pytest.raises(RunError, match="cannot be written"):
            simulate(VOICES, tmp_path / f"folder{form}", 10)
    with pytest.raises(RunError, match="cannot be written"):
        write_events(VOICES, tmp_path / "no" / "events.csv", 10)

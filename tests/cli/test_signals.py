"""`australis signals`: sounds that are made up, and pictures of recordings."""

from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
from matplotlib.image import imread
from typer.testing import CliRunner

from australis.apps.sounds.picture import png, read_events
from australis.apps.sounds.sounds import Sound
from australis.apps.sounds.survey import COLUMNS, recording, survey
from australis.boxes.signals.column import segments
from australis.boxes.signals.segments import runs
from australis.cli.main import app
from australis.connectors.source import parts
from australis.connectors.sources.uri import source
from australis.errors import RunError

pytestmark = pytest.mark.slow


def australis(*words: object) -> str:
    told = CliRunner().invoke(app, ["signals", *map(str, words)])
    assert told.exit_code == 0, told.output
    return told.output


@pytest.mark.parametrize("name", ["one.wav", "one.flac", "one.raw", "one.csv"])
def test_what_is_made_up_reads_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / "new" / name
    words = ("--kind", "calls", "--seconds", 3, "--rate", 8000, "--channels", 2, "--seed", 5)
    told = australis("simulate", "--out", path, *words, "--events", tmp_path / "calls.csv")
    sound = Sound("calls", 8_000, 2, seed=5)
    assert "24,000 samples of 2 channels at 8,000 Hz" in told
    assert read_events(tmp_path / "calls.csv").tolist() == sound.events(0, 24_000).tolist() != []
    rate = "?rate=8000" if path.suffix in (".raw", ".csv") else ""
    found = [part.tuples for part in parts(source(f"{path}{rate}", "c1 segment<int16>, c2 segment<int16>"))]
    for channel, column in enumerate(("c1", "c2")):
        (run,) = runs(value for each in found for value in segments(each.column(column)).values())
        assert np.array_equal(run, sound.frames(0, 24_000)[:, channel])
    first = path.read_bytes()
    australis("simulate", "--out", path, *words)
    assert path.read_bytes() == first


def test_a_picture_shows_where_sound_and_events_are(tmp_path: Path) -> None:
    sound = Sound("calls", channels=2)
    path = tmp_path / "one.flac"
    soundfile.write(path, sound.frames(0, 144_000), sound.rate, "PCM_16")
    ((first, last),) = sound.events(0, 144_000)
    (tmp_path / "calls.csv").write_text(f"start,end\n{first},{last}\n")
    assert str(tmp_path / "one.png") in australis("show", path)
    australis("show", path, "--events", tmp_path / "calls.csv", "--out", tmp_path / "marked.png", "--channel", 2)
    australis("show", path, "--from", 0.5, "--to", 0.6, "--out", tmp_path / "part.png")
    plain, marked, part = (imread(tmp_path / f"{name}.png") for name in ("one", "marked", "part"))
    assert plain.shape == marked.shape
    assert not np.array_equal(plain, marked)
    assert not np.array_equal(plain, part)
    orange = (marked[..., 0] > marked[..., 2] + 0.1) & (marked[..., 0] > 0.8)
    assert orange[:200].any()


@pytest.mark.parametrize("frames", [1, 50, 999, 100_001])
def test_a_survey_tells_the_least_the_largest_and_the_pitch(frames: int, tmp_path: Path) -> None:
    at = np.arange(frames)
    sound = np.stack([np.sin(2 * np.pi * 1_000 * at / 8_000), at / (2 * frames)], axis=1)
    soundfile.write(tmp_path / "one.wav", sound, 8_000, "DOUBLE")
    found = survey(recording(tmp_path / "one.wav"), 0, frames)
    columns = min(frames, COLUMNS)
    edges = np.linspace(0, frames, columns + 1).astype(int)
    for channel in (0, 1):
        pieces = [sound[first:last, channel] for first, last in pairwise(edges)]
        assert np.allclose(found.low[channel], [piece.min() for piece in pieces])
        assert np.allclose(found.high[channel], [piece.max() for piece in pieces])
    if frames > 900:
        loudest = found.spectrum.argmax(axis=0) * 4_000 / (found.spectrum.shape[0] - 1)
        assert np.allclose(loudest, 1_000, atol=70)
        assert abs(found.spectrum.max()) < 0.5  # a whole swing is 0 dB
    assert imread(BytesIO(png(found))).any()


def test_a_raw_file_is_told_its_rate(tmp_path: Path) -> None:
    (tmp_path / "one.raw").write_bytes(Sound("tones", 8_000, 2).frames(0, 4_000).tobytes())
    found = survey(recording(tmp_path / "one.raw", "8000", 2), 0, 99_999)
    assert (found.rate, found.end, len(found.low)) == (8_000, 4_000, 2)
    assert 0.1 < found.high.max() < 0.2


@pytest.mark.parametrize("name", ["one.ogg", "one.mp3", "one.aiff", "one.OGG", "flac.wav", "flac.csv", "flac"])
def test_what_a_file_is_is_asked_of_libsndfile_not_of_its_name(name: str, tmp_path: Path) -> None:
    sound = 0.5 * np.sin(2 * np.pi * 440 * np.arange(24_000) / 8_000)
    path = tmp_path / name
    if name.startswith("flac"):
        soundfile.write(path, sound, 8_000, "PCM_16", format="FLAC")
    else:
        soundfile.write(path, sound, 8_000)
    found = survey(recording(path), 0, 1 << 40)
    assert (found.rate, found.end, len(found.low)) == (8_000, 24_000, 1)
    assert (found.high[0, 10:-10] > 0.4).all()
    assert (found.high < 0.6).all()
    assert str(tmp_path / "out.png") in australis("show", path, "--out", tmp_path / "out.png")


def test_bytes_are_samples_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "one.bin"
    path.write_bytes(Sound("tones", 8_000, 2).frames(0, 4_000).tobytes())
    with pytest.raises(RunError, match="--raw"):
        recording(path, "8000", 2)
    found = survey(recording(path, "8000", 2, raw=True), 0, 4_000)
    assert (found.rate, found.end, len(found.low)) == (8_000, 4_000, 2)
    australis("show", path, "--raw", "--rate", 8000, "--channels", 2)


def test_samples_that_are_no_numbers_are_drawn_too(tmp_path: Path) -> None:
    sound = np.sin(np.arange(8_000) / 5)
    sound[[5, 50, 5_000]] = [np.nan, np.inf, -np.inf]
    soundfile.write(tmp_path / "one.wav", sound, 8_000, "DOUBLE")
    found = survey(recording(tmp_path / "one.wav"), 0, 8_000)
    assert np.isfinite(found.low).all()
    assert np.isfinite(found.spectrum).all()
    australis("show", tmp_path / "one.wav")


NONE = ": is no sound, or a broken one, and cannot be read; give a whole WAV, FLAC, OGG or MP3 file, or --raw"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("show", "none.wav"), "none.wav: there is no such file"),
        (("show", "folder"), "folder: is a folder; give a file"),
        (("show", "bad.wav"), f"bad.wav{NONE}"),
        (("show", "lines.csv", "--rate", 16_000), f"lines.csv{NONE}"),
        (("show", "lines.txt"), f"lines.txt{NONE}"),
        (("show", "bad.ogg", "--rate", 16_000), f"bad.ogg{NONE}"),
        (("show", "bad.flac"), f"bad.flac{NONE}"),
        (("show", "empty.wav"), f"empty.wav{NONE}"),
        (("show", "empty.raw", "--rate", 8), "empty.raw: has 0 samples"),
        (("show", "one.raw"), "one.raw: bare samples do not tell their rate; say it with --rate"),
        (("show", "one.wav", "--raw"), "one.wav: bare samples do not tell their rate"),
        (("show", "one.raw", "--rate", "often"), "give numbers"),
        (("show", "one.wav", "--rate", 44_100), "one.wav: has 8000 samples a second, and rate=44100 is asked for"),
        (("show", "one.wav", "--channels", 2), "one.wav: has 1 channels, not 2"),
        (("show", "one.wav", "--from", "inf"), "--from and --to are finite numbers of seconds"),
        (("show", "one.wav", "--to", "inf"), "--from and --to are finite numbers of seconds"),
        (("simulate", "--out", "new.wav", "--seconds", "inf"), "--seconds is a finite number"),
        (("show", "one.wav", "--channel", 2), "one.wav: has no channel 2, but 1"),
        (("show", "one.wav", "--from", 9), "one.wav: has 100 samples, none of them from"),
        (("show", "one.wav", "--events", "one.wav"), "one.wav: gives no events"),
        (("simulate", "--out", "one.mp3"), r"one.mp3: a sound is written to a name that ends in one of .wav"),
        (("simulate", "--out", "one.wav", "--kind", "song"), "there is no sound `song`"),
    ],
)
def test_what_is_wrong_is_told(
    words: tuple[object, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.wav").write_text("no sound")
    soundfile.write("one.wav", np.zeros(100), 8_000, "PCM_16")
    Path("folder").mkdir()
    Path("one.raw").write_bytes(bytes(100))
    for name in ("empty.wav", "empty.raw"):
        Path(name).touch()
    for name in ("lines.csv", "lines.txt"):
        Path(name).write_text("time,volts\n" + "1,2\n" * 999)
    for name in ("bad.ogg", "bad.flac"):
        soundfile.write(name, np.zeros(9_000), 8_000)
        Path(name).write_bytes(Path(name).read_bytes()[:30])
    result = CliRunner().invoke(app, ["--debug", "signals", *map(str, words)])
    assert result.exit_code == 1
    with pytest.raises(Exception, match=told):
        raise result.exception or RunError("")

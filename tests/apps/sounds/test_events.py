"""The example that finds the events in a recording: what it says of recordings that have none, or cannot have any."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

SCRIPT = Path(__file__).parents[3] / "examples" / "signals" / "events.py"


def noise(path: Path, rate: int, seconds: float = 1.0) -> Path:
    soundfile.write(path, np.random.default_rng(1).normal(0, 0.01, int(seconds * rate)), rate, "PCM_16")
    return path


def events(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: object) -> tuple[str, object]:
    """What it prints, and how it ends."""
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *map(str, words)])
    end: object = None
    try:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    except SystemExit as error:
        end = error.code
    return capsys.readouterr().out, end


def test_a_recording_without_events_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told, end = events(capsys, monkeypatch, noise(tmp_path / "one.wav", 16_000), "--out", tmp_path / "out")
    assert end is None
    assert "one.wav: no event\n" in told
    assert "nothing between 4500 and 6000 Hz is 16 standard deviations above the noise; try another band" in told
    assert "no event" in (tmp_path / "out" / "index.html").read_text()


def test_one_event_is_told_with_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a band that reaches beyond the spectrum, which is looked at as far as it goes."""
    path = noise(tmp_path / "one.flac", 11_000, 8)
    sound, rate = soundfile.read(path)
    sound[55_000:57_000] += 0.5 * np.sin(2 * np.pi * 5_000 * np.arange(2_000) / rate)
    soundfile.write(path, sound, rate, "PCM_16")
    told, end = events(capsys, monkeypatch, path, "--out", tmp_path / "out")
    assert end is None
    assert "no sound above 5500 Hz: looking from 4500 Hz to there" in told
    assert "one.flac: 1 event, at 4.8 s" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("8k.wav",), "at 8,000 samples a second there is no sound above 4000 Hz, so none from 4500 to 6000 Hz"),
        (("8k.wav", "--low", 3000, "--high", 2000), "a band goes from a frequency to a higher one"),
        (("none.wav",), "none.wav: there is no such file"),
        (("text.wav",), "text.wav: is no sound"),
        (("8k.ogg", "--low", 100, "--high", 900), "8k.ogg: the format is told by the name"),
    ],
)
def test_what_cannot_be_looked_at_is_told(
    words: tuple[object, ...],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    noise(Path("8k.wav"), 8_000)
    soundfile.write("8k.ogg", np.zeros(8_000), 8_000)
    Path("text.wav").write_text("no sound")
    _, end = events(capsys, monkeypatch, *words)
    assert told in str(end)

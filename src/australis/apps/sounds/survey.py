"""A survey of a recording: what its picture shows, in a fixed number of columns however long it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

from australis.boxes.signals.segments import Samples
from australis.connectors.sources.form import SOUNDS
from australis.connectors.sources.recording import Recording
from australis.errors import RunError

Reals = npt.NDArray[np.float64]
COLUMNS = 1000
_WINDOWS = 6  # the most spectra that a column is the mean of
_STEP = 1 << 22  # samples at a time
_FLOOR = 1e-12
_WAV = ("WAV", "WAVEX", "RF64")
WINDOW = 0.02
"""The seconds of a spectrum."""


@dataclass(frozen=True)
class SoundSurvey:
    """The least and the largest sample of each channel in each column, and the spectrum of one channel in decibels.

    Samples are from -1 to 1 if the file has whole numbers.
    """

    name: str
    rate: float
    begin: int
    end: int
    low: Reals
    high: Reals
    spectrum: Reals
    channel: int


def recording(path: Path, rate: str = "", channels: int | None = None, raw: bool = False) -> Recording:
    """Open a file with all its channels, of any kind that libsndfile reads, whatever its name.

    A `raw` file, or one whose name ends in .raw or .pcm, has bare samples of 16 bits. It needs a `rate`, and `channels`
    if there are several.
    """
    if path.is_dir():
        raise RunError(f"{path}: is a folder; give a file")
    if not path.is_file():
        raise RunError(f"{path}: there is no such file; give a file of sound")
    if raw or SOUNDS.get(path.suffix.lower()) == "raw":
        if not rate:
            raise RunError(f"{path}: bare samples do not tell their rate; say it with --rate, such as --rate 48000")
        return Recording(str(path), "int16", channels or 1, rate, form="raw")
    try:
        info = soundfile.info(path)
    except (soundfile.LibsndfileError, TypeError):
        raise RunError(f"{path}: is no sound, or a broken one, and cannot be read; give a whole WAV, FLAC, OGG or MP3"
                       " file, or --raw and --rate where its bytes are bare samples of 16 bits") from None  # fmt: skip
    if channels not in (None, info.channels):
        raise RunError(f"{path}: has {info.channels} channels, not {channels}; leave --channels out, which is for raw"
                       " files")  # fmt: skip
    form = "wav" if info.format in _WAV else "decoded"
    return Recording(str(path), "float64", info.channels, rate, form=form)


def survey(file: Recording, begin: int, end: int, channel: int = 1) -> SoundSurvey:
    """Survey a stretch of a recording."""
    if not 1 <= channel <= file.columns:
        raise RunError(f"{file.path}: has no channel {channel}, but {file.columns}, counted from 1")
    end = min(end, file.frames())
    if begin >= end:
        raise RunError(f"{file.path}: has {file.frames()} samples, none of them from {begin} to {end}")
    file.check()
    rate = float(file.timebase.frequency)
    edges = np.linspace(begin, end, min(COLUMNS, end - begin) + 1).astype(np.int64)
    size = min(1 << max(5, round(np.log2(max(rate * WINDOW, 32)))), end - begin)
    low, high = (np.empty((file.columns, len(edges) - 1)) for _ in range(2))
    spectrum = np.empty((size // 2 + 1, len(edges) - 1))
    at = 0
    while at < len(edges) - 1:
        until = max(at + 1, int(np.searchsorted(edges, edges[at] + _STEP // file.columns, side="right")) - 1)
        first, last = int(edges[at]), int(edges[until])
        # Windows are in the middle of their columns, and may reach beyond them.
        before, after = max(begin, min(first - size // 2, end - size)), min(end, max(last + size // 2, begin + size))
        frames = _scale(file.read(before, after))
        inner = edges[at:until] - before
        some = frames[first - before : last - before]
        low[:, at:until] = np.minimum.reduceat(some, edges[at:until] - first, axis=0).T
        high[:, at:until] = np.maximum.reduceat(some, edges[at:until] - first, axis=0).T
        spectrum[:, at:until] = _spectra(frames[:, channel - 1], inner, edges[at + 1 : until + 1] - before, size)
        at = until
    return SoundSurvey(Path(file.path).name, rate, begin, end, low, high, spectrum, channel)


def _scale(frames: Samples) -> Reals:
    """Samples as numbers that can be drawn. A NaN becomes silence, and an infinity the loudest sound."""
    if frames.dtype == np.int16:
        return frames / 32768.0
    return np.nan_to_num(np.asarray(frames, np.float64), nan=0.0, posinf=1.0, neginf=-1.0)


def _spectra(samples: Reals, first: npt.NDArray[np.int64], last: npt.NDArray[np.int64], size: int) -> Reals:
    """The mean power of some windows of each column, in decibels."""
    shares = (np.arange(_WINDOWS) + 0.5) / _WINDOWS
    middle = first[:, None] + (last - first)[:, None] * shares
    begins = np.clip((middle - size / 2).astype(np.int64), 0, len(samples) - size)
    taper = np.hanning(size + 1)[:-1]
    scale = max(float(taper.sum()) / 2, 1.0)
    power = np.zeros((len(first), size // 2 + 1))
    for turn in range(_WINDOWS):
        windows = samples[begins[:, turn, None] + np.arange(size)]
        power += np.abs(np.fft.rfft((windows - windows.mean(axis=1, keepdims=True)) * taper / scale)) ** 2
    return np.asarray(10 * np.log10(power.T / _WINDOWS + _FLOOR))

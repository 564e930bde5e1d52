"""The applications of XStream as networks, and sounds to run them on (XStream II-A, IV-A)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import australis as au
from australis.api.network import Network
from australis.apps.sounds.sounds import Sound

AUDIO = "site int, audio segment<int16>"
ARRAY = "site int, one segment<int16>, two segment<int16>, three segment<int16>, four segment<int16>"


def passchain() -> Network:
    """Ten boxes that pass on what they get, and the largest sample at the end, so that every sample is read."""
    audio = au.stream("audio", AUDIO)
    for _ in range(10):
        audio = audio.map(site="site", audio="audio")
    return au.network(passed=audio.signal.stats(loudest="max").map(site="site", loudest="loudest"))


def statfilter(alpha: float = 600.0, beta: float = 300.0) -> Network:
    """Windows of 4096 samples whose standard deviation is above alpha, and whose mean is below beta."""
    windows = au.stream("audio", AUDIO).signal.rewindow(4096, by="site")
    loud = windows.signal.stats("std").filter(f"std > {alpha}")
    low = loud.signal.stats("mean").filter(f"mean < {beta}")
    return au.network(passed=low.signal.stats("start").map(site="site", start="start", std="std", mean="mean"))


def silencefilter(gamma: float = 600.0) -> Network:
    """The sound without its silence: the windows of the signal whose standard deviation is above gamma."""
    audio = au.stream("audio", AUDIO)
    windows = audio.signal.rewindow(4096, by="site").signal.stats("std", "start", "end")
    ranges = windows.map(site="site", start="start", end='"end"', keep=f"std > {gamma}")
    voice = ranges.signal.sync(audio, by="site")
    return au.network(voice=voice.signal.stats("count").map(site="site", start="start", count="count"))


def detectaudio() -> Network:
    """Events that stand out in the spectrum of one of four microphones, cut out of all of them."""
    array = au.stream("array", ARRAY)
    windows = array.map(site="site", one="one").signal.rewindow(32, 96, by="site")
    scores = windows.signal.transform("hann", "fft", into="spectrum").signal.stats(
        column="spectrum", score="band(3, 4)"
    )
    events = scores.signal.cfar("score", by="site", column="one").signal.sync(array, by="site")
    return au.network(events=events)


def pipeline(ratio: float = 0.32) -> Network:
    """Leaks of a pipe: windows in which an oscillation soon dies down, by the alternating extremes of one band.

    The extremes are of the details of the fourth level: the least, the largest after it, the least after that and the
    largest after that. If the pipe leaks, the last is small compared with the first.
    """
    windows = (
        au.stream("audio", AUDIO)
        .signal.rewindow(4000, by="site")
        .signal.rewindow(8192, -500, by="site")
        .signal.wavelet(4)
    )
    peaks = windows.signal.stats(column="d4", m1="extreme(1)", m4="extreme(4)")
    leaks = peaks.filter(f"m1 != 0 and abs(m4 / m1) < {ratio}").signal.stats("start", column="audio")
    return au.network(leaks=leaks.map(site="site", start="start", ratio="m4 / m1"))


APPLICATIONS = {build.__name__: build for build in (passchain, statfilter, silencefilter, detectaudio, pipeline)}


SOUNDS = {
    "passchain": Sound("speech"),
    "statfilter": Sound("speech"),
    "silencefilter": Sound("speech"),
    "detectaudio": Sound("calls", channels=4),
    "pipeline": Sound("pipes"),
}
"""The sound that each is run on."""


def record(folder: Path, name: str, samples: int, sites: int = 2) -> tuple[str, ...]:
    """Write raw files for an application, with `samples` samples of each channel: one sound, repeated."""
    paths = []
    for site in range(sites):
        sound = replace(SOUNDS[name], seed=site)
        path = folder / f"{sound.kind}-{site}.raw"
        if not path.exists():
            some = sound.frames(0, min(samples, 1 << 20))
            with path.open("wb") as file:
                for begin in range(0, samples, len(some)):
                    file.write(some[: samples - begin].tobytes())
        paths.append(str(path))
    return tuple(paths)

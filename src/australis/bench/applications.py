"""The applications of XStream as networks, and sounds to run them on (XStream II-A, IV-A)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import australis as au
from australis.network import Network
from australis.signals.segment import Samples

AUDIO = "site int, audio segment<int16>"
ARRAY = "site int, one segment<int16>, two segment<int16>, three segment<int16>, four segment<int16>"


def passchain() -> Network:
    """Ten boxes, each passing on what it gets."""
    audio = au.stream("audio", AUDIO)
    for _ in range(10):
        audio = audio.map(site="site", audio="audio")
    return au.network(passed=audio.stats("count").map(site="site", count="count"))


def statfilter(alpha: float = 600.0, beta: float = 300.0) -> Network:
    """Windows of 4096 samples whose standard deviation is above alpha, and whose mean is below beta."""
    windows = au.stream("audio", AUDIO).rewindow(4096, by="site")
    loud = windows.stats("std").filter(f"std > {alpha}")
    low = loud.stats("mean").filter(f"mean < {beta}")
    return au.network(passed=low.stats("start").map(site="site", start="start", std="std", mean="mean"))


def silencefilter(gamma: float = 600.0) -> Network:
    """The sound without its silence: windows whose standard deviation is above gamma are cut out of the signal."""
    audio = au.stream("audio", AUDIO)
    windows = audio.rewindow(4096, by="site").stats("std", "start", "end")
    ranges = windows.map(site="site", start="start", end='"end"', keep=f"std > {gamma}")
    voice = ranges.sync(audio, by="site")
    return au.network(voice=voice.stats("count").map(site="site", start="start", count="count"))


def detectaudio() -> Network:
    """Events that stand out in the spectrum of one of four microphones, cut out of all of them."""
    array = au.stream("array", ARRAY)
    windows = array.map(site="site", one="one").rewindow(32, 96, by="site")
    scores = windows.transform("hann", "fft", into="spectrum").stats(column="spectrum", score="band(3, 4)")
    events = scores.cfar("score", by="site", column="one").sync(array, by="site")
    return au.network(events=events)


def pipeline(ratio: float = 0.32) -> Network:
    """Leaks: windows in which the slow vibrations of a pipe are weak beside the fast ones."""
    windows = au.stream("audio", AUDIO).rewindow(4000, by="site").rewindow(8192, -500, by="site").wavelet(4)
    for level in range(1, 5):
        windows = windows.stats(column=f"d{level}", columns={f"m{level}": "trimpeak(0.01)"})
    leaks = windows.filter(f"m1 > 0 and m4 / m1 < {ratio}").stats("start", column="audio")
    return au.network(leaks=leaks.map(site="site", start="start", ratio="m4 / m1"))


APPLICATIONS = {made.__name__: made for made in (passchain, statfilter, silencefilter, detectaudio, pipeline)}


def speech(samples: int, seed: int = 1, rate: int = 48_000) -> Samples:
    """Someone counting: half a second of voice, half a second of near silence, with a slow drift of the level."""
    random = np.random.default_rng(seed)
    at = np.arange(samples)
    tones = [np.sin(2 * np.pi * pitch * at / rate) / order for order, pitch in enumerate((140, 281, 423), 1)]
    voice = np.sum(tones, axis=0)
    speaking = (at // (rate // 2)) % 2 == 0
    drift = 400 * np.sin(2 * np.pi * at / rate / 7)
    sound = np.where(speaking, 4000 * voice, 0) + drift + random.normal(0, 100, samples)
    return np.asarray(np.clip(sound, -32768, 32767), np.int16)


def marmots(samples: int, channels: int = 4, seed: int = 1, rate: int = 48_000) -> Samples:
    """Short calls every few seconds before noise, as several microphones hear them: a row for each sample."""
    random = np.random.default_rng(seed)
    at = np.arange(samples)
    calling = (at % (3 * rate) > 2 * rate) & (at % (3 * rate) < 2 * rate + rate // 10)
    call = 6000 * np.sin(2 * np.pi * 5_000 * at / rate) * calling
    heard = [np.roll(call, 11 * channel) + random.normal(0, 60, samples) for channel in range(channels)]
    return np.clip(np.stack(heard, axis=1), -32768, 32767).astype(np.int16)


def pipes(samples: int, seed: int = 1, rate: int = 48_000) -> Samples:
    """The slow hum of a pipe, in which for a second of every five a leak hisses."""
    random = np.random.default_rng(seed)
    at = np.arange(samples)
    leaking = at % (5 * rate) > 4 * rate
    hum = 300 * np.sin(2 * np.pi * 1_500 * at / rate)
    hiss = leaking * np.where(at % 2, 4000, -4000) * random.normal(1, 0.1, samples)
    return np.clip(hum + hiss + random.normal(0, 20, samples), -32768, 32767).astype(np.int16)


SOUNDS: dict[str, Callable[..., Samples]] = {
    "passchain": speech,
    "statfilter": speech,
    "silencefilter": speech,
    "detectaudio": marmots,
    "pipeline": pipes,
}


def record(folder: Path, name: str, samples: int, sites: int = 2) -> tuple[str, ...]:
    """Raw files of so many samples of each channel for an application: one sound, over and over."""
    paths = []
    for site in range(sites):
        path = folder / f"{SOUNDS[name].__name__}-{site}.raw"
        if not path.exists():
            some = SOUNDS[name](min(samples, 1 << 20), seed=site)
            with path.open("wb") as file:
                for begin in range(0, samples, len(some)):
                    file.write(some[: samples - begin].tobytes())
        paths.append(str(path))
    return tuple(paths)

"""Artificial sounds from a seed: bursts of speech, calls of animals, blows on a pipe, tones and noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from australis.boxes.signals.segments import Samples
from australis.errors import SchemaError, listing, near
from australis.model.train import Ints

Reals = npt.NDArray[np.float64]
_BLOCK = 1 << 14  # samples of noise at a time
_APART = 7  # the most samples that sound takes from one microphone to the next
_RING = 128  # samples of one swing of a struck pipe


@dataclass(frozen=True)
class Kind:
    """A kind of sound: what is heard all the time, and what comes once in every turn of `every` seconds."""

    noise: float
    under: Callable[[Reals, float], Reals] | None = None
    event: Callable[[Reals, float, Ints, np.random.Generator], Reals] | None = None
    every: float = 0.0
    first: float = 0.0
    """The fraction of a turn in which nothing happens yet."""
    lasts: tuple[float, float] = (0.0, 0.0)
    edge: float = 0.01
    """Seconds in which it rises and falls."""
    counts: Callable[[float], bool] = lambda pitch: True
    """Whether it counts as an event, by its pitch."""


@dataclass(frozen=True)
class Sound:
    """An endless signal. Any stretch of it can be computed by itself. Channels hear events a little apart.

    >>> voice = Sound("speech", rate=8000)
    >>> whole = voice.frames(0, 9000)
    >>> bool((voice.frames(5000, 6000) == whole[5000:6000]).all()), whole.dtype.name, whole.shape
    (True, 'int16', (9000, 1))
    """

    kind: str = "speech"
    rate: int = 48_000
    channels: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(f"there is no sound `{self.kind}`{near(self.kind, KINDS)}; there are {listing(KINDS)}")
        if self.rate < 1 or self.channels < 1 or self.seed < 0:
            raise SchemaError("a sound has a rate and channels above zero, and a seed of zero or more")

    def frames(self, begin: int, end: int) -> Samples:
        """The samples from `begin` up to `end`: a row for each, with a column for each channel."""
        kind = KINDS[self.kind]
        at = np.arange(begin, end) / self.rate
        heard = np.stack([self._noise(channel, begin, end) for channel in range(self.channels)], axis=1) * kind.noise
        if kind.under is not None:
            heard += kind.under(at, self.rate)[:, None]
        for first, wave, delays, _ in self._turns(begin, end):
            for channel, delay in enumerate(delays):
                low, high = max(first + delay, begin), min(first + delay + len(wave), end)
                if low < high:
                    heard[low - begin : high - begin, channel] += wave[low - first - delay : high - first - delay]
        return np.clip(np.rint(heard), -32768, 32767).astype(np.int16)

    def events(self, begin: int, end: int) -> Ints:
        """The first and the last sample of each event that begins in a stretch, as the first channel hears it."""
        turns = [(first, first + len(wave) - 1) for first, wave, _, counts in self._turns(begin, end) if counts]
        inside = [each for each in turns if begin <= each[0] < end]
        return np.array(inside, np.int64).reshape(-1, 2)

    def _turns(self, begin: int, end: int) -> Iterator[tuple[int, Reals, list[int], bool]]:
        """The turns that may be heard in a stretch: first sample, samples, delays of channels, whether it counts."""
        kind = KINDS[self.kind]
        if kind.event is None:
            return
        behind = _APART * self.channels
        for turn in range(max(0, int((begin - behind) / self.rate / kind.every) - 1), _ceil(
            (end + behind) / self.rate / kind.every
        )):  # fmt: skip
            random = np.random.Generator(np.random.Philox(key=[self.seed, turn]))
            where, length, pitch, angle = random.random(4)
            lasts = kind.lasts[0] + length * (kind.lasts[1] - kind.lasts[0])
            start = turn + kind.first + where * (1 - kind.first - lasts / kind.every)
            first, count = int(start * kind.every * self.rate), max(1, int(lasts * self.rate))
            at = np.arange(count)
            wave = kind.event(at / self.rate, float(pitch), at, random)
            rise = np.clip(np.minimum(at + 1, count - at) / max(1.0, kind.edge * self.rate), 0, 1)
            delays = [round(_APART * float(np.cos(np.pi * angle)) * channel) for channel in range(self.channels)]
            yield first, wave * np.sin(rise * np.pi / 2), delays, kind.counts(float(pitch))

    def _noise(self, channel: int, begin: int, end: int) -> Reals:
        blocks = range(begin // _BLOCK, -(-end // _BLOCK))
        drawn = [_normal(self.seed, channel, block) for block in blocks] or [np.empty(0)]
        first = begin - begin // _BLOCK * _BLOCK
        return np.concatenate(drawn)[first : first + end - begin]


def _normal(seed: int, channel: int, block: int) -> Reals:
    random = np.random.Philox(key=[seed, (1 << 32) + channel], counter=[0, 0, block, 0])
    return np.random.Generator(random).standard_normal(_BLOCK)


def _ceil(number: float) -> int:
    return int(np.ceil(number))


def _drift(at: Reals, rate: float) -> Reals:
    return 400 * np.sin(2 * np.pi * at / 7)


def _syllables(at: Reals, pitch: float, index: Ints, random: np.random.Generator) -> Reals:
    """A voice of 100 to 220 Hz, four syllables a second, whose tone glides."""
    phase = 2 * np.pi * (100 + 120 * pitch) * (at + 0.02 * np.sin(2 * np.pi * 1.3 * at))
    loud = 0.65 + 0.35 * np.sin(2 * np.pi * 4 * at)
    voice = np.sum([np.sin(order * phase) / order for order in range(1, 7)], axis=0)
    return np.asarray(4000 * loud * voice)


def _call(at: Reals, pitch: float, index: Ints, random: np.random.Generator) -> Reals:
    """A whistle that falls a little, at about 5 kHz."""
    start = 4_900 + 600 * pitch
    return 6000 * np.sin(2 * np.pi * (start * at - 300 * at**2))


def _hum(at: Reals, rate: float) -> Reals:
    return 100 * np.sin(2 * np.pi * rate / 40 * at)


def _leaking(pitch: float) -> bool:
    return pitch < 0.5


def _blow(at: Reals, pitch: float, index: Ints, random: np.random.Generator) -> Reals:
    """A struck pipe rings, the same at any rate. A leaking one is soon still."""
    return 8000 * np.exp(-index / (60 if _leaking(pitch) else 400)) * np.sin(2 * np.pi * index / _RING)


def _tones(at: Reals, rate: float) -> Reals:
    return np.asarray(4000 * np.sin(2 * np.pi * 440 * at) + 2000 * np.sin(2 * np.pi * 1_000 * at))


KINDS = {
    "speech": Kind(100, _drift, _syllables, every=1.0, first=0.05, lasts=(0.45, 0.75)),
    "calls": Kind(60, None, _call, every=3.0, first=0.4, lasts=(0.08, 0.25)),
    "pipes": Kind(20, _hum, _blow, every=0.5, first=0.1, lasts=(0.04, 0.08), edge=0.0, counts=_leaking),
    "tones": Kind(20, _tones),
    "noise": Kind(1000),
}
"""The kinds of sounds: someone who speaks, marmots that call, a struck pipe, two tones, and noise."""

"""The load curves of the overload benchmark, in times of a capacity: steps, a sine, bursts, and recorded traffic."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sin
from pathlib import Path

import numpy as np

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.record import REPORT
from australis.apps.linear_road.simulation.simulate import simulate
from australis.arrow.columns import Floats
from australis.connectors.sources.load_curve import LoadCurve

FACTORS = (0.5, 0.9, 1.5, 2.0, 3.0, 5.0)
"""How many times the capacity the steps are."""
CALM = 0.5
"""The load before and after a step, and between bursts, in times of the capacity."""

SHORT_BURSTS = "short bursts"
"""The curve of bursts that are worked off in time."""


@dataclass(frozen=True)
class TrialSpan:
    """The seconds of a trial: with a calm load first, the load in question, and a calm one to recover."""

    lead: float = 6.0
    load: float = 30.0
    tail: float = 25.0

    @property
    def begin(self) -> float:
        return self.lead

    @property
    def end(self) -> float:
        return self.lead + self.load

    @property
    def steady(self) -> float:
        """From when on the load in question is steady: a third of its time, ten seconds at most."""
        return self.lead + min(self.load / 3, 10.0)

    @property
    def whole(self) -> float:
        return self.lead + self.load + self.tail


QUICK = TrialSpan(5.0, 12.0, 8.0)


def step(factor: float, capacity: float, span: TrialSpan) -> LoadCurve:
    """Calm, then a factor of the capacity at once, then calm.

    >>> print(step(2, 1000, TrialSpan(5, 20, 10)))
    500,2000@5,500@25
    """
    return LoadCurve(((0, CALM * capacity), (span.begin, factor * capacity), (span.end, CALM * capacity)))


def sine(capacity: float, span: TrialSpan, mean: float = 1.0, swing: float = 0.8, period: float = 20.0) -> LoadCurve:
    """A load that swings around a mean, in steps of a quarter of a second."""
    count = int(span.load * 4)
    waves = [
        (span.begin + place / 4, capacity * (mean + swing * sin(2 * pi * place / 4 / period))) for place in range(count)
    ]
    return LoadCurve(((0, CALM * capacity), *waves, (span.end, CALM * capacity)))


def bursts(
    capacity: float, span: TrialSpan, factor: float = 2.0, seconds: float = 2.0, every: float = 10.0
) -> LoadCurve:  # fmt: skip
    """Calm, and bursts of so many seconds.

    >>> print(bursts(1000, TrialSpan(5, 20, 10)))
    500,2000@5,500@7,2000@15,500@17
    """
    starts = np.arange(span.begin, span.end, every).tolist()
    steps = [each for start in starts for each in ((start, factor * capacity), (start + seconds, CALM * capacity))]
    return LoadCurve(((0, CALM * capacity), *steps))


def recorded(capacity: float, span: TrialSpan, folder: Path, peak: float = 2.0, traffic: int = 1200) -> LoadCurve:
    """The position reports a second of some simulated minutes of Linear Road, in less time, up to a peak load."""
    return following(reports_a_second(folder, traffic), capacity, span, peak)


def following(counts: Floats, capacity: float, span: TrialSpan, peak: float) -> LoadCurve:
    """A load that goes as counts do, the greatest of which is at the peak."""
    parts = np.array_split(counts, min(int(span.load * 2), len(counts)))
    means = np.array([part.mean() for part in parts])
    rates = means / max(means.max(), 1e-9) * peak * capacity
    seconds = span.begin + np.arange(len(rates)) * span.load / len(rates)
    steps = zip(seconds.tolist(), rates.tolist(), strict=True)
    return LoadCurve(((0, CALM * capacity), *steps, (span.end, CALM * capacity)))


def reports_a_second(folder: Path, seconds: int) -> Floats:
    """How many position reports come in each second of a simulated expressway."""
    counts = np.zeros(seconds)
    simulate(folder / "traffic", seconds=seconds, replace=True)
    files = feed(folder / "traffic")
    for file in files.files:
        for batch in files.read(file):
            times = batch["time"].to_numpy()[batch["type"].to_numpy() == REPORT]
            counts += np.bincount(times, minlength=seconds)[:seconds]
    return counts

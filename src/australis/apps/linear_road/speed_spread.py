"""Speed spread: how much the speeds of free traffic differ, and how evenly vehicles enter (3.1.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from australis.apps.linear_road.record import ENTRY, EXIT, SEGMENTS
from australis.apps.linear_road.survey import Array, RoadSurvey

_SLOW, _FAST = 40, 70
"""Mph below which a vehicle in a travel lane is slow, and from which on it is fast."""
_TOGETHER = 10
"""Neighbouring segments whose entries are added up."""


@dataclass(frozen=True)
class SpeedSpread:
    """The spread of the speeds in the first five minutes, and of all entries."""

    deviations: tuple[float, ...]
    """Standard deviations of speeds, in mph, by lane; NaN for a lane without vehicles."""
    slow: float
    """The fraction of reports from travel lanes below 40 mph."""
    fast: float
    """The fraction of them from 70 mph on."""
    entries: tuple[float, ...]
    """Trips that begin in each ten segments from the west, where 1 is their mean."""


ORIGINAL = SpeedSpread((float("nan"), 9.9, 12.5, 11.6, float("nan")), 0.13, 0.045, (1.0,) * (SEGMENTS // _TOGETHER))
"""The spread of the data that came with the benchmark. It is too small to measure entries, uniform in the paper."""


def spread(survey: RoadSurvey) -> SpeedSpread:
    """Measure the spread of a surveyed expressway."""
    travel = survey.early[ENTRY + 1 : EXIT].sum(0)
    reports = max(int(travel.sum()), 1)
    tens = survey.begun.sum(0).reshape(-1, _TOGETHER).sum(1)
    return SpeedSpread(
        _deviations(survey.early),
        int(travel[:_SLOW].sum()) / reports,
        int(travel[_FAST:].sum()) / reports,
        tuple((tens / tens.mean()).tolist()),
    )


def _deviations(lanes: Array) -> tuple[float, ...]:
    """The standard deviation of the speeds of each lane, from how often each speed was reported."""
    speeds = np.arange(lanes.shape[1])
    count = np.where(lanes.any(1), lanes.sum(1), np.nan)
    apart = speeds - (lanes @ speeds / count)[:, None]
    return tuple(np.sqrt((lanes * apart**2).sum(1) / count).tolist())

"""Pictures: a survey of an expressway, drawn."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from australis.apps.linear_road.record import EAST, EVERY, FEET, SEGMENTS, WEST
from australis.apps.linear_road.survey import PARTS, Array, RoadSurvey

_INK, _FAINT, _PAPER, _NONE = "#2b2b2b", "#8a8a8a", "#ffffff", "#ededed"
_BLUE, _ORANGE, _MARK = "#0072b2", "#d55e00", "#00b3b3"
_NUMBER = StrMethodFormatter("{x:,.0f}")
_LANES = ("entry ramp", "lane 1", "lane 2", "lane 3", "exit ramp")
_DIRECTIONS = {EAST: ("east", "Eastbound", "upwards"), WEST: ("west", "Westbound", "downwards")}
_LEAST = 5000  # the scale of tolls reaches at least to that of 100 cars
_FASTEST, _FREE = 80, 70  # mph: what a picture reaches to at least, and what is as good as a free road
_STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.titlecolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.color": _INK,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "figure.facecolor": _PAPER,
    "savefig.facecolor": _PAPER,
}


@dataclass(frozen=True)
class Picture:
    """A PNG, with its title and caption."""

    name: str
    title: str
    caption: str
    png: bytes


def use_style() -> AbstractContextManager[None]:
    """Set the style of all pictures."""
    return mpl.rc_context(_STYLE)


def pictures(survey: RoadSurvey) -> list[Picture]:
    """All pictures of a survey, those of the road first."""
    with use_style():
        return [
            *(_speeds(survey, dir) for dir in _DIRECTIONS),
            *(_tolls(survey, dir) for dir in _DIRECTIONS),
            _reports(survey),
            _vehicles(survey),
            _lanes(survey),
            _histogram(survey),
            _entries(survey),
        ]


def _speeds(survey: RoadSurvey, dir: int) -> Picture:
    word, name, way = _DIRECTIONS[dir]
    counts = survey.seen[:, dir]
    mean = np.ma.masked_array(survey.speeds[:, dir] / np.maximum(counts, 1), counts == 0)
    figure, axes = canvas(5.6)
    image = _map(axes, mean, survey, "magma", vmin=0, vmax=_FREE)
    figure.colorbar(image, ax=axes, label="mean speed (mph)", pad=0.015, extend="max")
    accidents = [accident for accident in survey.accidents if accident.dir == dir]
    for number, accident in enumerate(accidents):
        when, mile = [accident.start / 60, accident.end / 60], accident.feet / FEET
        axes.plot(when, [mile, mile], color=_PAPER, lw=4.5, solid_capstyle="butt")
        axes.plot(when, [mile, mile], color=_MARK, lw=2.2, solid_capstyle="butt", label="" if number else "accident")
        axes.plot(when[:1], [mile], "X", color=_MARK, mec=_PAPER, ms=9)
    if accidents:
        legend(axes)
    axes.set_title(f"{name} speeds")
    bins = f"bins of {EVERY} seconds and 1/{PARTS} mile"
    caption = f"Mean speed in travel lanes, in {bins}. Vehicles drive {way}; grey is empty."
    return picture(figure, f"speeds-{word}", f"{name} speeds", caption)


def _tolls(survey: RoadSurvey, dir: int) -> Picture:
    word, name, way = _DIRECTIONS[dir]
    tolls = np.ma.masked_equal(survey.tolls[:, dir], 0)
    figure, axes = canvas(4.4)
    # The root of a toll grows with the cars. Both directions have one scale.
    most = max(int(survey.tolls.max(initial=0)), _LEAST)
    image = _map(axes, tolls, survey, "viridis_r", norm=PowerNorm(0.5, 0, most))
    figure.colorbar(image, ax=axes, label="toll of a segment", pad=0.015, format=_NUMBER)
    axes.set_title(f"{name} tolls")
    caption = f"The toll of each segment in each minute, by table 2. Vehicles drive {way}; grey is free of charge."
    return picture(figure, f"tolls-{word}", f"{name} tolls", caption)


def _reports(survey: RoadSurvey) -> Picture:
    figure, axes = canvas(3.2)
    second = np.arange(len(survey.reports)) / 60
    axes.plot(second, survey.reports, color=_FAINT, lw=0.4, label="each second")
    axes.plot(_middles(survey.road), survey.road / EVERY, color=_BLUE, lw=1.8, label="mean of 30 seconds")
    _chart(axes, survey, "reports a second")
    legend(axes)
    axes.set_title("Reports a second")
    return picture(figure, "reports", "Reports a second", "All position reports, both directions and all lanes.")


def _vehicles(survey: RoadSurvey) -> Picture:
    figure, (above, below) = canvas(4.6, 2)
    above.plot(_middles(survey.road), survey.road, color=_BLUE, lw=1.8)
    _chart(above, survey, "vehicles")
    above.set_title("Vehicles on the road")
    whole = survey.entries[: len(survey.entries) // 2 * 2].reshape(-1, 2).sum(1)
    below.step(np.arange(len(whole)) + 0.5, whole, where="mid", color=_ORANGE, lw=1.4)
    _chart(below, survey, "vehicles a minute")
    below.set_title("Vehicles that enter")
    caption = "A vehicle is on the road while it reports every 30 seconds; a trip begins where no report came before."
    return picture(figure, "vehicles", "Vehicles on the road, and those that enter", caption)


def _lanes(survey: RoadSurvey) -> Picture:
    figure, axes = canvas(3.0)
    count = survey.lanes.sum(1)
    share = 100 * count / max(int(count.sum()), 1)
    mean = (survey.lanes * np.arange(survey.lanes.shape[1])).sum(1) / np.maximum(count, 1)
    colors = [_ORANGE, _BLUE, _BLUE, _BLUE, _ORANGE]
    bars = axes.barh(_LANES, share, color=colors, height=0.62)
    axes.bar_label(bars, [f" {s:.1f}%, {m:.0f} mph" for s, m in zip(share, mean, strict=True)])
    axes.invert_yaxis()
    axes.set_xlim(0, share.max() * 1.18)
    axes.set_xlabel("share of all reports (%)")
    axes.tick_params(left=False)
    axes.set_title("Lanes")
    return picture(
        figure, "lanes", "Lanes", "The share of all reports that come from each lane, with their mean speed."
    )


def _histogram(survey: RoadSurvey) -> Picture:
    figure, axes = canvas(3.2)
    ramps, travel = survey.lanes[[0, 4]].sum(0), survey.lanes[1:4].sum(0)
    total = max(int(survey.lanes.sum()), 1)
    edges = np.arange(survey.lanes.shape[1] + 1) - 0.5
    for count, color, label in ((travel, _BLUE, "travel lanes"), (ramps, _ORANGE, "ramps")):
        axes.stairs(100 * count / total, edges, color=color, fill=True, alpha=0.25)
        axes.stairs(100 * count / total, edges, color=color, lw=1.4, label=label)
    axes.set_xlim(-0.5, max(int(np.flatnonzero(survey.lanes.sum(0)).max(initial=0)), _FASTEST) + 0.5)
    axes.set_xlabel("speed (mph)")
    axes.set_ylabel("reports (%)")
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    legend(axes)
    axes.set_title("Speeds")
    return picture(figure, "histogram", "Speeds", "How many of all reports have each speed, in steps of 1 mph.")


def _entries(survey: RoadSurvey) -> Picture:
    figure, axes = canvas(3.2)
    edges = np.arange(SEGMENTS + 1)
    below = np.zeros(SEGMENTS)
    for dir, color in ((EAST, _BLUE), (WEST, _ORANGE)):
        above = below + survey.begun[dir]
        axes.stairs(above, edges, baseline=below, color=color, fill=True, alpha=0.7, label=_DIRECTIONS[dir][1].lower())
        below = above
    axes.set_xlim(0, SEGMENTS)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("segment")
    axes.set_ylabel("trips")
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    legend(axes)
    axes.set_title("Entries by segment")
    caption = "How many trips begin in each segment, the westbound ones on top of the eastbound ones."
    return picture(figure, "entries", "Entries by segment", caption)


def canvas(height: float, rows: int = 1) -> tuple[Figure, Any]:
    figure = Figure(figsize=(11, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, 1, sharex=rows > 1)


def _map(axes: Axes, values: Array, survey: RoadSurvey, colors: str, **how: Any) -> Any:
    """Values by time and position: time runs to the right and east is up."""
    axes.set_facecolor(_NONE)
    ends = (0, len(survey.reports) / 60, 0, SEGMENTS)
    image = axes.imshow(
        values.T, cmap=colors, origin="lower", aspect="auto", extent=ends, interpolation="nearest", **how
    )
    axes.set_xlabel("time (minutes)")
    axes.set_ylabel("position (miles from the west end)")
    return image


def _chart(axes: Axes, survey: RoadSurvey, label: str) -> None:
    axes.set_xlim(0, len(survey.reports) / 60)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(label)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_formatter(_NUMBER)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_xlabel("time (minutes)")
    axes.label_outer()


def legend(axes: Axes) -> None:
    """Draw the legend beside the title, where it hides nothing."""
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), borderpad=0, handlelength=1.5, ncols=2)


def _middles(half_minutes: Array) -> Array:
    """The middles of half minutes, in minutes."""
    return (np.arange(len(half_minutes)) + 0.5) * EVERY / 60


def picture(figure: Figure, name: str, title: str, caption: str) -> Picture:
    png = BytesIO()
    figure.savefig(png, format="png", dpi=120)
    return Picture(name, title, caption, png.getvalue())

"""Pictures of quality of service: what graphs say, what happens under load, and who waits."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, PercentFormatter
from PIL import Image

from australis.api.network import Network
from australis.apps.linear_road.pictures import use_style
from australis.bench.service_trial import CATCHES_UP, SHEDS, WAITS, Series, ServiceTrial
from australis.model.qos import Graph

URGENT, PATIENT = "jams", "fast"
"""The outputs of the network: one whose branch never waits, and one whose branch does."""
_COLORS = {URGENT: "#c1272d", PATIENT: "#0b6fa4"}
_PHASES = {WAITS: "#fdf1d3", SHEDS: "#fae3df", CATCHES_UP: "#e3f0e3"}
_INK, _FAINT, _LOAD, _BEHIND = "#111111", "#707070", "#b9c9d4", "#9cc3da"
_BLIND = "both, with --no-shed"
_TITLE, _TEXT, _SMALL = 11, 10, 9
_SHADES = 64
"""Colours of a picture: as many as lines of a few colours need, in a third of the bytes. matplotlib brings Pillow."""


def draw(network: Network, trials: Mapping[str, ServiceTrial], folder: Path) -> list[Path]:
    """Write the pictures of a network and of what loads did to it, and return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    with use_style():
        figures = {
            "graphs": _graphs(network),
            "overload": _overload(network, trials["overload"]),
            "burst": _burst(network, trials["burst"]),
        }
        return [_save(figure, folder / f"quality_of_service_{name}.png") for name, figure in figures.items()]


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.08, wspace=0.04))


def _graphs(network: Network) -> Figure:
    """The three kinds of graphs, each with what is to be read off it."""
    qos = {output.name: output.qos for output in network.outputs}
    late, part, worth = qos[URGENT].latency, qos[PATIENT].delivered, qos[PATIENT].value
    assert late is not None
    assert part is not None
    assert worth is not None
    figure = _figure(9.6, 3.8)
    latency, delivered, value = figure.subplots(1, 3, sharey=True)
    _graph(latency, URGENT, late, (0, 12), f"latency of {URGENT}", "delay of a result, seconds",
           "Within 2 s a result is worth all, after 6 s half, after 10 s nothing.")  # fmt: skip
    _point(latency, URGENT, late, late.bend, f"the bend: {late.bend:g} s", (7, 4))
    _point(latency, URGENT, late, 6, "6 s: half", (8, 2))
    _graph(delivered, PATIENT, part, (0, 1), f"delivered of {PATIENT}", "part of the results that comes out",
           "A fifth of the results is nearly as good as all of them.")  # fmt: skip
    _point(delivered, PATIENT, part, 0.2, "a fifth: 0.95", (8, -16))
    delivered.xaxis.set_major_formatter(PercentFormatter(1))
    _graph(value, PATIENT, worth[1], (80, 160), f"value of {PATIENT}", f"{worth[0]} of a result",
           "The fastest matter most: if some must go, it is the slowest.")  # fmt: skip
    _point(value, PATIENT, worth[1], 90, "90 mph: 0.2", (8, -8))
    _point(value, PATIENT, worth[1], 150, "150 mph: 1", (-74, 2))
    latency.set_ylabel("utility")
    return figure


def _graph(
    axis: Axes, output: str, graph: Graph, limits: tuple[float, float], title: str, below: str, reading: str
) -> None:
    xs = [limits[0], *(x for x, _ in graph.points if limits[0] < x < limits[1]), limits[1]]
    axis.plot(xs, [graph.utility(x) for x in xs], color=_COLORS[output], linewidth=2)
    axis.set_title(title, fontsize=_TITLE)
    axis.set_xlabel(f"{below}\n\n{fill(reading, 36)}", fontsize=_TEXT)
    axis.set(xlim=limits, ylim=(0, 1.08))
    axis.grid(visible=True)


def _point(axis: Axes, output: str, graph: Graph, x: float, text: str, offset: tuple[float, float]) -> None:
    """A point of a graph, with what it says beside it."""
    color, utility = _COLORS[output], graph.utility(x)
    axis.plot((x, x), (0, utility), color=color, linestyle=":", linewidth=1)
    axis.plot(x, utility, "o", color=color, markersize=6)
    _text(axis, (x, utility), text, color, offset).set_bbox({"facecolor": "#ffffff", "edgecolor": "none", "pad": 1})


def _overload(network: Network, trial: ServiceTrial) -> Figure:
    """A load that lasts: the rate, delays, what is delivered and what it is worth, by the graphs and without them."""
    figure = _figure(9, 7.9)
    rate, delays, parts, worth = figure.subplots(4, 1, sharex=True, height_ratios=(1.25, 1.9, 1, 1.1))
    middle = (trial.load.start + trial.load.end) / 2
    _rate(rate, trial)
    _delays(delays, network, trial, 20)
    _label(delays, trial.delay(URGENT), middle, URGENT, _COLORS[URGENT], (0, 5))
    _label(delays, trial.delay(PATIENT), middle, PATIENT, _COLORS[PATIENT], (0, 5))
    _label(delays, trial.delay(URGENT, steered=False), middle + 13, _BLIND, _FAINT, (9, -5), "left")
    for output in (URGENT, PATIENT):
        kept = trial.kept(output)
        _line(parts, kept, _COLORS[output])
        least = min(kept.values)
        _label(parts, kept, middle, f"{output}: {least:.0%}", _COLORS[output], (0, 5 if least < 1 else -14))
    parts.yaxis.set_major_formatter(PercentFormatter(1))
    known, blind = (trial.utility(network, steered) for steered in (True, False))
    _line(worth, known, _INK)
    _line(worth, blind, _FAINT, "--")
    late = trial.load.end + 3
    _label(worth, known, late, f"by the graphs: {min(known.values):.2f} at the lowest", _INK, (0, -15))
    _label(worth, blind, late, f"with --no-shed: {min(blind.values):.2f} at the lowest", _FAINT, (0, 6))
    for axis in (parts, worth):
        axis.set_ylim(0, 1.1)
        axis.yaxis.set_major_locator(FixedLocator((0, 0.5, 1)))
    _frame(trial, {
        "Reports a second, millions": rate, "Longest delay of results, seconds": delays,
        "Part of the results that is delivered": parts, "Utility of both outputs, by their weights": worth,
    })  # fmt: skip
    return figure


def _burst(network: Network, trial: ServiceTrial) -> Figure:
    """A load that is soon over: the rate, how far the branch that waits is behind, and delays."""
    figure = _figure(9, 6.1)
    rate, behind, delays = figure.subplots(3, 1, sharex=True, height_ratios=(1.25, 1.2, 1.9))
    _rate(rate, trial)
    backlog = trial.behind(PATIENT)
    behind.fill_between(backlog.seconds, backlog.values, color=_BEHIND, linewidth=0)
    _line(behind, backlog, _COLORS[PATIENT])
    behind.set_ylim(0, max(backlog.values) * 1.15)
    fell = trial.load.end
    _delays(delays, network, trial, 12)
    _label(delays, trial.delay(URGENT), fell, URGENT, _COLORS[URGENT], (0, -14))
    _label(delays, trial.delay(PATIENT), fell - 2, PATIENT, _COLORS[PATIENT], (-4, 5), "right")
    _label(delays, trial.delay(URGENT, steered=False), fell + 5, _BLIND, _FAINT, (12, -2), "left")
    _frame(trial, {
        "Reports a second, millions": rate, f"Reports that {PATIENT} has not taken yet, millions": behind,
        "Longest delay of results, seconds": delays,
    })  # fmt: skip
    return figure


def _rate(axis: Axes, trial: ServiceTrial) -> None:
    """What comes, and what the machine holds; above it there is room for the names of phases."""
    load, holds = trial.load, trial.capacity
    seconds = (0, load.start, load.start, load.end, load.end, load.seconds)
    axis.fill_between(seconds, (1, 1, load.times, load.times, 1, 1), color=_LOAD, linewidth=0)
    axis.axhline(holds, color=_INK, linewidth=1, linestyle=":")
    _text(axis, (load.seconds, holds), f"the machine holds {holds:.2f}", _INK, (0, 4), "right", _SMALL)
    axis.set_ylim(0, load.times * 1.45)
    axis.yaxis.set_major_locator(FixedLocator((0, 1, 2)))
    for number, phase in enumerate(trial.phases, 1):
        middle = (phase.start + phase.end) / 2, load.times
        _text(axis, middle, f"{number}  {PATIENT} {phase.name}", _INK, (0, 9), "center")


def _delays(axis: Axes, network: Network, trial: ServiceTrial, most: float) -> None:
    """The delays of outputs, where their graphs bend, and the delays without shedding, which are the same for both."""
    _line(axis, trial.delay(URGENT, steered=False), _FAINT, "--")
    for output in network.outputs:
        name, color = output.name, _COLORS[output.name]
        _line(axis, trial.delay(name), color)
        if output.qos.latency is not None:
            bend = output.qos.latency.bend
            axis.axhline(bend, color=color, linewidth=1, linestyle=":")
            _text(axis, (trial.load.seconds, bend), f"{name} bends: {bend:g} s", color, (0, 4), "right", _SMALL)
    axis.set_ylim(0, most)


def _frame(trial: ServiceTrial, axes: Mapping[str, Axes]) -> None:
    """Titles, grids and the phases behind all."""
    for title, axis in axes.items():
        axis.set_title(title, fontsize=_TITLE)
        axis.grid(visible=True, axis="y")
        axis.set_axisbelow(True)
        axis.set_xlim(0, trial.load.seconds)
        for phase in trial.phases:
            axis.axvspan(phase.start, phase.end, color=_PHASES[phase.name], zorder=0, linewidth=0)
    axis.set_xlabel("seconds")


def _line(axis: Axes, series: Series, color: str, style: str = "-") -> None:
    axis.plot(series.seconds, series.values, color=color, linestyle=style, linewidth=1.8)


def _label(
    axis: Axes, series: Series, at: float, text: str, color: str, offset: tuple[float, float], side: str = "center"
) -> None:
    """The name of a line, beside where it is at a moment."""
    height = float(np.interp(at, series.seconds, series.values))
    _text(axis, (at, height), text, color, offset, side)


def _text(
    axis: Axes, place: tuple[float, float], text: str, color: str, offset: tuple[float, float], side: str = "left",
    size: int = _TEXT,
) -> Text:  # fmt: skip
    return axis.annotate(text, place, offset, textcoords="offset points", color=color, ha=side, fontsize=size)


def _save(figure: Figure, path: Path) -> Path:
    png = BytesIO()
    figure.savefig(png, format="png", dpi=120)
    Image.open(png).convert("RGB").quantize(_SHADES).save(path, optimize=True)
    return path

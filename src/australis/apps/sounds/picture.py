"""Pictures of recordings: the waveform of each channel and the spectrogram of one, with events marked."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from australis.apps.sounds.survey import SoundSurvey
from australis.errors import RunError
from australis.model.train import Ints

_INK, _FAINT, _BLUE, _MARK = "#2b2b2b", "#8a8a8a", "#0072b2", "#d55e00"
_MOST = 8  # the most channels that are drawn
_RANGE = 70  # decibels that the colours cover
_STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.color": _INK,
}


def png(survey: SoundSurvey, events: Ints | None = None, title: str = "") -> bytes:
    """Draw a survey as PNG. `events` has a row for each event: its first and its last sample."""
    channels = min(len(survey.low), _MOST)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10, 2.6 + 0.9 * channels), layout="constrained", dpi=110)
        FigureCanvasAgg(figure)
        parts = figure.subplots(channels + 1, 1, sharex=True, height_ratios=[*[1.0] * channels, 2.4])
        marks = _within(survey, events)
        edges = np.linspace(survey.begin, survey.end, survey.low.shape[1] + 1) / survey.rate
        for channel in range(channels):
            _wave(parts[channel], survey, channel, edges)
            _mark(parts[channel], survey, marks)
        parts[0].set_title(title or _title(survey, marks))
        _spectrum(figure, parts[-1], survey, edges)
        _mark(parts[-1], survey, marks, outlined=True)
        parts[-1].set_xlabel("seconds")
        out = BytesIO()
        figure.savefig(out, format="png")
    return out.getvalue()


def read_events(path: Path) -> Ints:
    """Read the columns `start` and `end` of a CSV or Parquet file, in samples."""
    try:
        table = pa.parquet.read_table(path) if path.suffix.lower() == ".parquet" else pa.csv.read_csv(path)
        columns = [table.column(name).cast(pa.int64()).to_numpy() for name in ("start", "end")]
    except (OSError, KeyError, pa.ArrowException) as error:
        raise RunError(f"{path}: gives no events ({error}); it is CSV or Parquet with the columns start and end, in"
                       " samples") from None  # fmt: skip
    return np.stack(columns, axis=1)


def _title(survey: SoundSurvey, marks: Ints) -> str:
    seconds = (survey.end - survey.begin) / survey.rate
    events = "" if not len(marks) else ", 1 event" if len(marks) == 1 else f", {len(marks):,} events"
    channels = "1 channel" if len(survey.low) == 1 else f"{len(survey.low)} channels"
    return f"{survey.name}: {seconds:,.4g} s, {channels} at {survey.rate:,.6g} Hz{events}"


def _within(survey: SoundSurvey, events: Ints | None) -> Ints:
    if events is None:
        return np.empty((0, 2), np.int64)
    return events[(events[:, 1] >= survey.begin) & (events[:, 0] < survey.end)]


def _wave(axes: Axes, survey: SoundSurvey, channel: int, edges: Any) -> None:
    low, high = survey.low[channel], survey.high[channel]
    most = max(float(np.abs(survey.low).max()), float(np.abs(survey.high).max()), 1e-6)
    middle = (edges[:-1] + edges[1:]) / 2
    axes.fill_between(middle, low, high, color=_BLUE, lw=0.6)
    axes.set_ylim(-1.05 * most, 1.05 * most)
    axes.set_xlim(edges[0], edges[-1])
    axes.axhline(0, color=_FAINT, lw=0.4, zorder=0)
    axes.set_ylabel(f"{channel + 1}", rotation=0, labelpad=10, va="center")
    axes.tick_params(axis="x", length=0)


def _spectrum(figure: Figure, axes: Axes, survey: SoundSurvey, edges: Any) -> None:
    top = float(survey.spectrum.max()) - 6
    floor = max(top - _RANGE, float(np.percentile(survey.spectrum, 20)) - 3)
    place = (edges[0], edges[-1], 0.0, survey.rate / 2000)
    image = axes.imshow(
        survey.spectrum, vmin=floor, vmax=top, cmap="magma", extent=place, origin="lower", aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    axes.set_ylabel(f"kHz, channel {survey.channel}")
    figure.colorbar(image, ax=axes, label="dB", pad=0.01, aspect=12)


def _mark(axes: Axes, survey: SoundSurvey, events: Ints, outlined: bool = False) -> None:
    for first, last in events.tolist():
        place = first / survey.rate, (last + 1) / survey.rate
        if outlined:
            for edge in place:
                axes.axvline(edge, color="#ffffff", lw=0.6, alpha=0.7)
        else:
            axes.axvspan(*place, color=_MARK, alpha=0.3, lw=0, zorder=0)

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
_MOST = 8  # channels that are drawn
_RANGE = 70  # decibels that colours tell apart
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


def png(found: SoundSurvey, events: Ints | None = None, title: str = "") -> bytes:
    """A picture; events are rows of the first and the last sample of each."""
    shown = min(len(found.low), _MOST)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10, 2.6 + 0.9 * shown), layout="constrained", dpi=110)
        FigureCanvasAgg(figure)
        parts = figure.subplots(shown + 1, 1, sharex=True, height_ratios=[*[1.0] * shown, 2.4])
        marks = _within(found, events)
        edges = np.linspace(found.begin, found.end, found.low.shape[1] + 1) / found.rate
        for channel in range(shown):
            _wave(parts[channel], found, channel, edges)
            _mark(parts[channel], found, marks)
        parts[0].set_title(title or _title(found, marks))
        _spectrum(figure, parts[-1], found, edges)
        _mark(parts[-1], found, marks, outlined=True)
        parts[-1].set_xlabel("seconds")
        out = BytesIO()
        figure.savefig(out, format="png")
    return out.getvalue()


def read_events(path: Path) -> Ints:
    """The columns `start` and `end` of a file of CSV or Parquet, in samples."""
    try:
        table = pa.parquet.read_table(path) if path.suffix.lower() == ".parquet" else pa.csv.read_csv(path)
        columns = [table.column(name).cast(pa.int64()).to_numpy() for name in ("start", "end")]
    except (OSError, KeyError, pa.ArrowException) as error:
        raise RunError(f"{path}: gives no events ({error}); it is CSV or Parquet with the columns start and end, in"
                       " samples") from None  # fmt: skip
    return np.stack(columns, axis=1)


def _title(found: SoundSurvey, marks: Ints) -> str:
    seconds = (found.end - found.begin) / found.rate
    events = "" if not len(marks) else ", 1 event" if len(marks) == 1 else f", {len(marks):,} events"
    channels = "1 channel" if len(found.low) == 1 else f"{len(found.low)} channels"
    return f"{found.name}: {seconds:,.4g} s, {channels} at {found.rate:,.6g} Hz{events}"


def _within(found: SoundSurvey, events: Ints | None) -> Ints:
    if events is None:
        return np.empty((0, 2), np.int64)
    return events[(events[:, 1] >= found.begin) & (events[:, 0] < found.end)]


def _wave(axes: Axes, found: SoundSurvey, channel: int, edges: Any) -> None:
    low, high = found.low[channel], found.high[channel]
    most = max(float(np.abs(found.low).max()), float(np.abs(found.high).max()), 1e-6)
    middle = (edges[:-1] + edges[1:]) / 2
    axes.fill_between(middle, low, high, color=_BLUE, lw=0.6)
    axes.set_ylim(-1.05 * most, 1.05 * most)
    axes.set_xlim(edges[0], edges[-1])
    axes.axhline(0, color=_FAINT, lw=0.4, zorder=0)
    axes.set_ylabel(f"{channel + 1}", rotation=0, labelpad=10, va="center")
    axes.tick_params(axis="x", length=0)


def _spectrum(figure: Figure, axes: Axes, found: SoundSurvey, edges: Any) -> None:
    top = float(found.spectrum.max()) - 6
    floor = max(top - _RANGE, float(np.percentile(found.spectrum, 20)) - 3)
    place = (edges[0], edges[-1], 0.0, found.rate / 2000)
    drawn = axes.imshow(
        found.spectrum, vmin=floor, vmax=top, cmap="magma", extent=place, origin="lower", aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    axes.set_ylabel(f"kHz, channel {found.channel}")
    figure.colorbar(drawn, ax=axes, label="dB", pad=0.01, aspect=12)


def _mark(axes: Axes, found: SoundSurvey, events: Ints, outlined: bool = False) -> None:
    for first, last in events.tolist():
        place = first / found.rate, (last + 1) / found.rate
        if outlined:
            for edge in place:
                axes.axvline(edge, color="#ffffff", lw=0.6, alpha=0.7)
        else:
            axes.axvspan(*place, color=_MARK, alpha=0.3, lw=0, zorder=0)

"""Pictures of a city: a page that replays it, its roads, and one moment of it (SOLE, figure 11)."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from australis.apps.city.frames import CityFrames, frames
from australis.apps.city.page import page
from australis.apps.city.roads import CLASSES, Longs, Reals, Roads
from australis.errors import RunError

PAGE, ROADS, MOMENT = "index.html", "roads.png", "moment.png"
_INK, _FAINT = "#2b2b2b", "#8a8a8a"
_ROADS = (("#d55e00", 1.8), ("#666666", 0.9), ("#a8a8a8", 0.5), ("#c9c9c9", 0.35))
_ANSWER = "#c2001f"
_OBJECTS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def show(
    folder: Path,
    out: Path,
    answers: Path | None = None,
    at: int | None = None,
    objects: int = 2000,
    queries: int = 100,
    on_progress: Callable[[int], None] | None = None,
) -> list[Path]:
    """Write the pictures of a simulated city to a folder, and return the files."""
    city = frames(folder, answers, objects, queries, on_progress)
    if at is not None and not 0 <= at < city.note["city"]["seconds"]:
        raise RunError(f"--at {at}: the city was simulated for {city.note['city']['seconds']} seconds")
    row = len(city.times) // 2 if at is None else int(np.searchsorted(city.times, at, side="right")) - 1
    contents = {PAGE: page(city).encode(), ROADS: roads_png(city.roads), MOMENT: moment_png(city, row)}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (out / name).write_bytes(content)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); give another folder") from None
    return [out / name for name in contents]


def roads_png(roads: Roads) -> bytes:
    """The roads, coloured by class."""
    figure, axes = _figure(roads)
    _draw_roads(axes, roads)
    handles = [axes.plot([], [], color=color, lw=2 * width)[0] for color, width in _ROADS]
    axes.legend(handles, CLASSES, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    axes.set_title(f"{len(roads.x):,} crossings, {len(roads.ends):,} roads", loc="left", color=_INK)
    return _png(figure)


def moment_png(frames: CityFrames, row: int) -> bytes:
    """One moment: objects by class, and the regions of queries. The regions of moving queries are dashed."""
    figure, axes = _figure(frames.roads)
    _draw_roads(axes, frames.roads, faint=True)
    regions, moves = regions_at(frames, row)
    for boxes_of_kind, style in ((regions[~moves], "solid"), (regions[moves], (0, (3, 2)))):
        boxes = [Rectangle((x1, y1), x2 - x1, y2 - y1) for x1, y1, x2, y2 in boxes_of_kind.tolist()]
        axes.add_collection(
            PatchCollection(boxes, facecolor="#0072b210", edgecolor="#0072b2", linewidth=0.8, linestyle=style)
        )
    for x, y, far, moves_ in circles_at(frames, row):
        style = (0, (3, 2)) if moves_ else "solid"
        axes.add_patch(Circle((x, y), far, facecolor="#7a4fb518", edgecolor="#7a4fb5", linewidth=0.8, linestyle=style))
        axes.plot([x], [y], "+", color="#7a4fb5", markersize=5)
    size = float(np.clip(9000 / max(1, len(frames.objects)), 4, 16))
    for kind, name in enumerate(frames.note["classes"]):
        of_kind = frames.kinds == kind
        color = _OBJECTS[kind % len(_OBJECTS)]
        axes.scatter(
            frames.x[row, of_kind], frames.y[row, of_kind], s=size, c=color, label=name, linewidths=0, zorder=3
        )
    inside = members_at(frames, row)
    axes.scatter(
        frames.x[row, inside],
        frames.y[row, inside],
        s=1.6 * size,
        c=_ANSWER,
        label="in an answer",
        linewidths=0,
        zorder=4,
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, markerscale=2)
    visible = int((~np.isnan(frames.x[row])).sum())
    axes.set_title(
        f"Second {frames.times[row]}: {visible:,} of {frames.whole[row]:,} objects,"
        f" {len(regions) + len(circles_at(frames, row)):,} of {frames.note['city']['mix']['count']:,} queries",
        loc="left",
        color=_INK,
    )
    return _png(figure)


def regions_at(frames: CityFrames, row: int) -> tuple[Reals, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The rectangles of the queries at a moment, and whether each moves."""
    alive = (frames.lives[:, 0] <= row) & (row < frames.lives[:, 1]) & (frames.neighbours == 0)
    focal, regions = frames.focal[alive], frames.regions[alive]
    moves = focal >= 0
    around = np.column_stack([frames.x[row], frames.y[row]])[np.maximum(focal, 0)]
    placed = np.where(moves[:, None], regions + np.tile(around, 2), regions)
    there = ~np.isnan(placed).any(axis=1)
    return placed[there], moves[there]


def circles_at(frames: CityFrames, row: int) -> list[tuple[float, float, float, bool]]:
    """The circles of kNN queries at a moment: their centres, how far they reach, and whether each moves."""
    alive = (frames.lives[:, 0] <= row) & (row < frames.lives[:, 1]) & (frames.neighbours > 0)
    circles = []
    for query in np.flatnonzero(alive & np.isfinite(frames.reaches[row])).tolist():
        focal, (x, y) = int(frames.focal[query]), frames.regions[query, :2].tolist()
        if focal >= 0:
            x, y = x + float(frames.x[row, focal]), y + float(frames.y[row, focal])
        circles.append((x, y, float(frames.reaches[row, query]), focal >= 0))
    return circles


def members_at(frames: CityFrames, row: int) -> Longs:
    """The indices of the objects that are in some answer at a moment."""
    past = frames.changes[frames.changes[:, 0] <= row]
    counts = np.zeros((len(frames.queries), len(frames.objects)), np.int64)
    np.add.at(counts, (past[:, 1], past[:, 2]), past[:, 3])
    return np.flatnonzero(counts.any(axis=0))


def _figure(roads: Roads) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(9.2, 8), dpi=130, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    x1, y1, x2, y2 = roads.space
    axes.set(xlim=(x1, x2), ylim=(y1, y2), aspect="equal")
    axes.margins(0.02)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}")
    axes.set_xlabel("kilometres", color=_INK)
    axes.spines[:].set_color(_FAINT)
    axes.tick_params(colors=_INK)
    return figure, axes


def _draw_roads(axes: Axes, roads: Roads, faint: bool = False) -> None:
    for kind in reversed(range(len(CLASSES))):
        of_kind = roads.kind == kind
        here, there = roads.begins[of_kind], roads.ends[of_kind]
        lines = np.stack(
            [np.column_stack([roads.x[here], roads.y[here]]), np.column_stack([roads.x[there], roads.y[there]])], axis=1
        )
        color, width = _ROADS[kind]
        axes.add_collection(
            LineCollection(list(lines), colors="#d8d8d8" if faint else color, linewidths=width, zorder=1)
        )


def _png(figure: Figure) -> bytes:
    file = BytesIO()
    with mpl.rc_context({"font.size": 10}):
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()

"""Report: a page about a run of the benchmark: response times, tolls and speeds as answered, throughput."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.page import Sheet, page
from australis.apps.linear_road.pictures import Picture, canvas, legend, picture, pictures, use_style
from australis.apps.linear_road.record import EAST, LIMITS, REPORT, SEGMENTS, TOLL
from australis.apps.linear_road.survey import survey
from australis.apps.linear_road.validation import Verdict
from australis.apps.linear_road.validation.answers import AnswerFile, answers
from australis.apps.linear_road.validation.verdict import NAMES

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
_SHOWN = 4000  # points of a kind of answer in a picture
_SPEEDS = ("speeds-east", "speeds-west")


def report(
    feed: Feed, output: Path, verdict: Verdict, speed: float, batches: Iterable[dict[str, Any]], about: str
) -> str:
    """The page of a run: the verdict, and pictures of its answers."""
    read = answers(output)
    with use_style():
        drawn = [_responses(read, speed), _throughput(list(batches)), *_maps(feed, read)]
    drawn += [each for each in pictures(survey(feed)) if each.name in _SPEEDS]
    head = ("answers", "due", "right", "faults", "median s", "p99 s", "worst s", "limit s")
    return page(
        "Linear Road", about, [Sheet(head, [*map(_row, verdict.tallies)], "Seconds from question to answer.")], drawn
    )


def _row(tally: Any) -> tuple[str, ...]:
    times = ("-" if each is None else f"{each:.2f}" for each in (tally.median, tally.p99, tally.worst))
    right = "not checked" if tally.unchecked else f"{tally.right:,}"
    counts = (f"{tally.due:,}", right, f"{tally.faults:,}")
    return NAMES[tally.type], *counts, *times, f"{LIMITS[tally.type]:g}"


def _responses(read: AnswerFile, speed: float) -> Picture:
    """Response times against the limits."""
    figure, axes = canvas(3.8)
    for color, (kind, typed) in zip(_COLORS, read.answers.items(), strict=True):
        rows = np.linspace(0, max(len(typed.time) - 1, 0), min(_SHOWN, len(typed.time))).astype(int)
        took = typed.emit[rows] - typed.time[rows] / speed
        axes.plot(typed.time[rows] / 60, took, ".", markersize=2, color=color, label=NAMES[kind])
    for limit in sorted(set(LIMITS.values())):
        axes.axhline(limit, color="#8a8a8a", linestyle="--", linewidth=1)
        place = {"xy": (0, limit), "xycoords": ("axes fraction", "data"), "va": "bottom"}
        axes.annotate(f" limit {limit:g} s", **place, fontsize=8, color="#8a8a8a")
    axes.set_yscale("log")
    axes.set_xlabel("time (minutes)")
    axes.set_ylabel("response (seconds)")
    axes.set_title("Response times")
    legend(axes)
    for handle in axes.get_legend().legend_handles:
        handle.set_markersize(8)
    caption = f"From question to answer, at {speed:g} times real time. Limits are 5, 10 and 30 seconds."
    return picture(figure, "responses", "Response times", caption)


def _throughput(batches: list[dict[str, Any]]) -> Picture:
    """Tuples a second of each batch."""
    figure, axes = canvas(3.0)
    rates = [each["taken"]["sent"] / max(each["seconds"], 1e-3) for each in batches]
    axes.step(np.cumsum([each["seconds"] for each in batches]), rates, where="post", color=_COLORS[0])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time in batches (seconds)")
    axes.set_ylabel("tuples a second")
    axes.set_title("Throughput")
    axes.grid(axis="y")
    caption = "Tuples that each batch took, by the second of its own time: what the run could have taken."
    return picture(figure, "throughput", "Throughput", caption)


def _maps(feed: Feed, read: AnswerFile) -> list[Picture]:
    """LAV and tolls of the notifications, by minute and segment, eastbound."""
    notifications = read.answers[TOLL]
    where = _places(feed, notifications.key)
    east = np.flatnonzero((where >= 0) & (where // SEGMENTS == EAST))
    minutes = notifications.time // 60 if len(notifications.time) else np.zeros(1, np.int64)
    first, shape = int(minutes.min()), (int(np.ptp(minutes)) + 1, SEGMENTS)
    minute, seg = notifications.time[east] // 60 - first, where[east] % SEGMENTS
    drawn = []
    for name, title, values, colors, unit in (
        ("lav", "Latest average velocities, eastbound", notifications.first, "magma", "mph"),
        ("tolls", "Tolls, eastbound", notifications.second, "viridis", "toll"),
    ):
        answered = np.where(values[east] < 0, np.nan, values[east].astype(float))
        present = ~np.isnan(answered)
        total, count = (
            np.bincount((minute * SEGMENTS + seg)[present], weights, shape[0] * SEGMENTS).reshape(shape)
            for weights in (answered[present], None)
        )
        figure, axes = canvas(3.8)
        axes.set_facecolor("#ededed")
        mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        image = axes.imshow(
            mean.T,
            cmap=colors,
            origin="lower",
            aspect="auto",
            extent=(first, first + shape[0], 0, SEGMENTS),
            interpolation="nearest",
        )
        figure.colorbar(image, ax=axes, label=unit)
        axes.set_xlabel("time (minutes)")
        axes.set_ylabel("segment")
        axes.set_title(title)
        drawn.append(
            picture(figure, name, title, "As vehicles were told on entering a segment, on average in a minute.")
        )
    return drawn


def _places(feed: Feed, keys: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The direction and segment of reports by vehicle and second, as one number; -1 if there is no report."""
    report_keys, place = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for file in feed.files:
        for batch in feed.read(file):
            reports = batch["type"].to_numpy() == REPORT
            vid, time, dir, seg = (
                batch[name].to_numpy()[reports].astype(np.int64) for name in ("vid", "time", "dir", "seg")
            )
            report_keys.append((vid << 32) + time)
            place.append(dir * SEGMENTS + seg)
    every, places = np.concatenate(report_keys), np.concatenate(place)
    order = np.argsort(every)
    at = np.minimum(np.searchsorted(every[order], keys), max(len(every) - 1, 0))
    return np.where(every[order][at] == keys, places[order][at], -1)

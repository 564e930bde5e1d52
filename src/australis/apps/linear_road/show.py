"""Show: pictures of an expressway's traffic, to see whether it is realistic (3.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.page import Sheet, page
from australis.apps.linear_road.pictures import pictures
from australis.apps.linear_road.speed_spread import ORIGINAL, SpeedSpread, spread
from australis.apps.linear_road.survey import survey
from australis.errors import RunError

PAGE = "index.html"
_PAPER = {
    "reports": ("position reports", 12_000_000),
    "vehicles": ("vehicles", 150_000),
    "accidents": ("accidents", 9),
    "balance": ("requests for an account's balance", 60_000),
    "expenditure": ("requests for a day's expenditure", 12_000),
    "travel": ("requests for a travel time", 48_000),
    "notifications": ("toll notifications", 2_000_000),
    "alerts": ("accident alerts", 28_000),
}
"""The paper's figures for an expressway in three hours: an accident in 20 minutes, 40% of requests for travel times."""


def show(
    feed: Feed, out: Path, on_progress: Callable[[int], None] | None = None, xway: int | None = None
) -> list[Path]:
    """Write pictures of an expressway, by default of the first one, and a page with them; returns the files.

    `on_progress` is called with the second that was read.
    """
    surveyed = survey(feed, xway, on_progress)
    drawn = pictures(surveyed)
    minutes, names = len(surveyed.reports) // 60, ", ".join(file.name for file in surveyed.files)
    about = f"Expressway {surveyed.xway}, {minutes} minutes, from {names}"
    rows = [(words, f"{surveyed.totals[name]:,}", f"{paper:,}") for name, (words, paper) in _PAPER.items()]
    sheet = Sheet(("", "here", "the paper"), rows, "The paper's figures are rounded, and are for three hours.")
    text = page("Linear Road traffic", about, [sheet, _spread(spread(surveyed))], drawn)
    contents = {f"{picture.name}.png": picture.png for picture in drawn} | {PAGE: text.encode()}
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (Path(out) / name).write_bytes(content)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); give another folder") from None
    return [Path(out) / name for name in contents]


def _spread(measured: SpeedSpread) -> Sheet:
    """The spread of speeds and entries, beside that of the original data."""
    rows = []
    for lane in (1, 2, 3):
        words = f"standard deviation of speeds in lane {lane} (mph)"
        rows.append((words, f"{measured.deviations[lane]:.1f}", f"{ORIGINAL.deviations[lane]:.1f}"))
    rows.append(("reports below 40 mph in travel lanes", f"{measured.slow:.1%}", f"{ORIGINAL.slow:.1%}"))
    rows.append(("reports from 70 mph on in travel lanes", f"{measured.fast:.1%}", f"{ORIGINAL.fast:.1%}"))
    for name, of in (("fewest", min), ("most", max)):
        words = f"entries in the ten segments with the {name}, beside the mean of ten"
        rows.append((words, f"{of(measured.entries):.0%}", f"{of(ORIGINAL.entries):.0%}"))
    note = "Speeds are those of the first five minutes, when traffic flows freely. The paper has entries uniform."
    return Sheet(("", "here", "the original"), rows, note)

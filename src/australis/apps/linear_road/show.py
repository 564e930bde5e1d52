"""Show: pictures of an expressway's traffic, for people to see whether it is real (3.1.1)."""

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
"""What the paper tells of an expressway in three hours: one accident in 20 minutes, 40% of requests travel times."""


def show(feed: Feed, out: Path, told: Callable[[int], None] | None = None, xway: int | None = None) -> list[Path]:
    """Write pictures of an expressway, the first one if not given, and a page that holds them; gives the files.

    `told` is called with the second that was read.
    """
    found = survey(feed, xway, told)
    drawn = pictures(found)
    minutes, names = len(found.reports) // 60, ", ".join(file.name for file in found.files)
    about = f"Expressway {found.xway}, {minutes} minutes, from {names}"
    rows = [(words, f"{found.totals[name]:,}", f"{paper:,}") for name, (words, paper) in _PAPER.items()]
    sheet = Sheet(("", "here", "the paper"), rows, "The paper's figures are rounded, and are for three hours.")
    text = page("Linear Road traffic", about, [sheet, _spread(spread(found))], drawn)
    contents = {f"{picture.name}.png": picture.png for picture in drawn} | {PAGE: text.encode()}
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (Path(out) / name).write_bytes(content)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); give another folder") from None
    return [Path(out) / name for name in contents]


def _spread(found: SpeedSpread) -> Sheet:
    """How far apart things lie, beside the original's data."""
    rows = []
    for lane in (1, 2, 3):
        words = f"standard deviation of speeds in lane {lane} (mph)"
        rows.append((words, f"{found.deviations[lane]:.1f}", f"{ORIGINAL.deviations[lane]:.1f}"))
    rows.append(("reports below 40 mph in travel lanes", f"{found.slow:.1%}", f"{ORIGINAL.slow:.1%}"))
    rows.append(("reports from 70 mph on in travel lanes", f"{found.fast:.1%}", f"{ORIGINAL.fast:.1%}"))
    for name, of in (("fewest", min), ("most", max)):
        words = f"entries in the ten segments with the {name}, beside the mean of ten"
        rows.append((words, f"{of(found.entries):.0%}", f"{of(ORIGINAL.entries):.0%}"))
    note = "Speeds are those of the first five minutes, when traffic flows freely. The paper has entries uniform."
    return Sheet(("", "here", "the original"), rows, note)

"""Show: pictures of an expressway's traffic, for people to see whether it is real (3.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from australis.errors import RunError
from australis.linear_road.feed import Feed
from australis.linear_road.page import page
from australis.linear_road.pictures import pictures
from australis.linear_road.survey import survey

PAGE = "index.html"


def show(feed: Feed, out: Path, told: Callable[[int], None] | None = None, xway: int | None = None) -> list[Path]:
    """Write pictures of an expressway, the first one if not given, and a page that holds them; gives the files.

    `told` is called with the second that was read.
    """
    found = survey(feed, xway, told)
    drawn = pictures(found)
    minutes, names = len(found.reports) // 60, ", ".join(file.name for file in found.files)
    about = f"Expressway {found.xway}, {minutes} minutes, from {names}"
    text = page("Linear Road traffic", about, found.totals, drawn)
    contents = {f"{picture.name}.png": picture.png for picture in drawn} | {PAGE: text.encode()}
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (Path(out) / name).write_bytes(content)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); give another folder") from None
    return [Path(out) / name for name in contents]

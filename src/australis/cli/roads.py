"""Inputs of Linear Road as its commands take them: read, checked and laid out, with a bar on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from australis.errors import RunError

if TYPE_CHECKING:
    from australis.apps.linear_road.feed import Feed

Input = Annotated[Path, typer.Option("--input", metavar="DIR_OR_FILE", help="A simulation, or a flat file.")]
InputPath = Annotated[Path, typer.Argument(metavar="DIR_OR_FILE", help="A simulation, or a flat file.")]
Copies = Annotated[int | None, typer.Option(metavar="K", min=1, help="Present each expressway as K of them.")]
Speed = Annotated[str, typer.Option(metavar="K", help="How many times as fast as the clock, or `max`.")]
History = Annotated[Path | None, typer.Option("--history", metavar="DIR", help="Ten weeks that `history` made.")]


def check_answerable(stream: Feed, past: Path | None, path: Path) -> int:
    """Check before Spark starts that an input is valid and that all of its requests can be answered; its tuples."""
    from australis.apps.linear_road.census import check_answerable as check

    counts = count_tuples(stream)
    check(counts, past, path)
    return sum(counts.values()) * stream.copies


def count_tuples(stream: Feed) -> dict[int, int]:
    """Count the tuples of each type, and check all of them."""
    from australis.apps.linear_road.census import census

    with bar("checking", stream.note.get("seconds")) as on_progress:
        return census(stream, on_progress)


def write(path: Path, text: str) -> None:
    """Write a file that was asked for."""
    try:
        path.write_text(text)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}; choose a file that can be written to") from None


def times(text: str) -> float:
    """How many times as fast as the clock an input goes: a number, or infinity for `max`."""
    from australis.cli.arguments import pace
    from australis.connectors.sources.replay import FASTEST

    speed = pace(text)
    return math.inf if speed >= FASTEST else speed


def laid_out(path: Path, copies: int | None, folder: Path) -> Feed:
    """A feed as the driver takes it. Flat files are laid out in a folder first, which a resumed run uses again."""
    from australis.apps.linear_road.feed import NOTE, feed
    from australis.apps.linear_road.road_layout import is_laid_out, lay_out

    stream = feed(path, copies)
    if is_laid_out(stream):
        return stream
    if (folder / NOTE).exists():
        return feed(folder, copies)
    with bar("laying out", None) as on_progress:
        return lay_out(stream, folder, on_progress)


@contextmanager
def bar(doing: str, whole: int | None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal. Yields a function that takes a number, or a stage and its share."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(doing, total=whole)

        def report(at: float | str, share: float | None = None) -> None:
            if isinstance(at, str):
                bar.update(task, description=at, completed=round(100 * (share or 0)), total=100)
            else:
                bar.update(task, completed=int(at))

        yield report

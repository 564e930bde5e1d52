"""The command line of moving objects: `australis moving simulate | show`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from australis.cli.groups import Commands
from australis.errors import RunError

app = Commands("Moving objects: a city of them, and pictures of it.")


@app.command()
def simulate(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write.")],
    objects: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many objects are on the roads at a time.")
    ] = 1000,
    new: Annotated[int, typer.Option(metavar="N", min=0, help="How many more begin at each moment.")] = 0,
    queries: Annotated[int, typer.Option(metavar="N", min=0, help="How many queries there are at a time.")] = 100,
    seconds: Annotated[int, typer.Option(metavar="T", min=1, help="How many seconds of it.")] = 100,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same bytes.")] = 1,
    form: Annotated[str, typer.Option("--format", metavar="NAME", help="Write arrow, csv or parquet.")] = "arrow",
    nodes: Annotated[Path | None, typer.Option(metavar="N.CSV", help="Crossings: node,x,y in metres.")] = None,
    edges: Annotated[Path | None, typer.Option(metavar="E.CSV", help="Roads: from,to,class and more.")] = None,
    every: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, help="How long it is from one moment to the next.")
    ] = 1,
    share: Annotated[
        float, typer.Option(metavar="P", help="The part of all objects that report at a moment, in turn.")
    ] = 1.0,
    vanish: Annotated[bool, typer.Option("--vanish/--stay", help="Objects that arrive end, or go elsewhere.")] = True,
    crowded: Annotated[bool, typer.Option("--crowded", help="Full roads are slow, and objects go around.")] = False,
    moving: Annotated[float, typer.Option(metavar="P", help="The part of queries that move with an object.")] = 0.5,
    nearest: Annotated[float, typer.Option(metavar="P", help="The part of queries for nearest neighbours.")] = 0.0,
    k: Annotated[int, typer.Option(metavar="N", min=1, help="How many neighbours they ask for.")] = 10,
    smallest: Annotated[
        float, typer.Option(metavar="P", help="The least part of the space that a rectangle covers.")
    ] = 0.0001,
    largest: Annotated[float, typer.Option(metavar="P", help="The largest part that one covers.")] = 0.01,
    renewed: Annotated[
        float, typer.Option(metavar="P", help="The part of queries that others replace at a moment.")
    ] = 0.0,
) -> None:
    """Let objects move on the roads of a city, and queries about them come and go.

    \b
    australis moving simulate --out city
    australis moving simulate --out paper --objects 10000 --new 100 \\
        --seconds 1000 --queries 50000
    """
    from australis.apps.city import roads
    from australis.apps.city.queries import Mix
    from australis.apps.city.simulate import City
    from australis.apps.city.simulate import simulate as run_simulation

    if (nodes is None) != (edges is None):
        raise RunError(f"--{'edges' if edges is None else 'nodes'}: is missing; roads are a pair of files")
    mix = Mix(queries, moving, nearest, smallest, largest, k, renewed)
    city = City(objects, seconds, seed, new, every, share, vanish, crowded, mix)
    ground = roads.read(nodes, edges) if nodes and edges else None
    with _bar("simulating", seconds) as on_progress:
        note = run_simulation(out, city, ground, form, on_progress)
    print(f"{out}: {note['reports']:,} reports, and {note['asked']:,} rows about queries")


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A simulated city.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write; else show/ in the city.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Answers: query, sign, object, time; else a watch box gives them."),
    ] = None,
    at: Annotated[int | None, typer.Option(metavar="SECOND", help="The moment to draw; else the middle.")] = None,
    objects: Annotated[int, typer.Option(metavar="N", min=1, help="About how many objects to show.")] = 2000,
    queries: Annotated[int, typer.Option(metavar="N", min=0, help="About how many queries to show.")] = 100,
) -> None:
    """Draw a city: a page that replays it, and its roads and a moment as PNG."""
    from australis.apps.city.folder import read_note
    from australis.apps.city.picture import show as draw

    with _bar("reading", read_note(folder)["city"]["seconds"]) as on_progress:
        pictures = draw(folder, out or folder / "show", answers, at, objects, queries, on_progress)
    for picture in pictures:
        print(picture)


@contextmanager
def _bar(doing: str, whole: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal. Yields a function that takes the second that was reached."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(doing, total=whole)
        yield lambda at: bar.update(task, completed=at)

"""The command line of Linear Road: `australis linear-road simulate | history | show | drive | run | rate | ...`."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from australis.cli import options
from australis.cli.groups import Commands
from australis.errors import RunError

if TYPE_CHECKING:
    from australis.apps.linear_road.feed import Feed

app = Commands("The benchmark of stream systems: its tools, and its run on Spark.")

Input = Annotated[Path, typer.Option("--input", metavar="DIR_OR_FILE", help="A simulation, or a flat file.")]
Given = Annotated[Path, typer.Argument(metavar="DIR_OR_FILE", help="A simulation, or a flat file.")]
Copies = Annotated[
    int | None, typer.Option(metavar="K", min=1, help="Present each expressway as K of them, numbered apart.")
]
Speed = Annotated[str, typer.Option(metavar="K", help="How many times as fast as the clock, or `max`.")]


@app.command()
def simulate(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write.")],
    xways: Annotated[int, typer.Option(metavar="L", min=1, help="How many expressways.")] = 1,
    seconds: Annotated[int, typer.Option(metavar="T", min=1, help="How many seconds of traffic.")] = 10800,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same bytes.")] = 1,
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", help="Write arrow, parquet, or csv: the paper's flat file.")
    ] = "arrow",
    copies: Annotated[int, typer.Option(metavar="K", min=1, help="Let readers present each expressway as K.")] = 1,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a simulation that is there.")] = False,
) -> None:
    """Simulate the traffic of a rush hour, vehicle by vehicle.

    \b
    australis linear-road simulate --out road
    australis linear-road simulate --out roads --xways 10 --seed 7
    """
    from australis.apps.linear_road.simulation.simulate import simulate as made

    with _bar("simulating", seconds) as told:
        note = made(out, xways, seconds, seed, form, copies, told, replace=replace)
    requests = sum(note["requests"].values())
    print(
        f"{out}: {note['reports']:,} reports of {note['vehicles']:,} vehicles, {requests:,} requests,"
        f" {len(note['accidents'])} accidents" + (f"; read as {copies * xways} expressways" if copies > 1 else "")
    )


@app.command()
def history(
    given: Given,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write; else history/ in the input.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="The seed; else that of the simulation.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write the paper's flat files as well.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a history that is there.")] = False,
) -> None:
    """Make ten weeks of tolls and traffic for an input, with Spark."""
    from australis.apps.linear_road.feed import feed
    from australis.apps.linear_road.history import generate

    if out is None and not given.is_dir():
        raise RunError(f"{given}: is no folder; say with --out where the history goes")
    generate(feed(given), out or given / "history", seed, csv=csv, told=print, replace=replace)


@app.command()
def show(
    given: Given,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write; else show/ in the input.")
    ] = None,
) -> None:
    """Draw the traffic: speeds in space and time, reports a second, tolls; as PNG and one HTML page."""
    from australis.apps.linear_road.feed import feed
    from australis.apps.linear_road.show import show as drawn

    with _bar("reading", None) as told:
        pictures = drawn(feed(given), out or (given if given.is_dir() else given.parent) / "show", told=told)
    for picture in pictures:
        print(picture)


@app.command()
def drive(
    given: Given,
    to: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Connect to this system.")] = None,
    listen: Annotated[str | None, typer.Option(metavar="[HOST:]PORT", help="Wait here for clients.")] = None,
    connections: Annotated[int, typer.Option(metavar="N", min=1, help="Divide the lines over so many.")] = 1,
    by: Annotated[str, typer.Option(metavar="NAME", help="What they are divided by: vid or xway.")] = "vid",
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When time 0 is: a date and time, or seconds since 1970.")
    ] = None,
    speed: Speed = "1",
    copies: Copies = None,
) -> None:
    """Send the stream to another system over a socket, each line at its time; else to the standard output.

    \b
    australis linear-road drive road --to localhost:5000
    australis linear-road drive road --listen 5000 --speed 10
    australis linear-road drive road --to localhost:5000 --connections 4 --by xway
    """
    from australis.apps.linear_road import clock
    from australis.apps.linear_road.drive import drive as driven
    from australis.apps.linear_road.drive import opened
    from australis.apps.linear_road.feed import feed

    worst, times = 0.0, _speed(speed)
    stream, begins = feed(given, copies), None if since is None else clock.moment(since, "--since")
    if math.isfinite(times):  # what is wrong is better told now than in an hour
        _counted(stream)
    with opened(to, listen, connections) as others, _bar("driving", stream.note.get("seconds")) as told:

        def heard(second: int, late: float) -> None:
            nonlocal worst
            worst = max(worst, late)
            told(second)

        def announced(began: float) -> None:
            if math.isfinite(times) or since is not None:
                print(f"time 0 is {clock.told(began)}", file=sys.stderr)

        lines = driven(stream, others, times, heard, by=by, since=begins, announced=announced)
    print(f"{lines:,} lines, at most {worst:.3f} s late", file=sys.stderr)


@app.command()
def run(
    given: Input,
    output: Annotated[Path, typer.Option(metavar="FILE", help="The flat file of all answers.")],
    past: Annotated[
        Path | None, typer.Option("--history", metavar="DIR", help="Ten weeks that `history` made.")
    ] = None,
    speed: Speed = "1",
    copies: Copies = None,
    lead: Annotated[int, typer.Option(metavar="SECONDS", min=0, help="Take so much of the input at once first.")] = 0,
    master: options.Master = None,
    checkpoint: options.Checkpoint = None,
    partitions: options.Partitions = None,
    metrics: options.Metrics = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the benchmark on Spark: all answers to an input, in one flat file.

    \b
    australis linear-road history road
    australis linear-road run --input road --history road/history --output a.csv
    """
    import tempfile

    from australis.apps.linear_road.benchmark import Benchmark
    from australis.apps.linear_road.past import opened
    from australis.cli import arguments as texts
    from australis.cli import run as command
    from australis.connectors.address import address
    from australis.connectors.binding import bind_sinks, bind_sources

    with tempfile.TemporaryDirectory(prefix="australis-") as folder:
        roads = Path(folder) if checkpoint is None else checkpoint.with_name(f"{checkpoint.name}.roads")
        stream = _laid(given, copies, roads)
        _check_answerable(stream, past, given)
        bench = Benchmark(stream, output, None if past is None else opened(past, stream), _speed(speed), lead)
        named = bench.named
        telling = command.Telling(
            title=str(given),
            again=shlex.join(["australis", *sys.argv[1:]]),
            json=json,
            quiet=quiet,
            kept=checkpoint is not None,
            sinks={"answers": str(output)},
        )
        status = command.main(
            bench.network,
            bind_sources(bench.network, named),
            bind_sinks(bench.network, named),
            telling,
            checkpoint=checkpoint,
            master=texts.master(master),
            partitions=partitions,
            metrics=None if metrics is None else address(metrics),
            started=bench.watch,
        )
    raise typer.Exit(status)


@app.command()
def rate(
    given: Input,
    past: Annotated[
        Path | None, typer.Option("--history", metavar="DIR", help="Ten weeks that `history` made.")
    ] = None,
    first: Annotated[int, typer.Option("--from", metavar="L", min=1, help="Begin with so many expressways.")] = 1,
    most: Annotated[int, typer.Option("--to", metavar="L", min=1, help="Try no more than these.")] = 1024,
    since: Annotated[int, typer.Option(metavar="SECOND", min=0, help="Leave out the input before this.")] = 0,
    lead: Annotated[
        int | None, typer.Option(metavar="SECOND", min=0, help="Take the input at full speed up to here.")
    ] = None,
    minutes: Annotated[float, typer.Option(metavar="T", min=0.1, help="How long to go at real time.")] = 10,
    full: Annotated[
        bool, typer.Option("--full", help="Take all of the input at real time: three hours a trial.")
    ] = False,
    json: Annotated[Path | None, typer.Option(metavar="OUT.JSON", help="Write all figures here.")] = None,
) -> None:
    """Find the L-rating: the most expressways that are answered right and in time at real time.

    Every trial takes the input at full speed up to the busiest part, which is its end, and that at real time. With
    --since the full speed part begins later, and the road is full from its first second on.

    \b
    australis linear-road rate --input road --history road/history --from 64
    """
    import json as written

    from rich.console import Console

    from australis.apps.linear_road.past import opened
    from australis.apps.linear_road.rate import Span, ratings
    from australis.apps.linear_road.roads import laid
    from australis.apps.linear_road.standing import sheet
    from australis.bench.machine import machine
    from australis.engine.spark.session import session

    if first > most:
        raise RunError(f"--from {first} --to {most}: give no more expressways to begin with than to end with")
    stream = _feed(given)
    if not laid(stream):
        raise RunError(f"{given}: a rating takes a folder that `simulate` made, as arrow")
    _check_answerable(stream, past, given)
    end = int(stream.note["seconds"])
    live = round(60 * minutes)
    if full:
        span = Span(since, since, end)
    else:
        span = Span(since, end - live, end) if lead is None else Span(since, lead, min(end, lead + live))
    console = Console(highlight=False)
    spark, ours = session()
    trials = []
    try:
        with console.status("starting") as status:
            for each in ratings(
                stream,
                span,
                first,
                most,
                lambda copied: None if past is None else opened(past, copied),
                spark=spark,
                told=status.update,
            ):
                trials.append(each)
                console.print(sheet(each))
        where = machine(spark)
    finally:
        if ours:
            spark.stop()
    best = max((each.xways for each in trials if each.verdict.ok), default=0)
    console.print(f"L-rating {best}: {span}; " + ", ".join(f"{name} {value}" for name, value in where.items()))
    copied = next((each.copied for each in trials if each.xways == best), 1)
    if copied > 1:
        console.print(f"{stream.xways} simulated expressways, each presented as {copied}")
    if json is not None:
        found = {"rating": best, "span": str(span), "machine": where, "trials": [each.as_dict() for each in trials]}
        _written(json, written.dumps(found, indent=2))


@app.command()
def validate(
    given: Input,
    output: Annotated[list[str], typer.Option(metavar="FILE,..", help="The answers, in one file or several.")],
    past: Annotated[
        Path | None, typer.Option("--history", metavar="DIR", help="The ten weeks that the run was given.")
    ] = None,
    speed: Speed = "1",
    copies: Copies = None,
    since: Annotated[int, typer.Option(metavar="SECONDS", min=0, help="Leave out what was asked before.")] = 0,
    began: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When time 0 was, if Emit is the time of day.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write the verdict as a JSON object.")] = False,
) -> None:
    """Recompute every answer from the input alone, and compare; the status is 0 if all is well."""
    import json as written

    from australis.apps.linear_road.clock import moment
    from australis.apps.linear_road.feed import feed
    from australis.apps.linear_road.past import opened
    from australis.apps.linear_road.validation import validate as validated

    answers = options.paths(output, "--output")
    stream = feed(given, copies)
    with _bar("validating", None) as told:
        verdict = validated(
            stream,
            answers,
            None if past is None else opened(past, stream),
            speed=_speed(speed),
            since=since,
            began=0.0 if began is None else moment(began, "--began"),
            told=told,
        )
    print(written.dumps(verdict.as_dict()) if json else verdict.text())
    raise typer.Exit(0 if verdict.ok else 1)


def _feed(path: Path) -> Feed:
    from australis.apps.linear_road.feed import feed

    return feed(path)


def _check_answerable(stream: Feed, past: Path | None, given: Path) -> None:
    """Read all of an input before Spark starts: is it as it should be, and can all of it be answered?"""
    from australis.apps.linear_road.census import check_answerable

    check_answerable(_counted(stream), past, given)


def _counted(stream: Feed) -> dict[int, int]:
    """How many tuples of each type there are; all of them have been checked then."""
    from australis.apps.linear_road.census import census

    with _bar("checking", stream.note.get("seconds")) as told:
        return census(stream, told)


def _written(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}; choose a file that can be written to") from None


def _speed(text: str) -> float:
    from australis.cli.arguments import FASTEST, pace

    times = pace(text)
    return math.inf if times >= FASTEST else times


def _laid(path: Path, copies: int | None, folder: Path) -> Feed:
    """A feed as the driver takes it; flat files are laid out in a folder first, where a run that goes on finds them."""
    from australis.apps.linear_road.feed import NOTE, feed
    from australis.apps.linear_road.roads import laid, lay

    found = feed(path, copies)
    if laid(found):
        return found
    if (folder / NOTE).exists():
        return feed(folder, copies)
    with _bar("laying out", None) as told:
        return lay(found, folder, told)


@contextmanager
def _bar(doing: str, whole: int | None) -> Iterator[Callable[..., None]]:
    """A bar of progress on a terminal; gives what is to be told of it, a number or a stage and its share."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(doing, total=whole)

        def told(at: float | str, share: float | None = None) -> None:
            if isinstance(at, str):
                bar.update(task, description=at, completed=round(100 * (share or 0)), total=100)
            else:
                bar.update(task, completed=int(at))

        yield told

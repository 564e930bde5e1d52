"""The command line of Linear Road: `australis linear-road simulate | history | flood | run | rate | ...`."""

from __future__ import annotations

import math
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from australis.cli import options
from australis.cli.groups import Commands
from australis.cli.roads import (
    Copies,
    History,
    Input,
    InputPath,
    Speed,
    bar,
    check_answerable,
    count_tuples,
    laid_out,
    times,
    write,
)
from australis.errors import RunError

app = Commands("The benchmark of stream systems: its tools, and its run on Spark.")

_MEASURED = 20
"""In how many batches an input is taken, at least, where costs are measured: the first ones compile."""


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
    from australis.apps.linear_road.simulation.simulate import simulate as run_simulation

    with bar("simulating", seconds) as on_progress:
        note = run_simulation(out, xways, seconds, seed, form, copies, on_progress, replace=replace)
    requests = sum(note["requests"].values())
    print(
        f"{out}: {note['reports']:,} reports of {note['vehicles']:,} vehicles, {requests:,} requests,"
        f" {len(note['accidents'])} accidents" + (f"; read as {copies * xways} expressways" if copies > 1 else "")
    )


@app.command()
def history(
    path: InputPath,
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

    if out is None and not path.is_dir():
        raise RunError(f"{path}: is no folder; say with --out where the history goes")
    generate(feed(path), out or path / "history", seed, csv=csv, on_progress=print, replace=replace)


@app.command()
def show(
    path: InputPath,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write; else show/ in the input.")
    ] = None,
) -> None:
    """Draw the traffic: speeds in space and time, reports a second, tolls; as PNG and one HTML page."""
    from australis.apps.linear_road.feed import feed
    from australis.apps.linear_road.show import show as draw

    with bar("reading", None) as on_progress:
        pictures = draw(feed(path), out or (path if path.is_dir() else path.parent) / "show", on_progress=on_progress)
    for picture in pictures:
        print(picture)


@app.command()
def drive(
    path: InputPath,
    to: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Connect to this system.")] = None,
    listen: Annotated[str | None, typer.Option(metavar="[HOST:]PORT", help="Wait here for clients.")] = None,
    connections: Annotated[int, typer.Option(metavar="N", min=1, help="Divide the lines over N connections.")] = 1,
    by: Annotated[str, typer.Option(metavar="NAME", help="Divide them by vid or xway.")] = "vid",
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
    from australis.apps.linear_road.drive import drive as send
    from australis.apps.linear_road.drive import open_connections
    from australis.apps.linear_road.feed import feed

    worst, rate = 0.0, times(speed)
    stream, begins = feed(path, copies), None if since is None else clock.moment(since, "--since")
    if math.isfinite(rate):  # a mistake is better reported now than in an hour
        count_tuples(stream)
    with (
        open_connections(to, listen, connections) as others,
        bar("driving", stream.note.get("seconds")) as on_progress,
    ):

        def record(second: int, late: float) -> None:
            nonlocal worst
            worst = max(worst, late)
            on_progress(second)

        def announce(began: float) -> None:
            if math.isfinite(rate) or since is not None:
                print(f"time 0 is {clock.show_moment(began)}", file=sys.stderr)

        lines = send(stream, others, rate, record, by=by, since=begins, announce=announce)
    print(f"{lines:,} lines, at most {worst:.3f} s late", file=sys.stderr)


@app.command()
def flood(
    path: InputPath,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write: the input and the flood.")],
    rate: Annotated[
        float, typer.Option("--rate", metavar="N", help="How many requests a second, for each copy of the input.")
    ],
    since: Annotated[int, typer.Option("--from", metavar="SECOND", min=0, help="When the flood begins.")] = 0,
    until: Annotated[
        int | None, typer.Option("--to", metavar="SECOND", min=1, help="When it ends; else with the input.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same requests.")] = 1,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a simulation that is there.")] = False,
) -> None:
    """Lay a flood of requests for travel times over an input.

    \b
    australis linear-road flood road --out flooded --rate 2000 --from 1200
    """
    from australis.apps.linear_road.feed import feed
    from australis.apps.linear_road.flood import flood as lay_over

    stream = feed(path)
    note = lay_over(stream, out, rate, since, until, seed, replace=replace)
    print(f"{out}: {note['queries'] - stream.queries:,} requests for travel times more than in {path}")


@app.command()
def network(
    flooded: Annotated[
        bool, typer.Option("--flood", help="Let travel times be shed where not all can be answered in time.")
    ] = False,
) -> None:
    """Print the network with the worth of its answers, for `run --network`.

    \b
    australis linear-road network --flood > road.yaml
    """
    from australis.apps.linear_road.network_file import network_text

    print(network_text(flooded), end="")


@app.command()
def run(
    path: Input,
    output: Annotated[Path, typer.Option(metavar="FILE", help="The flat file of all answers.")],
    past: History = None,
    speed: Speed = "1",
    copies: Copies = None,
    lead: Annotated[
        int, typer.Option(metavar="SECONDS", min=0, help="Take the first SECONDS of the input at once.")
    ] = 0,
    file: Annotated[
        Path | None,
        typer.Option(
            "--network", metavar="FILE", help="A file as `network` prints it: by its graphs, answers may be shed."
        ),
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(metavar="FILE.JSON", help="Write what the boxes cost here, for `australis check`."),
    ] = None,
    master: options.Master = None,
    checkpoint: options.Checkpoint = None,
    partitions: options.Partitions = None,
    headroom: options.Headroom = None,
    metrics: options.Metrics = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the benchmark on Spark: all answers to an input, in one flat file.

    \b
    australis linear-road history road
    australis linear-road run --input road --history road/history --output a.csv

    All is answered, however late, unless a --network says what may be shed. What was is noted in OUTPUT.shed.json.
    """
    import tempfile

    from australis.apps.linear_road.benchmark import Benchmark
    from australis.apps.linear_road.road_history import open_history
    from australis.apps.linear_road.shed_note import note_of, write_note
    from australis.cli import arguments as texts
    from australis.cli import run as command
    from australis.cli.measure import measured_costs
    from australis.connectors.address import address
    from australis.connectors.binding import bind_sinks, bind_sources

    with tempfile.TemporaryDirectory(prefix="australis-") as folder:
        roads = Path(folder) if checkpoint is None else checkpoint.with_name(f"{checkpoint.name}.roads")
        stream = laid_out(path, copies, roads)
        tuples = check_answerable(stream, past, path)
        history = None if past is None else open_history(past, stream)
        bench = Benchmark(stream, output, history, times(speed), lead, file=file)
        connectors = bench.named
        reporter = command.RunReporter(
            title=str(path),
            again=shlex.join(["australis", *sys.argv[1:]]),
            json=json,
            quiet=quiet,
            resumable=checkpoint is not None,
            sinks={"answers": str(output)},
        )
        status = command.main(
            bench.network,
            bind_sources(bench.network, connectors),
            bind_sinks(bench.network, connectors),
            reporter,
            checkpoint=checkpoint,
            master=texts.master(master),
            partitions=partitions,
            headroom=headroom,
            train=None if costs is None else max(tuples // _MEASURED, 1),
            optimize=costs is None,  # else boxes are not those of the file
            metrics=None if metrics is None else address(metrics),
            started=bench.watch,
        )
        if bench.run is not None:
            shed = write_note(bench.run, output)
            if shed:
                reporter.say(f"{note_of(output)}: what was shed, for `validate --shed`")
            if costs is not None:
                write(costs, measured_costs(bench.network, bench.run.measures()).render())
    raise typer.Exit(status)


@app.command()
def rate(
    path: Input,
    past: History = None,
    first: Annotated[int, typer.Option("--from", metavar="L", min=1, help="Begin with L expressways.")] = 1,
    most: Annotated[int, typer.Option("--to", metavar="L", min=1, help="Try at most L expressways.")] = 1024,
    since: Annotated[int, typer.Option(metavar="SECOND", min=0, help="Leave out the input before this second.")] = 0,
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
    import json as json_module

    from rich.console import Console

    from australis.apps.linear_road.feed import feed
    from australis.apps.linear_road.rate import Span, ratings
    from australis.apps.linear_road.road_history import open_history
    from australis.apps.linear_road.road_layout import is_laid_out
    from australis.apps.linear_road.trial_sheet import sheet
    from australis.bench.machine import machine
    from australis.engine.spark.session import session

    if first > most:
        raise RunError(f"--from {first} --to {most}: give no more expressways to begin with than to end with")
    stream = feed(path)
    if not is_laid_out(stream):
        raise RunError(f"{path}: a rating takes a folder that `simulate` made, as arrow")
    check_answerable(stream, past, path)
    end = int(stream.note["seconds"])
    live = round(60 * minutes)
    if full:
        span = Span(since, since, end)
    else:
        span = Span(since, end - live, end) if lead is None else Span(since, lead, min(end, lead + live))
    console = Console(highlight=False)
    spark, own_session = session()
    trials = []
    try:
        with console.status("starting") as status:
            for each in ratings(
                stream,
                span,
                first,
                most,
                lambda copied: None if past is None else open_history(past, copied),
                spark=spark,
                on_progress=status.update,
            ):
                trials.append(each)
                console.print(sheet(each))
        where = machine(spark)
    finally:
        if own_session:
            spark.stop()
    best = max((each.xways for each in trials if each.verdict.ok), default=0)
    console.print(f"L-rating {best}: {span}; " + ", ".join(f"{name} {value}" for name, value in where.items()))
    copied = next((each.copied for each in trials if each.xways == best), 1)
    if copied > 1:
        console.print(f"{stream.xways} simulated expressways, each presented as {copied}")
    if json is not None:
        figures = {"rating": best, "span": str(span), "machine": where, "trials": [each.as_dict() for each in trials]}
        write(json, json_module.dumps(figures, indent=2))


@app.command()
def validate(
    path: Input,
    output: Annotated[list[str], typer.Option(metavar="FILE,..", help="The answers, in one file or several.")],
    past: Annotated[
        Path | None, typer.Option("--history", metavar="DIR", help="The ten weeks that the run was given.")
    ] = None,
    speed: Speed = "1",
    copies: Copies = None,
    since: Annotated[int, typer.Option(metavar="SECONDS", min=0, help="Leave out requests before this second.")] = 0,
    began: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When time 0 was, if Emit is the time of day.")
    ] = None,
    shed: Annotated[
        Path | None,
        typer.Option(metavar="FILE.JSON", help="What the run says it shed: just as many may be missing."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write the verdict as a JSON object.")] = False,
) -> None:
    """Recompute every answer from the input alone, and compare; the status is 0 if all is well."""
    import json as json_module

    from australis.apps.linear_road.clock import moment
    from australis.apps.linear_road.feed import feed
    from australis.apps.linear_road.road_history import open_history
    from australis.apps.linear_road.validation import validate as run_validation
    from australis.apps.linear_road.validation.shed import read_shed

    answers = options.paths(output, "--output")
    stream = feed(path, copies)
    with bar("validating", None) as on_progress:
        verdict = run_validation(
            stream,
            answers,
            None if past is None else open_history(past, stream),
            speed=times(speed),
            since=since,
            began=0.0 if began is None else moment(began, "--began"),
            shed=None if shed is None else read_shed(shed),
            on_progress=on_progress,
        )
    print(json_module.dumps(verdict.as_dict()) if json else verdict.text())
    raise typer.Exit(0 if verdict.ok else 1)

"""The command line of measurements: `australis bench start | boxes | engine | overload | signals`, and others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from australis.cli import options
from australis.cli.groups import Commands
from australis.errors import RunError

app = Commands("Measurements.")

_PEERS = ("duckdb", "polars", "protobuf")
"""Packages that only benchmarks need, to compare with."""
Figures = Annotated[Path | None, typer.Option("--json", metavar="OUT.JSON", help="Write the figures here.")]


@app.command()
def start(
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="How often to measure each, in turn.")] = 5,
    spark: Annotated[bool, typer.Option("--spark/--no-spark", help="Start Spark too, or leave it out.")] = True,
    json: Figures = None,
) -> None:
    """Measure how long importing, a help text and small runs take to start, and why."""
    _bench("start")(repeat=repeat, spark=spark, json=json)


@app.command()
def boxes(
    tuples: Annotated[int, typer.Option(metavar="N", min=1, help="How many tuples go through each box.")] = 10_000_000,
    train: Annotated[int, typer.Option(metavar="N", min=1, help="How many tuples are in a train.")] = 65_536,
    json: Figures = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="How often to measure.")] = 3,
    only: Annotated[list[str] | None, typer.Option(metavar="BOX,..", help="Measure only these.")] = None,
) -> None:
    """Measure how many tuples a second each box takes."""
    measure = _bench("boxes")
    measure(tuples=tuples, train=train, repeat=repeat, json=json, only=",".join(options.several(only)))


@app.command()
def engine(
    tuples: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many tuples go through each network.")
    ] = 10_000_000,
    json: Figures = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="How often to measure.")] = 5,
    only: Annotated[list[str] | None, typer.Option(metavar="WORKLOAD,..", help="Measure only these.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Measure a million tuples, once.")] = False,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the tuples here for the next time.")] = None,
) -> None:
    """Measure whole networks on Spark beside plain Spark."""
    measure = _bench("engine")
    measure(count=tuples, repeat=repeat, json=json, only=",".join(options.several(only)), quick=quick, data=data)


@app.command()
def scheduling(
    tuples: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many reports go through the forty boxes.")
    ] = 20_000,
    samples: Annotated[int, typer.Option(metavar="N", min=1, help="How many samples go through each application.")] = 1
    << 22,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="How often to measure, in turn.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Measure a tenth of it, once.")] = False,
    json: Figures = None,
) -> None:
    """Measure what scheduling takes: tuples, trains and superboxes (Aurora), and orders of boxes (XStream)."""
    _bench("scheduling")(tuples=tuples, samples=samples, repeat=repeat, quick=quick, json=json)


@app.command()
def soak(
    hours: Annotated[
        float, typer.Option(metavar="T", help="How much input, at ten thousand tuples a second; it runs at full speed.")
    ] = 1.0,
    json: Figures = None,
) -> None:
    """Watch memory and the checkpoint over a long run on Spark."""
    _bench("soak")(hours=hours, json=json)


@app.command()
def optimizer(
    seconds: Annotated[float, typer.Option(metavar="T", min=1, help="How long each order of the filters runs.")] = 40.0,
    quick: Annotated[bool, typer.Option("--quick", help="Run each for ten seconds.")] = False,
    json: Figures = None,
) -> None:
    """Measure how soon a run puts filters in a better order, and what outputs save that share a first half."""
    _bench("optimizer")(seconds=seconds, quick=quick, json=json)


@app.command()
def overload(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART,..",
            help="Measure only these: capacity, steps, curves, semantic, rate-control, grid, priorities, moving.",
        ),
    ] = None,
    capacity: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="The tuples a second that the machine holds, if that need not be found."),
    ] = None,
    headroom: Annotated[
        float, typer.Option(metavar="H", help="The part of the machine that runs may always use.")
    ] = 1.0,
    json: Figures = None,
    plots: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw the figures here.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter trials, in some minutes.")] = False,
) -> None:
    """Measure what outputs are worth beyond the capacity of the machine, beside random drops and none."""
    measure = _bench("overload")
    measure(
        only=",".join(options.several(only)), capacity=capacity, headroom=headroom, json=json, plots=plots, quick=quick
    )


@app.command()
def service(
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw the pictures of docs/quality_of_service.md here.")
    ] = None,
) -> None:
    """Simulate more than a machine holds, without Spark: who waits, what is shed, and what outputs are worth."""
    _bench("service")(plots=plots)


@app.command()
def flood(
    headroom: Annotated[
        float, typer.Option(metavar="H", help="The part of the machine that runs may always use.")
    ] = 0.8,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the input here for the next time.")] = None,
    json: Figures = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter trials, in two minutes.")] = False,
) -> None:
    """Measure Linear Road under a flood of requests, and with more reports than the machine holds."""
    _bench("flood")(headroom=headroom, data=data, json=json, quick=quick)


@app.command()
def signals(
    samples: Annotated[int, typer.Option(metavar="N", min=1, help="How many samples go through each application.")] = 1
    << 32,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the files here for the next time.")] = None,
    json: Figures = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="OUT.PNG", help="Draw the figures here, with OUT.md beside it.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="APPLICATION,..", help="Measure only these, such as statfilter.")
    ] = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="How often to measure, after once to warm up.")] = 3,
    quick: Annotated[bool, typer.Option("--quick", help="Measure a million samples, once.")] = False,
    day: Annotated[float, typer.Option(metavar="HOURS", help="Watch memory over HOURS of detectaudio instead.")] = 0.0,
) -> None:
    """Measure XStream's applications on Spark beside its own figures and bare kernels, and its figures 6 and 8."""
    if day:
        _bench("signal_day")(hours=day, json=json)
        return
    measure = _bench("signals")
    measure(
        samples=samples,
        data=data,
        json=json,
        plot=plot,
        only=",".join(options.several(only)),
        repeat=repeat,
        quick=quick,
    )


@app.command()
def moving(
    objects: Annotated[
        int, typer.Option(metavar="N", help="How many objects move, and report in every batch.")
    ] = 100_000,
    queries: Annotated[
        int, typer.Option(metavar="N", help="How many squares watch them; half of them move too.")
    ] = 50_000,
    nearest: Annotated[int, typer.Option(metavar="N", help="How many more queries ask for the ten nearest.")] = 10_000,
    batches: Annotated[int, typer.Option(metavar="N", help="How many batches, after the one with the queries.")] = 8,
    json: Figures = None,
    plots: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw the paper's experiments here.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Measure a twentieth of all, in half a minute.")] = False,
    paper: Annotated[
        bool, typer.Option("--paper/--no-paper", help="Do the paper's experiments too, or leave them out.")
    ] = True,
) -> None:
    """Measure queries about moving objects beside plain Spark and a tree, and do the SOLE paper's experiments."""
    measure = _bench("moving")
    measure(objects, queries, nearest, batches, json, plots, quick, paper)


def _bench(name: str) -> Callable[..., None]:
    """The function of a benchmark. It raises if a package that it compares with is not installed."""

    def measure(*args: Any, **options: Any) -> None:
        try:
            importlib.import_module(f"australis.bench.{name}").main(*args, **options)
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package in ("", "australis"):
                raise
            raise RunError(
                f"bench {name.partition('_')[0]}: it compares with {package}, which is not installed; pip install"
                f" {' '.join(dict.fromkeys((*_PEERS, package)))}, or run `make bench` in a clone, which installs them"
            ) from error

    return measure

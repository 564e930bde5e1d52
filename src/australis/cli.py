"""The command line: `australis check | explain | run | sql | demo | bench | linear-road | moving | signals`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from australis.commands import Commands, Group
from australis.errors import AustralisError, RunError
from australis.linear_road.command import app as linear_road
from australis.moving.command import app as moving_app
from australis.run import options
from australis.signals.command import app as signals_app
from australis.sql.command import sql

if TYPE_CHECKING:
    from rich.console import Console

    from australis.network import Network


class _Told(Group):
    """A mistake of the user is one line on the standard error; `--debug` shows where it was found."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except AustralisError as error:
            if ctx.params.get("debug"):
                raise
            print(f"australis: {error}", file=sys.stderr)
            raise typer.Exit(1) from error
        except typer.BadParameter as error:
            print(f"australis: {error.format_message()}", file=sys.stderr)
            raise typer.Exit(2) from error


app = Commands("Networks of boxes and arrows.", _Told, completion=True)
bench = Commands("Measurements.")
app.add_typer(bench, name="bench")
app.add_typer(linear_road, name="linear-road")
app.add_typer(moving_app, name="moving")
app.add_typer(signals_app, name="signals")
app.command()(sql)

_PEERS = ("duckdb", "polars", "protobuf")
"""What benchmarks compare with, and nothing else needs."""
File = Annotated[Path, typer.Argument(metavar="FILE", help="A network file; - is the standard input.")]
Figures = Annotated[Path | None, typer.Option("--json", metavar="OUT.JSON", help="Write the figures here.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"australis {version('australis')}")
        raise typer.Exit


@app.callback()
def main(
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the program a mistake was found.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def check(file: File, functions: options.Functions = None) -> None:
    """Say whether a network file is valid."""
    net = _load(file, functions)
    parts = ((net.inputs, "input"), (net.nodes, "box"), (net.outputs, "output"))
    name = "standard input" if str(file) == "-" else file
    print(f"{name}: valid; " + ", ".join(_count(len(things), name) for things, name in parts))


@app.command()
def explain(
    file: File,
    functions: options.Functions = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="OUT.SVG", help="Draw the network here too; - is the standard output.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show the stages that it runs in, too.")] = False,
) -> None:
    """Say what a network does, how it is partitioned and what it can hold."""
    net = _load(file, functions)
    print(net.explain(plan=plan), end="")
    if svg:
        _write(svg, net.svg())


@app.command()
def run(
    file: File,
    functions: options.Functions = None,
    source: options.Sources = None,
    sink: options.Sinks = None,
    checkpoint: options.Checkpoint = None,
    trigger: options.Trigger = None,
    train: options.Train = None,
    speed: options.Speed = None,
    strict: options.Strict = False,
    change: options.Change = False,
    master: options.Master = None,
    partitions: options.Partitions = None,
    json: options.Json = False,
    metrics: options.Metrics = None,
    quiet: options.Quiet = False,
    local: options.InProcess = False,
) -> None:
    """Run a network on Spark, to the end of its inputs or until Ctrl-C.

    \b
    australis run jams.yaml --source reports=reports.csv --sink jams=jams.csv
    australis run jams.yaml --source 'reports=reports/?follow=true' \\
        --sink jams=jams/ --checkpoint road
    australis run jams.yaml --source 'reports=replay:reports.csv?on=time' \\
        --speed 10 --metrics 9090

    The same command again goes on with the run of a checkpoint. Texts of sources and sinks: docs/sources_and_sinks.md.
    """
    from australis.run import given, standard

    net = _load(file, functions)
    chosen = options.Options(
        checkpoint, trigger, train, speed, strict, change, master, partitions, json, metrics
    )  # fmt: skip
    if local:
        chosen.none_given()
    sinks = given.named("--sink", sink)
    with standard.read(given.named("--source", source), chosen.elsewhere) as sources:
        if local:
            options.run_local(net, sources, sinks, strict, quiet)
            return
        raise typer.Exit(options.run(net, sources, sinks, chosen, str(file), quiet))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to leave everything in.")] = Path("demo"),
    seconds: Annotated[int, typer.Option(metavar="T", min=60, help="How many seconds of traffic to answer.")] = 1200,
    lead: Annotated[int, typer.Option(metavar="T", min=0, help="How many seconds come before, at once.")] = 1800,
    speed: Annotated[float, typer.Option(metavar="K", min=1, help="How many times as fast as real time.")] = 20.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed gives another traffic.")] = 1,
) -> None:
    """Answer twenty minutes of Linear Road on Spark: simulated, run, validated, and drawn in one page.

    The exit status is 1 if an answer is wrong or missing. Late answers are told, and are no failure: how late they
    are depends on what else the machine does.
    """
    from australis.linear_road.demo import demo as done

    console = _console()
    with console.status("") as status:
        made = done(out, status.update, seconds, seed, speed, lead)
    verdict = made.verdict
    console.print(verdict.text(), highlight=False, markup=False, soft_wrap=True)
    console.print(f"\n{made.traffic}\nAll of it in pictures: {made.page}", highlight=False, soft_wrap=True)
    if verdict.right and verdict.late:
        print(
            f"australis: {verdict.late:,} right answers came late, as the machine was busy; try a lower --speed than"
            f" {speed:g}",
            file=sys.stderr,
        )
    raise typer.Exit(0 if verdict.right else 1)


@bench.command()
def boxes(
    tuples: Annotated[int, typer.Option(metavar="N", min=1, help="How many go through each box.")] = 10_000_000,
    train: Annotated[int, typer.Option(metavar="N", min=1, help="How many are in a train.")] = 65_536,
    json: Figures = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="How often to measure.")] = 3,
    only: Annotated[list[str] | None, typer.Option(metavar="BOX,..", help="Measure only these.")] = None,
) -> None:
    """Measure how many tuples a second each box takes."""
    measure = _bench("boxes")
    measure(tuples=tuples, train=train, repeat=repeat, json=json, only=",".join(options.several(only)))


@bench.command()
def engine(
    tuples: Annotated[int, typer.Option(metavar="N", min=1, help="How many go through each network.")] = 10_000_000,
    json: Figures = None,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="How often to measure.")] = 5,
    only: Annotated[list[str] | None, typer.Option(metavar="WORKLOAD,..", help="Measure only these.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Measure a million tuples, once.")] = False,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the tuples here for the next time.")] = None,
) -> None:
    """Measure whole networks on Spark beside plain Spark."""
    measure = _bench("engine")
    measure(count=tuples, repeat=repeat, json=json, only=",".join(options.several(only)), quick=quick, data=data)


@bench.command()
def soak(
    hours: Annotated[
        float, typer.Option(metavar="T", help="How much input, at ten thousand tuples a second; it runs at full speed.")
    ] = 1.0,
    json: Figures = None,
) -> None:
    """Watch memory and the checkpoint over a long run on Spark."""
    _bench("soak")(hours=hours, json=json)


@bench.command()
def signals(
    samples: Annotated[int, typer.Option(metavar="N", min=1, help="How many go through each application.")] = 1 << 32,
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
    day: Annotated[
        float, typer.Option(metavar="HOURS", help="Watch memory over so many of detectaudio instead.")
    ] = 0.0,
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


@bench.command()
def moving(
    objects: Annotated[int, typer.Option(metavar="N", help="How many move, and report in every batch.")] = 100_000,
    queries: Annotated[
        int, typer.Option(metavar="N", help="How many squares watch them; half of them move too.")
    ] = 50_000,
    nearest: Annotated[int, typer.Option(metavar="N", help="How many ask for the ten nearest, beside.")] = 10_000,
    batches: Annotated[int, typer.Option(metavar="N", help="How many there are, after the one with the queries.")] = 8,
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
    """A benchmark; what it compares with may not be installed."""

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


def _load(file: Path, functions: list[str] | None) -> Network:
    from australis.netfile import load, loads

    options.know(functions)
    return loads(sys.stdin.read(), "standard input") if str(file) == "-" else load(file)


def _count(number: int, name: str) -> str:
    return f"1 {name}" if number == 1 else f"{number} {name}{'es' if name.endswith('x') else 's'}"


def _write(path: Path, text: str) -> None:
    if str(path) == "-":
        print(text)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunError(f"{path}: {error}") from error


def _console() -> Console:
    from rich.console import Console

    return Console()

"""The command line: `australis check | explain | run | sql | demo | bench | linear-road | moving | signals`."""

from __future__ import annotations

import importlib
import runpy
import shlex
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
from australis.signals.command import app as signals_app
from australis.sql.command import sql

if TYPE_CHECKING:
    import pyarrow as pa
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


app = Commands("Networks of boxes and arrows.", _Told)
bench = Commands("Measurements.")
app.add_typer(bench, name="bench")
app.add_typer(linear_road, name="linear-road")
app.add_typer(moving_app, name="moving")
app.add_typer(signals_app, name="signals")
app.command()(sql)

_PEERS = ("duckdb", "polars", "protobuf")
"""What benchmarks compare with, and nothing else needs."""
File = Annotated[Path, typer.Argument(metavar="FILE", help="A network file.")]
Functions = Annotated[
    list[Path] | None, typer.Option("--functions", metavar="MODULE.PY", help="Run first: it makes functions known.")
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"australis {version('australis')}")
        raise typer.Exit


@app.callback()
def main(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    pass


@app.command()
def check(file: File, functions: Functions = None) -> None:
    """Say whether a network file is valid."""
    net = _load(file, functions)
    parts = ((net.inputs, "input"), (net.nodes, "box"), (net.outputs, "output"))
    print(f"{file}: valid; " + ", ".join(_count(len(things), name) for things, name in parts))


@app.command()
def explain(
    file: File,
    functions: Functions = None,
    svg: Annotated[Path | None, typer.Option(metavar="OUT.SVG", help="Draw the network here too.")] = None,
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
    functions: Functions = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", "--input", metavar="NAME=TEXT", help="Where an input comes from.")
    ] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option("--sink", "--output", metavar="NAME=TEXT", help="Where an output goes; else it is printed."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep what the run needs to go on after a stop or a crash.")
    ] = None,
    trigger: Annotated[
        str | None, typer.Option(metavar="1s", help="The least time between two batches; else they follow at once.")
    ] = None,
    train: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The most tuples of an input in a batch.")
    ] = None,
    speed: Annotated[
        str | None, typer.Option(metavar="K", help="The speed of all replay: sources, K times as fast or `max`.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first line that does not read.")] = False,
    change: Annotated[
        bool, typer.Option("--change", help="Go on with a changed network even where state is lost.")
    ] = False,
    master: Annotated[str | None, typer.Option(metavar="URL", help="A Spark cluster; else this machine.")] = None,
    partitions: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many tasks share the work; else one a core.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="A JSON object a batch on the standard output, and one at the end.")
    ] = False,
    metrics: Annotated[
        str | None, typer.Option(metavar="[HOST:]PORT", help="Serve metrics for Prometheus, at /metrics.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell mistakes only.")] = False,
    local: Annotated[bool, typer.Option("--local", help="In this process, over files, without Spark.")] = False,
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
    from australis.run import given

    net = _load(file, functions)
    sources, sinks = given.named("--source", source), given.named("--sink", sink)
    if local:
        others = {
            "--checkpoint": checkpoint, "--trigger": trigger, "--train": train, "--speed": speed,
            "--change": change, "--master": master, "--partitions": partitions, "--json": json, "--metrics": metrics,
        }  # fmt: skip
        if wrong := [name for name, value in others.items() if value not in (None, False)]:
            raise RunError(f"{wrong[0]}: is for runs on Spark; leave it out, or leave out --local")
        _run_local(net, sources, sinks, quiet, strict)
        return
    from australis.run import command

    named = {**given.sources(net, sources, speed), **given.sinks(net, sinks, shown=not json)}
    telling = command.Telling(
        title=str(file),
        again=shlex.join(["australis", *sys.argv[1:]]),
        json=json,
        quiet=quiet,
        kept=checkpoint is not None,
        sinks=sinks,
    )
    status = command.main(
        net,
        named,
        telling,
        checkpoint=checkpoint,
        master=given.master(master),
        partitions=partitions,
        train=train,
        trigger=given.trigger(trigger),
        strict=strict,
        change=change,
        metrics=None if metrics is None else given.address(metrics),
    )
    raise typer.Exit(status)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to leave everything in.")] = Path("demo"),
    seconds: Annotated[int, typer.Option(min=60, help="How much traffic to answer.")] = 1200,
    lead: Annotated[int, typer.Option(metavar="SECONDS", min=0, help="Traffic before that, taken at once.")] = 1800,
    speed: Annotated[float, typer.Option(min=1, help="How many times as fast as real time.")] = 20.0,
    seed: Annotated[int, typer.Option(help="Another seed gives another traffic.")] = 1,
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
    tuples: Annotated[int, typer.Option(help="How many go through each box.")] = 10_000_000,
    train: Annotated[int, typer.Option(help="How many to a train.")] = 65_536,
    json: Annotated[Path | None, typer.Option(metavar="OUT.JSON", help="Write the numbers here.")] = None,
    repeat: Annotated[int, typer.Option(help="How often.")] = 3,
    only: Annotated[str, typer.Option(metavar="BOX", help="Measure only this.")] = "",
) -> None:
    """Measure how many tuples a second each box takes."""
    measure = _bench("boxes")
    measure(tuples=tuples, train=train, repeat=repeat, json=json, only=only)


@bench.command()
def engine(
    tuples: Annotated[int, typer.Option(help="How many go through each network.")] = 10_000_000,
    json: Annotated[Path | None, typer.Option(metavar="OUT.JSON", help="Write the numbers here.")] = None,
    repeat: Annotated[int, typer.Option(help="How often.")] = 5,
    only: Annotated[str, typer.Option(metavar="WORKLOAD", help="Measure only this.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="A million tuples, once.")] = False,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the tuples here.")] = None,
) -> None:
    """Measure whole networks on Spark beside plain Spark."""
    measure = _bench("engine")
    measure(count=tuples, repeat=repeat, json=json, only=only, quick=quick, data=data)


@bench.command()
def soak(
    hours: Annotated[float, typer.Option(help="Of input, ten thousand tuples a second; it runs at full speed.")] = 1.0,
    json: Annotated[Path | None, typer.Option(metavar="OUT.JSON", help="Write the numbers here.")] = None,
) -> None:
    """Watch memory and the checkpoint over a long run on Spark."""
    _bench("soak")(hours=hours, json=json)


@bench.command()
def signals(
    samples: Annotated[int, typer.Option(help="How many samples go through each application.")] = 1 << 32,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the files here for the next time.")] = None,
    json: Annotated[Path | None, typer.Option(metavar="OUT.JSON", help="Write the figures here.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="OUT.PNG", help="Draw them here, with OUT.md beside it.")] = None,
    only: Annotated[str, typer.Option(metavar="APPLICATION", help="Measure only this, such as statfilter.")] = "",
    repeat: Annotated[int, typer.Option(help="How often, after once to warm up.")] = 3,
    quick: Annotated[bool, typer.Option("--quick", help="A million samples, once.")] = False,
    day: Annotated[
        float, typer.Option(metavar="HOURS", help="Watch memory over so many of detectaudio instead.")
    ] = 0.0,
) -> None:
    """Measure XStream's applications on Spark beside its own figures and bare kernels, and its figures 6 and 8."""
    if day:
        _bench("signal_day")(hours=day, json=json)
        return
    measure = _bench("signals")
    measure(samples=samples, data=data, json=json, plot=plot, only=only, repeat=repeat, quick=quick)


@bench.command()
def moving(
    objects: Annotated[int, typer.Option(help="How many move, and report in every batch.")] = 100_000,
    queries: Annotated[int, typer.Option(help="How many squares watch them; half of them move too.")] = 50_000,
    nearest: Annotated[int, typer.Option(help="How many ask for the ten nearest, beside.")] = 10_000,
    batches: Annotated[int, typer.Option(help="How many, after the one with the queries.")] = 8,
    json: Annotated[Path | None, typer.Option(metavar="OUT.JSON", help="Write the numbers here.")] = None,
    plots: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw the paper's experiments here.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A twentieth of all, in half a minute.")] = False,
    paper: Annotated[bool, typer.Option("--paper/--no-paper", help="The paper's experiments too.")] = True,
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


def _load(file: Path, functions: list[Path] | None) -> Network:
    from australis.netfile import load

    for path in functions or ():
        try:
            runpy.run_path(str(path), run_name=path.stem)
        except AustralisError:
            raise
        except Exception as error:
            raise RunError(f"--functions {path}: {type(error).__name__}: {error}") from error
    return load(file)


def _run_local(net: Network, sources: dict[str, str], sinks: dict[str, str], quiet: bool, strict: bool) -> None:
    from australis.run.files import Unread, dead

    unread: list[Unread] = []
    results = net.run_local({**sources, **sinks}, strict=strict, unread=unread)
    console = _console()
    for name, tuples in results.items():
        if name not in sinks:
            _show(console, name, tuples)
        elif not quiet:
            console.print(f"{name}: {_count(tuples.num_rows, 'tuple')} in {sinks[name]}", highlight=False)
    for each in () if quiet else results.losses():
        typer.echo(each, err=True)
    if unread and not quiet:
        typer.echo(dead(unread), err=True)


def _count(number: int, name: str) -> str:
    return f"1 {name}" if number == 1 else f"{number} {name}{'es' if name.endswith('x') else 's'}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunError(f"{path}: {error}") from error


def _console() -> Console:
    from rich.console import Console

    return Console()


def _show(console: Console, name: str, tuples: pa.Table, most: int = 12) -> None:
    from rich import box
    from rich.table import Table

    from australis.run.sinks.console import cells

    shown = Table(title=name, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    first = tuples.slice(0, most)
    for column, field in zip(first.column_names, first.schema, strict=True):
        shown.add_column(column, justify="left" if str(field.type) == "string" else "right")
    for row in zip(*map(cells, first.columns), strict=True):
        shown.add_row(*("" if value is None else _text(value) for value in row))
    console.print(shown)
    if tuples.num_rows > most:
        console.print(f"  and {tuples.num_rows - most} more", highlight=False)


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)

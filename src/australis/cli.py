"""The command line: `australis check | explain | run | demo | bench`."""

from __future__ import annotations

import importlib
import runpy
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from australis.errors import AustralisError, RunError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from australis.network import Network


class _Told(TyperGroup):
    """A mistake of the user is one line on the standard error; `--debug` shows where it was found."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except AustralisError as error:
            if ctx.params.get("debug"):
                raise
            print(f"australis: {error}", file=sys.stderr)
            raise typer.Exit(1) from error


app = typer.Typer(cls=_Told, help="Networks of boxes and arrows.", no_args_is_help=True, add_completion=False)
bench = typer.Typer(help="Measurements.", no_args_is_help=True)
app.add_typer(bench, name="bench")

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
    local: Annotated[bool, typer.Option("--local", help="In this process, to the end of the inputs.")] = False,
    input: Annotated[list[str] | None, typer.Option(metavar="NAME=PATH", help="A file, or a glob of files.")] = None,
    output: Annotated[list[str] | None, typer.Option(metavar="NAME=PATH", help="Where results go; else here.")] = None,
) -> None:
    """Run a network over files: CSV, JSON lines, Parquet, Arrow."""
    if not local:
        raise RunError("give --local: networks run in one process so far")
    net = _load(file, functions)
    sinks = _named("--output", output)
    results = net.run_local({**_named("--input", input), **sinks})
    console = _console()
    for name, tuples in results.items():
        if name in sinks:
            console.print(f"{name}: {_count(tuples.num_rows, 'tuple')} in {sinks[name]}", highlight=False)
        else:
            _show(console, name, tuples)


@app.command()
def demo() -> None:
    """Run a small network over made-up traffic, and show both."""
    from australis.demo import traffic

    net = traffic.network()
    console = _console()
    console.rule("the network")
    console.print(net.explain(), highlight=False, markup=False)
    reports = traffic.reports()
    results = net.run_local(reports=reports, owners=traffic.owners())
    console.rule(f"what it makes of {_count(reports.num_rows, 'report')}")
    for name, tuples in results.items():
        _show(console, name, tuples)


@bench.command()
def boxes(
    tuples: Annotated[int, typer.Option(help="How many go through each box.")] = 10_000_000,
    train: Annotated[int, typer.Option(help="How many to a train.")] = 65_536,
    json: Annotated[Path | None, typer.Option(metavar="OUT.JSON", help="Write the numbers here.")] = None,
    repeat: Annotated[int, typer.Option(help="How often.")] = 3,
    only: Annotated[str, typer.Option(metavar="BOX", help="Measure only this.")] = "",
) -> None:
    """Measure how many tuples a second each box takes."""
    measure = importlib.import_module("australis.bench.boxes").main
    measure(tuples=tuples, train=train, repeat=repeat, json=json, only=only)


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


def _named(option: str, given: list[str] | None) -> dict[str, str]:
    named = {}
    for text in given or ():
        name, sign, path = text.partition("=")
        if not (name and sign and path):
            raise RunError(f"{option} {text}: write it as name=path")
        named[name] = path
    return named


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

    shown = Table(title=name, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    first = tuples.slice(0, most)
    for column, field in zip(first.column_names, first.schema, strict=True):
        shown.add_column(column, justify="left" if str(field.type) == "string" else "right")
    for row in zip(*(column.to_pylist() for column in first.columns), strict=True):
        shown.add_row(*("" if value is None else _text(value) for value in row))
    console.print(shown)
    if tuples.num_rows > most:
        console.print(f"  and {tuples.num_rows - most} more", highlight=False)


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)

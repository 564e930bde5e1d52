"""The commands about a network file: `australis check | explain | run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from australis.cli import options
from australis.errors import RunError

if TYPE_CHECKING:
    from australis.api.network import Network

File = Annotated[Path, typer.Argument(metavar="FILE", help="A network file; - is the standard input.")]


def check(
    file: File,
    functions: options.Functions = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source", metavar="NAME=TEXT", help="Where an input comes from: typical costs go by its format."
        ),
    ] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option("--sink", metavar="NAME=TEXT", help="Where an output goes: typical costs go by its format."),
    ] = None,
    rates: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N", help="See whether the machine holds so many tuples a second on an input."),
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.JSON", help="What boxes cost, as `australis measure` writes it; else what is typical."
        ),
    ] = None,
    shed: Annotated[bool, typer.Option("--shed", help="Say what would be shed at these rates.")] = False,
    cores: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The cores of the machine; else of this.")
    ] = None,
    partitions: options.Partitions = None,
    headroom: options.Headroom = None,
) -> None:
    """Say whether a network file is valid; with --rates, whether a machine holds it.

    \b
    australis check jams.yaml
    australis check jams.yaml --rates reports=20000
    australis measure jams.yaml --source reports=reports.csv --to costs.json
    australis check jams.yaml --rates reports=200000 --costs costs.json --shed

    Without --costs it takes what boxes, sources and sinks typically cost, and guesses what boxes let through.
    """
    net = load_network(file, functions)
    parts = ((net.inputs, "input"), (net.nodes, "box"), (net.outputs, "output"))
    name = "standard input" if str(file) == "-" else file
    print(f"{name}: valid; " + ", ".join(_count(len(things), name) for things, name in parts))
    if rates:
        from australis.cli.analysis import analyse

        print()
        if costs and (source or sink):
            raise RunError("--source and --sink are for typical costs: they mean nothing beside --costs")
        kept_in = (source or [], sink or [])
        fits = analyse(net, file, rates, costs, kept_in, shed, cores, partitions, headroom)
        raise typer.Exit(0 if fits else 1)
    if costs or source or sink or shed or cores or partitions or headroom:
        raise RunError(
            "--costs, --source, --sink, --shed, --cores, --partitions and --headroom are about rates: give --rates, too"
        )


def explain(
    file: File,
    functions: options.Functions = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="OUT.SVG", help="Draw the network here too; - is the standard output.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show the stages that it runs in, too.")] = False,
) -> None:
    """Say what a network does, how it is partitioned and what it can hold."""
    net = load_network(file, functions)
    print(net.explain(plan=plan), end="")
    if svg:
        _write(svg, net.svg())


@options.with_options
def run(
    file: File,
    functions: options.Functions = None,
    source: options.Sources = None,
    sink: options.Sinks = None,
    *,
    how: options.Options,
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
    from australis.cli import arguments
    from australis.connectors import standard

    net = load_network(file, functions)
    sinks = arguments.by_name("--sink", sink)
    with standard.read(arguments.by_name("--source", source), how.elsewhere) as sources:
        raise typer.Exit(options.run(net, sources, sinks, how, str(file)))


def load_network(file: Path, functions: list[str] | None) -> Network:
    """The network of a file, with the functions that it calls."""
    from australis.api.network import load, loads

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

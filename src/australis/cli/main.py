"""The command line: `australis check | explain | run | sql | demo | bench | linear-road | moving | signals`."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer

from australis.cli.groups import CommandGroup, Commands
from australis.errors import AustralisError


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """What a person should know, in one line: not where in the program it was found."""
    print(f"australis: {message}", file=sys.stderr)


class _Told(CommandGroup):
    """A mistake of the user is one line on the standard error; `--debug` shows where it was found."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warn
                return super().invoke(ctx)
        except AustralisError as error:
            if ctx.params.get("debug"):
                raise
            print(f"australis: {error}", file=sys.stderr)
            raise typer.Exit(1) from error
        except typer.BadParameter as error:
            print(f"australis: {error.format_message()}", file=sys.stderr)
            raise typer.Exit(2) from error


COMMANDS = (
    ("check", "network", "check", "Say whether a network file is valid; with --rates, whether a machine holds it."),
    ("explain", "network", "explain", "Say what a network does, how it is partitioned and what it can hold."),
    ("measure", "measure", "measure", "Run a network for a while, and write what its boxes cost."),
    ("run", "network", "run", "Run a network on Spark, to the end of its inputs or until Ctrl-C."),
    ("sql", "sql", "sql", "Run a query in SQL over streams."),
    (
        "demo", "demo", "demo",
        "Answer twenty minutes of Linear Road on Spark: simulated, run, validated, and drawn in one page.",
    ),
    ("bench", "bench", "app", "Measurements."),
    ("linear-road", "linear_road", "app", "The benchmark of stream systems: its tools, and its run on Spark."),
    ("moving", "moving", "app", "Moving objects: a city of them, and pictures of it."),
    ("signals", "signals", "app", "Signals: sounds that are made up, and pictures of recordings."),
)  # fmt: skip
"""Each by name, the module that is imported when it is chosen, what it is there, and the first line of its help."""

app = Commands("Networks of boxes and arrows.", _Told, completion=True)
for _name, _module, _what, _line in COMMANDS:
    app.later(_name, f"australis.cli.{_module}", _what, _line)


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

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

"""The options of commands that run a network, which are the same for all of them."""

from __future__ import annotations

import runpy
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from australis.errors import AustralisError, RunError

if TYPE_CHECKING:
    from australis.api.network import Network

Functions = Annotated[
    list[str] | None,
    Option("--functions", metavar="MODULE.PY,..", help="Run these first: they make functions known."),
]
Sources = Annotated[
    list[str] | None,
    Option("--source", "--input", metavar="NAME=TEXT", help="Where an input comes from; - is the standard input."),
]
Sinks = Annotated[
    list[str] | None,
    Option(
        "--sink",
        "--output",
        metavar="NAME=TEXT",
        help="Where an output goes; - is the standard output. Else it is shown.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    Option("--checkpoint", metavar="DIR", help="Keep what the run needs to go on after a stop or a crash."),
]
Trigger = Annotated[
    str | None,
    Option("--trigger", metavar="SPAN", help="The least time between two batches, as 1s; else they follow at once."),
]
Train = Annotated[int | None, Option("--train", metavar="N", min=1, help="The most tuples of an input in a batch.")]
Speed = Annotated[
    str | None,
    Option("--speed", metavar="K", help="The speed of all replay: sources: K times as fast, or `max`."),
]
Strict = Annotated[bool, Option("--strict", help="Stop at the first line that does not read.")]
Change = Annotated[bool, Option("--change", help="Go on with a changed network even where state is lost.")]
Master = Annotated[str | None, Option("--master", metavar="URL", help="A Spark cluster; else this machine.")]
Partitions = Annotated[
    int | None,
    Option("--partitions", metavar="N", min=1, help="How many tasks share the work; else one a core."),
]
Json = Annotated[
    bool,
    Option("--json", help="Write a JSON object a batch to the standard output, and one at the end."),
]
Metrics = Annotated[
    str | None,
    Option("--metrics", metavar="[HOST:]PORT", help="Serve metrics for Prometheus, at /metrics."),
]
Quiet = Annotated[bool, Option("--quiet", help="Tell mistakes only.")]
InProcess = Annotated[bool, Option("--local", help="Run in this process, over files, without Spark.")]


@dataclass(frozen=True)
class Options:
    """How a network runs on Spark."""

    checkpoint: Path | None = None
    trigger: str | None = None
    train: int | None = None
    speed: str | None = None
    strict: bool = False
    change: bool = False
    master: str | None = None
    partitions: int | None = None
    json: bool = False
    metrics: str | None = None

    @property
    def elsewhere(self) -> str:
        """The option that makes other processes, or a later one, read the sources; "" if there is none."""
        if self.checkpoint is not None:
            return "--checkpoint"
        return "--master" if self.master is not None and not self.master.startswith("local") else ""

    def check_local(self) -> None:
        """Refuse options that `--local` does not take: all but `strict`."""
        for name, value in vars(self).items():
            if name != "strict" and value not in (None, False):
                raise RunError(f"--{name}: is for runs on Spark; leave it out, or leave out --local")


def run(
    net: Network,
    sources: Mapping[str, str],
    sinks: Mapping[str, str],
    options: Options,
    title: str,
    quiet: bool,
    slack: str = "",
) -> int:
    """Run a network on Spark, and return the exit status. `slack` says how people set slack, if not on a box."""
    from australis.cli import arguments
    from australis.cli import run as command
    from australis.connectors.address import address

    if options.json and (printed := [name for name, text in sinks.items() if text.partition("?")[0] == "-"]):
        raise RunError(f"--sink {printed[0]}=-: the standard output is for --json; leave out one of them")
    connectors = {
        **arguments.sources(net, sources, options.speed),
        **arguments.sinks(net, sinks, printed=not options.json),
    }
    reporter = command.RunReporter(
        title=title,
        again=shlex.join(["australis", *sys.argv[1:]]),
        json=options.json,
        quiet=quiet,
        resumable=options.checkpoint is not None,
        sinks=sinks,
        slack=slack,
    )
    return command.main(
        net,
        connectors,
        reporter,
        checkpoint=options.checkpoint,
        master=arguments.master(options.master),
        partitions=options.partitions,
        train=options.train,
        trigger=arguments.trigger(options.trigger),
        strict=options.strict,
        change=options.change,
        metrics=None if options.metrics is None else address(options.metrics),
    )


def run_local(
    net: Network, sources: Mapping[str, str], sinks: Mapping[str, str], strict: bool, quiet: bool, slack: str = ""
) -> None:
    """Run a network in this process, print outputs that have no sink, and report what was lost."""
    from rich.console import Console

    from australis.connectors.files import Unread, dead
    from australis.connectors.sinks.console import shown
    from australis.connectors.standard import standard

    unread: list[Unread] = []
    outputs = net.run_local({**sources, **sinks}, strict=strict, unread=unread)
    console = Console()
    for name, tuples in outputs.items():
        if name not in sinks:
            console.print(shown(name, tuples))
        elif not quiet and not standard(sinks[name]):
            noun = "tuple" if tuples.num_rows == 1 else "tuples"
            console.print(f"{name}: {tuples.num_rows} {noun} in {sinks[name]}", highlight=False)
    if not quiet:
        lost = [*outputs.losses(slack), *([dead(unread)] if unread else [])]
        print(*lost, sep="\n", end="\n" if lost else "", file=sys.stderr)


def know(functions: list[str] | None) -> None:
    """Run modules that define functions."""
    for path in paths(functions, "--functions"):
        try:
            runpy.run_path(str(path), run_name=path.stem)
        except AustralisError:
            raise
        except Exception as error:
            raise RunError(f"--functions {path}: {type(error).__name__}: {error}") from error


def several(values: str | list[str] | None) -> list[str]:
    """The values of an option: separated by commas, from repeated options, or both.

    >>> several("windows,chain"), several(["a,b", "c"]), several("")
    (['windows', 'chain'], ['a', 'b', 'c'], [])
    """
    texts = [values] if isinstance(values, str) else values or []
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def paths(values: list[str] | None, option: str) -> list[Path]:
    """The files of an option. A file that exists may have a comma in its name."""
    from australis.disk.paths import place

    try:
        groups = [[text] if place(text).exists() else several(text) for text in values or ()]
        return [place(text) for texts in groups for text in texts]
    except RunError as error:
        raise RunError(f"{option} {error}") from error

"""The options of commands that run a network, which are the same for all of them."""

from __future__ import annotations

import importlib
import runpy
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from typer import Option

from australis.errors import AustralisError, RunError

if TYPE_CHECKING:
    from australis.api.network import Network
    from australis.engine.local_run import LocalResults

Functions = Annotated[
    list[str] | None,
    Option("--functions", metavar="MODULE.PY,..", help="Run or import these first: they make functions known."),
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
Headroom = Annotated[
    float | None,
    Option("--headroom", metavar="H", help="The part of the machine that a run may always use; else 0.8."),
]
NoShed = Annotated[
    bool,
    Option("--no-shed", help="Never leave tuples out, however late results come."),
]
NoOptimize = Annotated[
    bool,
    Option("--no-optimize", help="Run the network as it is drawn: no rule of the optimizer changes it."),
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
InProcess = Annotated[bool, Option("--local", help="Run in this process, without Spark.")]


_ANYWHERE = ("train", "speed", "strict", "no_optimize", "quiet", "local")
"""The options that a run in this process has too."""


@dataclass(frozen=True)
class Options:
    """How a network runs."""

    checkpoint: Checkpoint = None
    trigger: Trigger = None
    train: Train = None
    speed: Speed = None
    strict: Strict = False
    change: Change = False
    master: Master = None
    partitions: Partitions = None
    headroom: Headroom = None
    no_shed: NoShed = False
    no_optimize: NoOptimize = False
    json: Json = False
    metrics: Metrics = None
    quiet: Quiet = False
    local: InProcess = False

    @property
    def elsewhere(self) -> str:
        """The option that makes other processes, or a later one, read the sources; "" if there is none."""
        if self.checkpoint is not None:
            return "--checkpoint"
        return "--master" if self.master is not None and not self.master.startswith("local") else ""

    def check(self) -> None:
        """Refuse options beside `--local` that are for Spark."""
        for name, value in vars(self).items():
            if self.local and name not in _ANYWHERE and value not in (None, False):
                raise RunError(f"--{name.replace('_', '-')}: is for runs on Spark; leave it out, or leave out --local")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `how` is an `Options`: on the command line it has all of them, after its own."""
    hints = get_type_hints(Options, include_extras=True)
    own = [each for each in signature(command, eval_str=True).parameters.values() if each.name != "how"]
    options = [
        Parameter(each.name, Parameter.POSITIONAL_OR_KEYWORD, default=each.default, annotation=hints[each.name])
        for each in fields(Options)
    ]

    def run(**values: Any) -> None:
        how = Options(**{each.name: values.pop(each.name) for each in options})
        how.check()
        command(**values, how=how)

    run.__doc__ = command.__doc__
    run.__signature__ = Signature([*own, *options])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (*own, *options)}
    return run


def run(
    net: Network, sources: Mapping[str, str], sinks: Mapping[str, str], how: Options, title: str, slack: str = ""
) -> int:
    """Run a network, and return the exit status. `slack` says how people set slack, if not on a box."""
    return _run_local(net, sources, sinks, how, slack) if how.local else _run(net, sources, sinks, how, title, slack)


def _run(
    net: Network, sources: Mapping[str, str], sinks: Mapping[str, str], how: Options, title: str, slack: str
) -> int:
    """Run a network on Spark."""
    from australis.cli import arguments
    from australis.cli import run as command
    from australis.connectors.address import address

    if how.json and (printed := [name for name, text in sinks.items() if text.partition("?")[0] == "-"]):
        raise RunError(f"--sink {printed[0]}=-: the standard output is for --json; leave out one of them")
    reporter = command.RunReporter(
        title=title,
        again=shlex.join(["australis", *sys.argv[1:]]),
        json=how.json,
        quiet=how.quiet,
        resumable=how.checkpoint is not None,
        sinks=sinks,
        slack=slack,
    )
    return command.main(
        net,
        arguments.sources(net, sources, how.speed),
        arguments.sinks(net, sinks, printed=not how.json),
        reporter,
        checkpoint=how.checkpoint,
        master=arguments.master(how.master),
        partitions=how.partitions,
        train=how.train,
        trigger=arguments.trigger(how.trigger),
        strict=how.strict,
        change=how.change,
        shed=not how.no_shed,
        headroom=how.headroom,
        optimize=not how.no_optimize,
        metrics=None if how.metrics is None else address(how.metrics),
    )


def _run_local(net: Network, sources: Mapping[str, str], sinks: Mapping[str, str], how: Options, slack: str) -> int:
    """Run a network in this process, print outputs that have no sink, and report what was lost."""
    from australis.cli import arguments
    from australis.cli.interrupts import Interrupts
    from australis.connectors.dead_letters import tell
    from australis.engine.local_run import TRAIN, endless_streams, run_bound

    bound_sources = arguments.sources(net, sources, how.speed)
    endless = endless_streams(net, bound_sources)
    # Outputs of a run without an end are printed as they come, and such a run ends by an interrupt.
    bound_sinks = arguments.sinks(net, sinks, printed=bool(endless))
    kept = [output.name for output in net.outputs if output.name not in bound_sinks]
    interrupts = Interrupts()
    with interrupts if endless else nullcontext():
        results = run_bound(
            net,
            bound_sources,
            bound_sinks,
            kept,
            train=how.train or TRAIN,
            strict=how.strict,
            optimize=not how.no_optimize,
            stop=lambda: interrupts.times > 0,
        )
    _print_results(results, sinks, how.quiet)
    if not how.quiet:
        dead = tell(results.letters)
        stopped = "stopped; the results up to here are final, and a run in this process cannot go on"
        skipped = [f"{tuples:,} tuples of {name} were skipped: they matter to no output"
                   for name, tuples in results.skipped.items()]  # fmt: skip
        lines = [*skipped, *results.losses(slack), *([dead] if dead else []), *([stopped] if interrupts.times else [])]
        print(*lines, sep="\n", end="\n" if lines else "", file=sys.stderr)
    return interrupts.status if interrupts.times else 0


def _print_results(results: LocalResults, sinks: Mapping[str, str], quiet: bool) -> None:
    """Print the tables of outputs that have no sink, and how many tuples went to sinks that do not print."""
    from rich.console import Console

    from australis.connectors.sinks.console import shown
    from australis.connectors.standard import standard

    console = Console()
    for name, tuples in results.items():
        console.print(shown(name, tuples))
    for name, text in sinks.items():
        if not quiet and not standard(text) and text != "console":
            count = results.given[name]
            console.print(f"{name}: {count} {'tuple' if count == 1 else 'tuples'} in {text}", highlight=False)


def know(functions: list[str] | None) -> None:
    """Run files, and import installed modules (`package.module`), that define functions."""
    for path in paths(functions, "--functions"):
        names = str(path).split(".")
        installed = not path.exists() and path.suffix != ".py" and all(name.isidentifier() for name in names)
        try:
            if installed:
                importlib.import_module(str(path))
            else:
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

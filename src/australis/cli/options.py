"""The options of commands that run a network, which are the same for all of them."""

from __future__ import annotations

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
InProcess = Annotated[bool, Option("--local", help="Run in this process, without Spark.")]


_ANYWHERE = ("train", "speed", "strict", "quiet", "local")
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
    json: Json = False
    metrics: Metrics = None
    quiet: Quiet = False
    local: InProcess = False

    @property
    def elsewhere(self) -> str:
        """The option for which other processes, or a later one, read the sources."""
        if self.checkpoint is not None:
            return "--checkpoint"
        return "--master" if self.master is not None and not self.master.startswith("local") else ""

    def check(self) -> None:
        """Refuse options beside `--local` that are for Spark."""
        for name, value in vars(self).items():
            if self.local and name not in _ANYWHERE and value not in (None, False):
                raise RunError(f"--{name}: is for runs on Spark; leave it out, or leave out --local")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `how` is an `Options`: on the command line it has all of them, after its own."""
    hints = get_type_hints(Options, include_extras=True)
    own = [each for each in signature(command, eval_str=True).parameters.values() if each.name != "how"]
    options = [
        Parameter(each.name, Parameter.POSITIONAL_OR_KEYWORD, default=each.default, annotation=hints[each.name])
        for each in fields(Options)
    ]

    def run(**given: Any) -> None:
        how = Options(**{each.name: given.pop(each.name) for each in options})
        how.check()
        command(**given, how=how)

    run.__doc__ = command.__doc__
    run.__signature__ = Signature([*own, *options])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (*own, *options)}
    return run


def run(
    net: Network, sources: Mapping[str, str], sinks: Mapping[str, str], how: Options, title: str, slack: str = ""
) -> int:
    """Run a network; the status to end with. `slack` says how people give slack, where not to a box."""
    return _run_local(net, sources, sinks, how, slack) if how.local else _run(net, sources, sinks, how, title, slack)


def _run(
    net: Network, sources: Mapping[str, str], sinks: Mapping[str, str], how: Options, title: str, slack: str
) -> int:
    """Run a network on Spark."""
    from australis.cli import arguments as given
    from australis.cli import run as command
    from australis.connectors.address import address

    if how.json and (printed := [name for name, text in sinks.items() if text.partition("?")[0] == "-"]):
        raise RunError(f"--sink {printed[0]}=-: the standard output is for --json; leave out one of them")
    telling = command.Telling(
        title=title,
        again=shlex.join(["australis", *sys.argv[1:]]),
        json=how.json,
        quiet=how.quiet,
        kept=how.checkpoint is not None,
        sinks=sinks,
        slack=slack,
    )
    return command.main(
        net,
        given.sources(net, sources, how.speed),
        given.sinks(net, sinks, shown=not how.json),
        telling,
        checkpoint=how.checkpoint,
        master=given.master(how.master),
        partitions=how.partitions,
        train=how.train,
        trigger=given.trigger(how.trigger),
        strict=how.strict,
        change=how.change,
        metrics=None if how.metrics is None else address(how.metrics),
    )


def _run_local(net: Network, sources: Mapping[str, str], sinks: Mapping[str, str], how: Options, slack: str) -> int:
    """Run a network in this process, show what has no sink, and tell what was lost."""
    from australis.cli import arguments as given
    from australis.cli.interrupts import Interrupts
    from australis.connectors.dead_letters import tell
    from australis.engine.local_run import TRAIN, endless_streams, run_bound

    bound = given.sources(net, sources, how.speed)
    endless = endless_streams(net, bound)
    # What never ends is shown as it comes, and can only be stopped.
    writing = given.sinks(net, sinks, shown=bool(endless))
    kept = [output.name for output in net.outputs if output.name not in writing]
    asked = Interrupts()
    with asked if endless else nullcontext():
        found = run_bound(
            net, bound, writing, kept, train=how.train or TRAIN, strict=how.strict, stop=lambda: asked.times > 0
        )
    _show(found, sinks, how.quiet)
    if not how.quiet:
        dead = tell(found.letters)
        stopped = "stopped; the results up to here are final, and a run in this process cannot go on"
        lines = [*found.losses(slack), *([dead] if dead else []), *([stopped] if asked.times else [])]
        print(*lines, sep="\n", end="\n" if lines else "", file=sys.stderr)
    return asked.status if asked.times else 0


def _show(found: LocalResults, sinks: Mapping[str, str], quiet: bool) -> None:
    """Print the tables of outputs that have no sink, and how many tuples went to those that are not seen here."""
    from rich.console import Console

    from australis.connectors.sinks.console import shown
    from australis.connectors.standard import standard

    console = Console()
    for name, tuples in found.items():
        console.print(shown(name, tuples))
    for name, text in sinks.items():
        if not quiet and not standard(text) and text != "console":
            count = found.given[name]
            console.print(f"{name}: {count} {'tuple' if count == 1 else 'tuples'} in {text}", highlight=False)


def know(functions: list[str] | None) -> None:
    """Run modules, which make functions known."""
    for path in paths(functions, "--functions"):
        try:
            runpy.run_path(str(path), run_name=path.stem)
        except AustralisError:
            raise
        except Exception as error:
            raise RunError(f"--functions {path}: {type(error).__name__}: {error}") from error


def several(given: str | list[str] | None) -> list[str]:
    """What is given by commas, by giving an option again, or by both.

    >>> several("windows,chain"), several(["a,b", "c"]), several("")
    (['windows', 'chain'], ['a', 'b', 'c'], [])
    """
    texts = [given] if isinstance(given, str) else given or []
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def paths(given: list[str] | None, option: str) -> list[Path]:
    """Several files; a comma may be in the name of one that is there."""
    from australis.disk.paths import place

    try:
        found = [[text] if place(text).exists() else several(text) for text in given or ()]
        return [place(text) for texts in found for text in texts]
    except RunError as error:
        raise RunError(f"{option} {error}") from error

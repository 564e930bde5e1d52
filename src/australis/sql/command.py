"""The command `australis sql`: a query over sources, run on Spark or in this process."""

from __future__ import annotations

import runpy
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from australis.errors import AustralisError, RunError, listing

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from australis.network import Network
    from australis.sql.spatial import Moving

Texts = list[str] | None
_SLACK = "say how many tuples late they may be (--slack N, or SLACK N in TUMBLE and HOP)"


def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="SQL, or the name of a file that ends in .sql.")],
    source: Annotated[Texts, typer.Option(metavar="NAME=TEXT", help="Where a stream comes from.")] = None,
    static: Annotated[Texts, typer.Option(metavar="NAME=TEXT", help="Where a stored table comes from.")] = None,
    schema: Annotated[Texts, typer.Option(metavar="NAME=COLUMNS", help="Else its first file tells them.")] = None,
    sink: Annotated[
        Texts, typer.Option(metavar="NAME=TEXT", help="Where an output goes (a lone query's is `out`); else printed.")
    ] = None,
    functions: Annotated[
        list[Path] | None, typer.Option("--functions", metavar="MODULE.PY", help="Run first: it makes functions known.")
    ] = None,
    moving: Annotated[
        str | None,
        typer.Option(
            metavar="id=..,x=..", help="How the objects of INSIDE and kNN report: their columns, timeout, earth."
        ),
    ] = None,
    slack: Annotated[int, typer.Option(metavar="N", min=0, help="How many tuples late streams may be.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Say what the network does, and do not run it.")] = False,
    local: Annotated[bool, typer.Option("--local", help="In this process, over files, without Spark.")] = False,
    checkpoint: Annotated[Path | None, typer.Option(metavar="DIR", help="To go on after a stop or a crash.")] = None,
    speed: Annotated[str | None, typer.Option(metavar="K", help="The speed of all replay: sources, or `max`.")] = None,
    master: Annotated[str | None, typer.Option(metavar="URL", help="A Spark cluster; else this machine.")] = None,
    partitions: Annotated[int | None, typer.Option(metavar="N", min=1, help="How many tasks share the work.")] = None,
    json: Annotated[bool, typer.Option("--json", help="A JSON object a batch on the standard output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell mistakes only.")] = False,
) -> None:
    """Run a query in SQL over streams.

    \b
    australis sql 'SELECT time, vid FROM reports WHERE mph > 60' --source reports=reports.csv --local
    australis sql jams.sql --source 'reports=reports/?follow=true' --sink out=jams.csv --checkpoint road

    What a query can say: docs/sql.md. Texts of sources and sinks: docs/sources_and_sinks.md.
    """
    from australis.run import given

    _run(functions or [])
    streams, tables = given.named("--source", source), _named("--static", static)
    sources, sinks = {**streams, **tables}, given.named("--sink", sink)
    choices: list[str] = []
    net = _network(_text(query), streams, tables, _named("--schema", schema), slack, _moving(moving), choices)
    if explain:
        print(net.explain(), end="")
        if choices:
            print("choices", *(f"  {choice}" for choice in choices), sep="\n")
        return
    if local:
        for option, value in {"--checkpoint": checkpoint, "--speed": speed, "--master": master, "--json": json}.items():
            if value:
                raise RunError(f"{option}: is for runs on Spark; leave it out, or leave out --local")
        _run_local(net, sources, sinks, quiet)
        return
    from australis.run import command

    named = {**given.sources(net, sources, speed), **given.sinks(net, sinks, shown=not json)}
    again = shlex.join(["australis", *sys.argv[1:]])
    kept = checkpoint is not None
    telling = command.Telling(
        title="sql", again=again, json=json, quiet=quiet, kept=kept, sinks=sinks, slack=_SLACK
    )  # fmt: skip
    status = command.main(
        net, named, telling, checkpoint=checkpoint, master=given.master(master), partitions=partitions
    )  # fmt: skip
    raise typer.Exit(status)


def _network(
    text: str,
    streams: dict[str, str],
    tables: dict[str, str],
    given: dict[str, str],
    slack: int,
    moving: Moving,
    choices: list[str],
) -> Network:
    from australis.sql.plan import network
    from australis.sql.samples import sample
    from australis.sql.schemas import schema_from
    from australis.stream import static, stream

    for name in given:
        if name not in streams and name not in tables:
            raise RunError(f"--schema {name}: has no source; give one with --source {name}=...")
    known = {
        name: (static if name in tables else stream)(name, given[name] if name in given else schema_from(name, where))
        for name, where in {**streams, **tables}.items()
    }

    def beginning(name: str) -> RecordBatch | None:
        return sample(streams[name], known[name].schema) if name in streams else None

    return network(text, known, moving=moving, slack=slack, sample=beginning, told=choices.append)


def _moving(written: str | None) -> Moving:
    """How objects report, from `id=vid,x=lon,y=lat,time=at,timeout=60,earth=true`."""
    from dataclasses import fields

    from australis.sql.spatial import Moving

    known = [each.name for each in fields(Moving)]
    given = dict(each.partition("=")[::2] for each in (written or "").split(",") if each)
    for name, value in given.items():
        if name not in known or not value:
            raise RunError(
                f"--moving {name}={value}: write columns and spans of {listing(known)}, as in id=vid,timeout=60"
            )
    for name, fine in {"earth": ("true", "false"), "first": ("selection", "inside")}.items():
        if name in given and given[name] not in fine:
            raise RunError(f"--moving {name}={given[name]}: it is {' or '.join(fine)}")
    columns = {name: given[name] for name in ("id", "x", "y", "time", "first") if name in given}
    timeout = given.get("timeout")
    span = None if timeout is None else int(timeout) if timeout.isdigit() else timeout
    return Moving(**columns, timeout=span, earth=given.get("earth") == "true")


def _named(option: str, given: Texts) -> dict[str, str]:
    found = dict(each.partition("=")[::2] for each in given or ())
    for name, text in found.items():
        if not name or not text:
            raise RunError(f"{option} {name}: write it as {option} NAME=..., such as {option} reports=...")
    return found


def _run(functions: list[Path]) -> None:
    for path in functions:
        try:
            runpy.run_path(str(path), run_name=path.stem)
        except AustralisError:
            raise
        except Exception as error:
            raise RunError(f"--functions {path}: {type(error).__name__}: {error}") from error


def _text(query: str) -> str:
    if not query.endswith(".sql"):
        return query
    try:
        return Path(query).read_text(encoding="utf-8")
    except OSError as error:
        raise RunError(f"{query}: {error}") from error


def _run_local(net: Network, sources: dict[str, str], sinks: dict[str, str], quiet: bool) -> None:
    from australis.run.files import Unread, dead
    from australis.run.sinks.console import Console

    unread: list[Unread] = []
    found = net.run_local({**sources, **sinks}, unread=unread)
    for name, tuples in found.items():
        if name not in sinks:
            Console(name=name).open(tuples.schema).write(0, tuples.to_batches())
    for each in () if quiet else found.losses(_SLACK):
        typer.echo(each, err=True)
    if unread and not quiet:
        typer.echo(dead(unread), err=True)

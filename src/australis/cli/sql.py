"""The command `australis sql`: a query over sources, run on Spark or in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from australis.cli import options
from australis.errors import RunError, listing

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from australis.api.network import Network
    from australis.queries.spatial import Moving

Texts = list[str] | None
_SLACK = "say how many tuples late they may be (--slack N, or SLACK N in TUMBLE and HOP)"


@options.with_options
def sql(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="SQL, or the name of a file that ends in .sql; - is standard input.")
    ],
    source: options.Sources = None,
    static: Annotated[Texts, typer.Option(metavar="NAME=TEXT", help="Where a stored table comes from.")] = None,
    schema: Annotated[
        Texts, typer.Option(metavar="NAME=COLUMNS", help="The columns of an input; else its first file tells them.")
    ] = None,
    sink: options.Sinks = None,
    functions: options.Functions = None,
    moving: Annotated[
        str | None,
        typer.Option(
            metavar="id=..,x=..", help="How the objects of INSIDE and kNN report: their columns, timeout, earth, every."
        ),
    ] = None,
    slack: Annotated[int, typer.Option(metavar="N", min=0, help="How many tuples late streams may be.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Say what the network does, and do not run it.")] = False,
    *,
    how: options.Options,
) -> None:
    """Run a query in SQL over streams.

    \b
    australis sql 'SELECT time, vid FROM reports WHERE mph > 60' \\
        --source reports=reports.csv --local
    australis sql jams.sql --source 'reports=reports/?follow=true' \\
        --sink out=jams.csv --checkpoint road

    The output of a lone query is `out`. What a query can say: docs/sql.md. Texts of sources and sinks:
    docs/sources_and_sinks.md.
    """
    from australis.cli import arguments
    from australis.connectors import standard

    options.know(functions)
    streams, tables = arguments.by_name("--source", source), _by_name("--static", static)
    sinks = arguments.by_name("--sink", sink)
    with standard.read({**streams, **tables}, how.elsewhere) as sources:
        streams, tables = ({name: sources[name] for name in each} for each in (streams, tables))
        choices: list[str] = []
        net = _network(_text(query), streams, tables, _by_name("--schema", schema), slack, _moving(moving), choices)
        if explain:
            print(net.explain(), end="")
            if choices:
                print("choices", *(f"  {choice}" for choice in choices), sep="\n")
            return
        raise typer.Exit(options.run(net, sources, sinks, how, "sql", _SLACK))


def _network(
    text: str,
    streams: dict[str, str],
    tables: dict[str, str],
    schemas: dict[str, str],
    slack: int,
    moving: Moving,
    choices: list[str],
) -> Network:
    from australis.api.stream import static, stream
    from australis.queries.plan import sql_network
    from australis.queries.samples import sample
    from australis.queries.schemas import schema_from

    for name in schemas:
        if name not in streams and name not in tables:
            raise RunError(f"--schema {name}: has no source; give one with --source {name}=...")
    inputs = {
        name: (static if name in tables else stream)(
            name, schemas[name] if name in schemas else schema_from(name, where)
        )
        for name, where in {**streams, **tables}.items()
    }

    def beginning(name: str) -> RecordBatch | None:
        return sample(streams[name], inputs[name].schema) if name in streams else None

    return sql_network(text, inputs, moving=moving, slack=slack, sample=beginning, told=choices.append)


def _moving(text: str | None) -> Moving:
    """How objects report, from `id=vid,x=lon,y=lat,time=at,timeout=60,earth=true,every=train`."""
    from dataclasses import fields

    from australis.queries.spatial import Moving

    names = [each.name for each in fields(Moving)]
    settings = dict(each.partition("=")[::2] for each in (text or "").split(",") if each)
    for name, value in settings.items():
        if name not in names or not value:
            raise RunError(
                f"--moving {name}={value}: write columns and spans of {listing(names)}, as in id=vid,timeout=60"
            )
    for name, fine in {"earth": ("true", "false"), "first": ("selection", "inside")}.items():
        if name in settings and settings[name] not in fine:
            raise RunError(f"--moving {name}={settings[name]}: it is {' or '.join(fine)}")
    columns = {name: settings[name] for name in ("id", "x", "y", "time", "first") if name in settings}
    spans = {name: settings[name] for name in ("timeout", "every", "ahead") if name in settings}
    lengths: dict[str, Any] = {name: int(text) if text.isdigit() else text for name, text in spans.items()}
    return Moving(**columns, **lengths, earth=settings.get("earth") == "true")


def _by_name(option: str, texts: Texts) -> dict[str, str]:
    by_name = dict(each.partition("=")[::2] for each in texts or ())
    for name, text in by_name.items():
        if not name or not text:
            raise RunError(f"{option} {name}: write it as {option} NAME=..., such as {option} reports=...")
    return by_name


def _text(query: str) -> str:
    if query == "-":
        return sys.stdin.read()
    if not query.endswith(".sql"):
        return query
    try:
        return Path(query).read_text(encoding="utf-8")
    except OSError as error:
        raise RunError(f"{query}: {error}") from error

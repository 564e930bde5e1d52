"""Every argument of every method, function and form: what is accepted runs, what is not is refused in our own words."""

import inspect
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

import australis as au
from australis.api.moving import MovingObjects
from australis.api.network import Network
from australis.api.signal import Signals
from australis.api.stream import Outlet, Stream
from australis.arrow.schema import text as schema_text
from australis.boxes import catalog
from australis.boxes.signals import segment, timebase
from australis.connectors.sinks.http import Http
from australis.connectors.source import parts
from australis.connectors.sources.files import Files
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.replay import Replay
from australis.connectors.sources.uri import source
from australis.engine.spark.start import start
from australis.model.form import form
from australis.model.network import Input
from australis.testing.signals import signal

READINGS = au.stream("readings", "t int, k int, x double, name string, at timestamp, flag boolean, list array<int>")
OTHERS = au.stream("others", "t int, k int, y double")
CARS = au.static("cars", "k int, plate string")
AUDIO = au.stream("audio", "site int, score double, audio segment<float32>, other segment<float32>")
SECOND = au.stream("second", "site int, second segment<float32>")
RANGES = au.stream("ranges", "site int, start bigint, end bigint")
OBJECTS = au.stream("objects", "id bigint, x double, y double, time int, type string")
QUERIES = au.stream("queries", "query string, kind string, x double, y double, width double, height double, k int")
UPDATES = au.stream("updates", "sign tinyint, id bigint, x double, type string")
MORE = au.stream("more", "sign tinyint, other bigint")
TABLE = au.table("rows", "k int, n bigint, last double", key="k")

_BASE = timebase(8)
_AUDIO, _SECOND = (
    [segment(np.arange(8, dtype=np.float32) * sign, _BASE, start, np.float32) for start in (0, 8, 16)]
    for sign in (1, -1)
)
GIVEN: dict[str, Any] = {
    "readings": [
        {
            "t": t,
            "k": t % 2,
            "x": t / 2,
            "name": f"n{t}",
            "at": datetime(1970, 1, 1, 0, 0, t),
            "flag": t > 1,
            "list": [t],
        }
        for t in range(5)
    ],
    "others": [{"t": t, "k": t % 2, "y": -t / 2} for t in range(5)],
    "cars": [{"k": 0, "plate": "A"}, {"k": 1, "plate": "B"}],
    "audio": signal(AUDIO.schema, site=[1] * 3, score=[0.5, 9.0, 0.1], audio=_AUDIO, other=_SECOND).tuples,
    "second": signal(SECOND.schema, site=[1] * 3, second=_SECOND).tuples,
    "ranges": [{"site": 1, "start": 2, "end": 5}, {"site": 1, "start": 7, "end": 9}],
    "objects": [{"id": i % 2, "x": float(i), "y": i / 2, "time": i, "type": "car"} for i in range(5)],
    "queries": [
        {"query": "q", "kind": "rectangle", "x": 1.0, "y": 1.0, "width": 2.0, "height": 2.0, "k": None},
        {"query": "n", "kind": "knn", "x": 1.0, "y": 1.0, "width": None, "height": None, "k": 1},
    ],
    "updates": [
        {"sign": 1, "id": 1, "x": 2.0, "type": "car"},
        {"sign": 1, "id": 2, "x": 1.0, "type": "bus"},
        {"sign": -1, "id": 1, "x": 2.0, "type": "car"},
    ],
    "more": [{"sign": 1, "other": 1}, {"sign": 1, "other": 2}],
}


@au.function(returns="double")
def argument_level(audio: Any) -> Any:
    return audio.mean(axis=-1)


class Thing:
    """Of no type that anything asks for."""

    def __repr__(self) -> str:
        return "<thing>"


def shown(value: object) -> str:
    try:
        return repr(value)[:60]
    except ValueError:
        return "10**5000"


BAD: tuple[object, ...] = (
    None, True, False, 0, 1, -1, 3, 1.5, -0.5, math.nan, math.inf, -math.inf, 1e308, 5e-324, 1e-9, 1e18, 10**6,
    10**9, 10**12, 2**63 - 1, 2**63, -(2**63), 10**30, 10**5000, "", " ", "t", "k", "x", "name", "list", "flag",
    "audio", "site", "type", "id", "no such", "a.b.c", "%", "'", "1", "-1", "nan", "inf", "1 minute", "0 s", "-1 s",
    "1 ns", "99999999999 weeks", "1e400 s", "count(*)", "tup#", "\0", "é" * 200, [], ["t"], ["t", "t"], ["k", "k"],
    ["site", "site"], ["type", "type"], ["t", 5], [[]], [None], [math.nan], [math.inf], [0], [1.0, 2.0], [10**400],
    [True], (), ("t", None), ("t", "t", "t"), {}, {"a": 1}, {"a": None}, {"x": "x"}, {5: "x"}, {"": "x"}, {"a":
    math.nan}, {0: 1, 1: 0}, {0: math.nan, 1: 0}, {"on": "t"}, [{"on": "t"}, "t"], {"q": {"kind": "circle",
    "radius": math.nan}}, {"q": {}}, {"q": 5}, b"t", 1j, Decimal("NaN"), Decimal(3), timedelta(0),
    timedelta(days=-1), timedelta.max, timedelta(microseconds=1), np.int64(3), np.float32(2), np.nan, np.array([1,
    2]), np.array([]), np.array([[1.0]]), pa.scalar(3), pa.array([1]), Thing(), [Thing()], Thing, len, au.col("x"),
    au.col("nope"), au.expr("t > 1"), au.order("nope"), au.order("t", slack=1), READINGS, OTHERS, CARS, AUDIO,
    TABLE, range(2), {"t"}, Path("x"), iter(["t"]), object,
)  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A call of a method that is right, in which one argument at a time is made wrong."""

    stream: Stream
    args: tuple[object, ...] = ()
    named: dict[str, object] = field(default_factory=dict)

    def variants(self, method: Callable[..., Any]) -> Iterator[tuple[str, tuple[object, ...], dict[str, object]]]:
        """Each parameter, with the arguments of a call in which it has a bad value."""
        places = list(inspect.signature(method).parameters.values())[1:]
        for place, parameter in enumerate(places):
            for value in BAD:
                named = {name: each for name, each in self.named.items() if name != parameter.name}
                match parameter.kind:
                    case parameter.VAR_POSITIONAL:
                        yield parameter.name, (*self.args, value), named
                        yield parameter.name, (*self.args[:place], value), named
                    case parameter.VAR_KEYWORD:
                        yield parameter.name, self.args, {**named, "made": value}
                    case _ if place < len(self.args) or parameter.kind == parameter.POSITIONAL_ONLY:
                        yield parameter.name, (*self.args[:place], value, *self.args[place + 1 :]), named
                    case _:
                        yield parameter.name, self.args, {**named, parameter.name: value}


CALLS: dict[str, tuple[Call, ...]] = {
    "filter": (Call(READINGS, ("x > 1",)), Call(READINGS, ("x > 1", "x > 0"))),
    "route": (Call(READINGS, ("x > 1",)), Call(READINGS, ("x > 1", "x > 0"))),
    "map": (Call(READINGS, (), {"a": "x + 1"}),),
    "select": (Call(READINGS, ("k", "x"), {"a": "x + 1"}),),
    "with_columns": (Call(READINGS, (), {"a": "x + 1"}),),
    "rename": (Call(READINGS, (), {"x": "y"}),),
    "drop": (Call(READINGS, ("x",)),),
    "union": (Call(READINGS, (READINGS.filter("x > 1"),)),),
    "bsort": (Call(READINGS, ("t",), {"slack": 1, "by": "k"}),),
    "aggregate": (
        Call(
            READINGS, (), {"on": "t", "size": 2, "advance": 1, "by": "k", "slack": 1, "timeout": "5 s", "n": "count(*)"}
        ),
        Call(READINGS, (), {"on": "at", "size": "2 s", "n": "avg(x)"}),
        Call(READINGS, (), {"on": "x", "size": 2, "n": "count(distinct k)"}),
    ),
    "join": (
        Call(READINGS, (OTHERS,), {"where": "left.k = right.k", "on": "t", "size": 1}),
        Call(READINGS, (CARS,), {"where": "left.k = right.k"}),
    ),
    "resample": (Call(READINGS, (OTHERS,), {"on": "t", "size": 1, "y": "avg(y)"}),),
    "write": (Call(READINGS, (TABLE,), {"n": "coalesce(old.n, 0) + 1", "last": "x"}),),
    "read": (Call(READINGS.write(TABLE, n="1", last="x").map(k="k"), (TABLE, "n")),),
    "rewindow": (Call(AUDIO, (4,), {"gap": 1, "by": "site", "column": "audio"}),),
    "sync": (Call(RANGES, (SECOND,), {"by": "site"}),),
    "stats": (Call(AUDIO, ("std",), {"column": "audio", "loud": "peak"}),),
    "transform": (Call(AUDIO, ("hann", "fft"), {"column": "audio", "into": "made"}),),
    "wavelet": (Call(AUDIO, (2,), {"column": "audio"}),),
    "lfilter": (Call(AUDIO, ([1, 0.5],), {"a": [1.0], "by": "site", "column": "audio"}),),
    "cfar": (Call(AUDIO, ("score",), {"by": "site", "column": "audio"}),),
    "trigger": (Call(AUDIO, (2.0,), {"low": 1.0, "by": "site", "column": "audio"}),),
    "window": (Call(READINGS, ("x", "t", 4, 8), {"by": "k"}),),
    "zip": (Call(AUDIO, (SECOND,), {"by": "site"}),),
    "apply": (Call(AUDIO, (), {"level": "argument_level(audio)"}),),
    "rerate": (Call(AUDIO, (2, 3), {"by": "site", "column": "audio"}),),
    "correlate": (Call(AUDIO, ("other",), {"column": "audio"}), Call(AUDIO, ([1.0, 2.0],), {"column": "audio"})),
    "spectrogram": (Call(AUDIO, (4,), {"by": "site", "column": "audio"}),),
    "watch": (Call(OBJECTS, (QUERIES,), {"time": "time", "timeout": 3}),),
    "ask": (
        Call(OBJECTS, ({"q": {"kind": "rectangle", "x": 1, "y": 1, "width": 2, "height": 2}},), {"time": "time"}),
        Call(OBJECTS, ({"q": {"kind": "knn", "k": 2, "focal": 1}},)),
    ),
    "tally": (Call(UPDATES, (), {"by": "type", "n": "count(*)", "most": "max(x)"}),),
    "meet": (Call(UPDATES, (MORE,), {"where": "left.id = right.other"}),),
    "distinct": (Call(UPDATES, ("type",)),),
    "output": (Call(READINGS, (), {"latency": {1: 1, 2: 0}, "delivered": {0: 0, 1: 1}, "value": {"x": {0: 0, 1: 1}}}),),
    "port": (Call(READINGS.filter("x > 1"), ("rest",)),),
}


def run(net: Network, ran: set[object] | None = None, once: bool = False) -> None:
    """Run a network over a few tuples, all at a time, and unless `once` one by one; but not if its boxes have run."""
    key = tuple((node.box, node.sources) for node in net.nodes)
    if ran is not None and key in ran:
        return
    if ran is not None:
        ran.add(key)
    given = {input.name: GIVEN[input.name] for input in net.inputs}
    net.run_local(given)
    if not once:
        net.run_local(given, train=1)


def ends(made: object) -> Network:
    """A network of what a method gave."""
    if isinstance(made, tuple):
        return au.network({f"out{place}": stream for place, stream in enumerate(made)})
    assert isinstance(made, Stream | Outlet)
    return au.network(out=made)


def where(error: BaseException, places: tuple[str, ...], what: str) -> str:
    """What is wrong with how a mistake is told."""
    if not isinstance(error, au.AustralisError):
        return f"{what}: {type(error).__name__}: {error}"
    text = str(error)
    return (
        ""
        if not places or any(re.match(rf"{place}\b", text) for place in places)
        else f"{what}: does not say where: {text}"
    )


def wrong(attempt: Callable[[], None], places: tuple[str, ...], what: str) -> str:
    try:
        attempt()
    except Exception as error:
        return where(error, places, what)
    return ""


ELSEWHERE = {"spectrogram": ("rewindow", "transform"), "port": ("filter",), "watch": ("lead",)}
"""Methods that make other boxes, or that tell of the stream that they were asked of."""


def attempt(method: Callable[..., Any], args: tuple[object, ...], named: dict[str, object], ran: set[object]) -> None:
    run(ends(method(*args, **named)), ran)


METHODS = {
    name: (space, each)
    for space, of in (("", Stream), ("signal", Signals), ("moving", MovingObjects))
    for name, each in inspect.getmembers(of)
    if inspect.isfunction(each) and not name.startswith("_") and name not in ("draw", "fork")
}
"""Every method by its name, with its name space."""


def method_of(stream: Stream, name: str) -> Callable[..., Any]:
    space, _ = METHODS[name]
    bound: Callable[..., Any] = getattr(getattr(stream, space) if space else stream, name)
    return bound


def test_every_method_is_tried() -> None:
    assert sorted(CALLS) == sorted(METHODS)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_the_calls_are_right(name: str) -> None:
    for call in CALLS[name]:
        run(ends(method_of(call.stream, name)(*call.args, **call.named)))


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_an_argument_of_a_method_runs_or_is_refused(name: str) -> None:
    found, ran = list[str](), set[object]()
    for call in CALLS[name]:
        for parameter, args, named in call.variants(METHODS[name][1]):
            what = f"{name}({', '.join([*map(shown, args), *(f'{key}={shown(each)}' for key, each in named.items())])})"
            places = (name, *ELSEWHERE.get(name, ()), "box")
            found.append(
                wrong(
                    partial(attempt, method_of(call.stream, name), args, named, ran), places, f"{parameter} of {what}"
                )
            )
    failed = [each for each in found if each]
    assert not failed, f"{len(failed)} of {len(found)}:\n" + "\n".join(failed[:60])


PLAIN = tuple(
    value
    for value in BAD
    if value is None or (type(value) in (bool, int, float, str, list, dict) and not re.search("<|5000", shown(value)))
)
"""What a file can hold."""

FORM_CALLS: dict[str, tuple[dict[str, Any] | list[Any] | str, list[str]]] = {
    "filter": ("x > 1", ["readings"]),
    "route": (["x > 1", "x > 0"], ["readings"]),
    "map": ({"columns": {"a": "x + 1"}}, ["readings"]),
    "union": ({}, ["readings", "readings"]),
    "bsort": ({"on": "t", "slack": 1, "by": "k"}, ["readings"]),
    "aggregate": ({"on": "t", "size": 2, "advance": 1, "by": "k", "slack": 1, "n": "count(*)"}, ["readings"]),
    "join": ({"where": "left.k = right.k", "on": "t", "size": 1}, ["readings", "others"]),
    "resample": ({"on": "t", "size": 1, "y": "avg(y)"}, ["readings", "others"]),
    "write": ({"table": "rows", "n": "coalesce(old.n, 0) + 1", "last": "x"}, ["readings"]),
    "read": ({"table": "rows", "columns": ["n"]}, ["others"]),
    "apply": ({"columns": {"level": "argument_level(audio)"}}, ["audio"]),
    "watch": ({"time": "time", "timeout": 3}, ["objects", "queries"]),
    "distinct": ({"by": "type"}, ["updates"]),
    "ask": ({"queries": {"q": {"kind": "rectangle", "x": 1, "y": 1, "width": 2, "height": 2}}}, ["objects"]),
    "tally": ({"by": "type", "n": "count(*)"}, ["updates"]),
    "meet": ({"where": "left.id = right.other"}, ["updates", "more"]),
    "lead": ({"focals": [1]}, ["objects"]),
    "nearest": ({}, ["candidates"]),
    "rewindow": ({"size": 4, "gap": 1, "by": "site", "column": "audio"}, ["audio"]),
    "sync": ({"by": "site"}, ["ranges", "second"]),
    "stats": ({"column": "audio", "loud": "peak"}, ["audio"]),
    "transform": ({"steps": ["hann", "fft"], "column": "audio", "into": "made"}, ["audio"]),
    "wavelet": ({"level": 2, "column": "audio"}, ["audio"]),
    "lfilter": ({"b": [1, 0.5], "by": "site", "column": "audio"}, ["audio"]),
    "cfar": ({"on": "score", "by": "site", "column": "audio"}, ["audio"]),
    "trigger": ({"high": 2, "low": 1, "by": "site", "column": "audio"}, ["audio"]),
    "window": ({"value": "x", "on": "t", "size": 4, "rate": 8, "by": "k"}, ["readings"]),
    "zip": ({"by": "site"}, ["audio", "second"]),
    "rerate": ({"up": 2, "down": 3, "by": "site", "column": "audio"}, ["audio"]),
    "correlate": ({"other": "other", "column": "audio"}, ["audio"]),
}
STREAMS = {
    each.origin.name: each
    for each in (READINGS, OTHERS, AUDIO, SECOND, RANGES, OBJECTS, QUERIES, UPDATES, MORE)
    if isinstance(each.origin, Input)
}


def written(kind: str, parameter: object, sources: list[str]) -> str:
    """A network file with one box of a kind, and another that writes its table, or gives what it takes."""
    used = {*sources, *(["readings"] if kind == "read" else []), *(["objects"] if kind == "nearest" else [])}
    document: dict[str, Any] = {
        "australis": 2,
        "inputs": {name: schema_text(stream.schema) for name, stream in STREAMS.items() if name in used},
        "boxes": {"a": {kind: parameter, "from": sources}},
        "outputs": {"out": "a"},
    }
    if kind in ("read", "write"):
        document["tables"] = {"rows": {"schema": "k int, n bigint, last double", "key": "k"}}
    if kind == "read":
        document["boxes"]["w"] = {"write": {"table": "rows", "n": "1", "last": "x"}, "from": "readings"}
    if "candidates" in sources:
        document["boxes"]["a"]["from"] = "q.candidates"
        near = {"kind": "knn", "x": 1, "y": 1, "k": 1}
        document["boxes"]["q"] = {"ask": {"queries": {"n": near}}, "from": "objects"}
    return yaml.safe_dump(document, allow_unicode=True).replace(": .inf", ": 1e999").replace("- .inf", "- 1e999")


def test_a_number_of_thousands_of_digits_is_told() -> None:
    text = written("bsort", {"on": "t", "slack": 1}, ["readings"]).replace("slack: 1", "slack: 1" + 5000 * "0")
    with pytest.raises(au.NetworkError, match="digits"):
        au.loads(text)


def test_every_form_is_tried() -> None:
    assert sorted(FORM_CALLS) == sorted(catalog.kinds())


@pytest.mark.slow
@pytest.mark.parametrize("kind", catalog.kinds())
def test_a_key_of_a_form_runs_or_is_refused(kind: str) -> None:
    parameter, sources = FORM_CALLS[kind]
    run(au.loads(written(kind, parameter, sources)))
    variants: list[tuple[str, object]] = [("", value) for value in PLAIN]
    if isinstance(parameter, dict):
        keys = [*form(catalog.kinds()[kind]).keys, "made"]
        variants += [(key, {**parameter, key: value}) for key in keys for value in PLAIN]
    ran = set[object]()
    found = [
        wrong(
            lambda variant=variant: run(au.loads(written(kind, variant, sources)), ran, once=True),  # type: ignore[misc]
            (rf"(?s).*\b({kind}|box) a\b", r"(?s).*`a: ", r"inputs? .*no box or output uses"),
            f"{key} of {kind}: {shown(variant)}",
        )
        for key, variant in variants
    ]
    failed = [each for each in found if each]
    assert not failed, f"{len(failed)} of {len(found)}:\n" + "\n".join(failed[:60])


NET = au.network(out=READINGS.filter("x > 1"))
READ = GIVEN["readings"]


def inside(group: Any) -> Network:
    with group:
        return au.network(out=READINGS.map(a="x"))


def opened(name: Any, schema: Any = "a int") -> None:
    au.network(out=au.stream(name, schema)).run_local({name: []})


def kept(name: Any = "rows", schema: Any = "k int, n bigint, last double", key: Any = "k") -> None:
    table = au.table(name, schema, key)
    run(au.network(out=READINGS.write(table, {each: "null" for each in table.schema.names if each not in table.key})))


FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "stream": (opened, {"name": "s", "schema": "a int"}),
    "static": (au.static, {"name": "s", "schema": "a int"}),
    "table": (kept, {"name": "rows", "schema": "k int, n bigint, last double", "key": "k"}),
    "order": (
        lambda **given: run(au.network(out=READINGS.bsort(au.order(**given)))),
        {"on": "t", "slack": 1, "by": "k"},
    ),
    "Order": (
        lambda **given: run(au.network(out=READINGS.bsort(au.Order(**given)))),
        {"on": "t", "slack": 1, "by": ("k",)},
    ),
    "Keyed": (
        lambda **given: READINGS.read(au.Keyed(**given)),
        {"name": "rows", "schema": TABLE.schema, "key": ("k",)},
    ),
    "network": (lambda given, **out: run(au.network(given, **out)), {"given": {"a": READINGS}, "out": OTHERS}),
    "loads": (au.loads, {"text": "australis: 2", "name": "network"}),
    "load": (au.load, {"path": "network.yaml"}),
    "dumps": (au.dumps, {"network": NET}),
    "dump": (au.dump, {"network": NET, "path": "network.yaml"}),
    "group": (lambda name: inside(au.group(name)), {"name": "g"}),
    "col": (lambda name: run(au.network(out=READINGS.map(a=au.col(name)))), {"name": "x"}),
    "lit": (lambda value: run(au.network(out=READINGS.map(a=au.lit(value)))), {"value": 1}),
    "expr": (lambda value: run(au.network(out=READINGS.map(a=au.expr(value)))), {"value": 1}),
    "function": (lambda returns, name: au.function(returns, name)(len), {"returns": "int", "name": "argument_length"}),
    "window_function": (
        au.window_function,
        {"name": "argument_window", "init": int, "incr": max, "final": int},
    ),
    "sql": (
        lambda text, tables, slack: run(au.network(out=au.sql(text, tables, slack=slack))),
        {"text": "SELECT t, x FROM readings WHERE x > 1", "tables": {"readings": READINGS}, "slack": 0},
    ),
    "sql_network": (
        lambda text, tables, slack: run(au.sql_network(text, tables, slack=slack)),
        {"text": "SELECT t, x FROM readings WHERE x > 1", "tables": {"readings": READINGS}, "slack": 0},
    ),
    "segment": (
        lambda samples, start, dtype: au.segment(samples, au.timebase(8), start, dtype),
        {"samples": [1, 2], "start": 0, "dtype": "int16"},
    ),
    "timebase": (au.timebase, {"rate": 8}),
    "source": (au.source, {"text": "readings.csv", "schema": "t int"}),
    "sink": (au.sink, {"given": "out.csv"}),
    "dead_letters": (au.dead_letters, {"checkpoint": "checkpoint"}),
    "Local": (au.Local, {"network": NET, "statics": None}),
    "Local.push": (lambda given, **named: au.Local(NET).push(given, **named), {"given": {}, "clock": 1, "ts": 1}),
    "Local.steps": (
        lambda given, **named: list(au.Local(NET).steps(given, **named)),
        {"given": {}, "clock": 1, "ts": 1, "end": True},
    ),
    "Local.tick": (lambda clock: au.Local(NET).tick(clock), {"clock": 1}),
    "Network.run_local": (
        lambda given, **named: NET.run_local(given, **named),
        {"given": {"readings": READ}, "train": 1, "out": "out.csv"},
    ),
    "Network.explain": (lambda plan: NET.explain(plan=plan), {"plan": True}),
}
ELSE = {
    "AustralisError", "ExpressionError", "NetworkError", "RunError", "SchemaError", "Expr", "Network", "Stream",
    "Segment", "Timebase",
    # A source or a sink as a value: texts are what people write, and `source` and `sink` make them.
    "Files", "FrameSink", "LoadCurve", "MemorySink", "MemorySource", "Push", "Rate", "Replay", "Samples",
    "Transactional",
}  # fmt: skip


def test_every_function_is_tried() -> None:
    assert {name for name in au.__all__ if name not in ELSE} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_of_a_function_is_taken_or_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, right = FUNCTIONS[name]
    positional = [each for each in right if each == "given" or (name == "Local" and each in ("network", "statics"))]
    found = []
    for argument in right:
        for value in BAD:
            named = {**right, argument: value}
            args = [named.pop(each) for each in positional]
            found.append(wrong(partial(call, *args, **named), (), f"{argument} of {name}: {shown(value)}"))
    failed = [each for each in found if each]
    assert not failed, f"{len(failed)} of {len(found)}:\n" + "\n".join(failed[:60])


NUMBERS = (0, -1, 1.5, math.nan, math.inf, "x", "", [], [1], {}, True, 2**63, 10**30, 10**5000, Thing())
OPTIONS: dict[str, tuple[object, ...]] = {
    "partitions": (*NUMBERS, 10**9),
    "train": NUMBERS,
    "trigger": (-1, math.nan, math.inf, 1e300, 10**30, "x", "", "-1 s", "99999999999 weeks", [], {}, True, Thing()),
    "strict": ("yes", 1, None, [], Thing()),
    "change": ("yes", 1, None, [], Thing()),
    "shed": ("yes", 1, None, [], Thing()),
    "optimize": ("yes", 1, None, [], Thing()),
    "headroom": (0, -1, 1.5, math.nan, math.inf, "x", None, [], {}, True, Thing()),
    "checkpoint": (5, 1.5, True, [], {}, Thing()),
    "master": (5, 1.5, True, [], {}, Thing()),
    "given": (5, "x", [], Thing()),
}


def test_every_option_of_a_run_is_tried() -> None:
    options = set(inspect.signature(start).parameters) - {"network", "spark", "more"}
    assert options == set(OPTIONS)


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_a_run_is_refused_before_spark_starts(option: str) -> None:
    for value in OPTIONS[option]:
        with pytest.raises(au.AustralisError, match=f"^start: `{option}`"):
            start(NET, value) if option == "given" else start(NET, {"readings": READ}, **{option: value})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "text",
    [
        "rate:nan", "rate:inf", "rate:1e300", "rate:0", "rate:-1", "rate:1?limit=nan", "rate:1?limit=-1",
        "rate:1?limit=1.5", "rate:1?began=inf", "replay:a.csv?on=t&speed=nan", "replay:a.csv?on=t&speed=inf",
        "replay:a.csv?on=t&speed=0", "replay:a.csv?on=nope", "replay:a.csv?on=t&began=1e300", "a.csv?size=inf",
        "a.csv?size=0", "a.csv?size=1.5", "a.csv?channels=nan", "a.csv?channels=0", "a.csv?follow=maybe", "push:99999",
        "push:1?limit=nan", "push:1?largest=inf", "push:1?limit=0", "samples:*.wav?times=inf", "é" * 300 + ".csv",
    ],
)  # fmt: skip
def test_a_number_in_the_text_of_a_source_is_refused(text: str) -> None:
    with pytest.raises(au.AustralisError):
        for _ in parts(source(text, "t int")):
            pass


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf])
def test_a_number_of_a_source_or_sink_is_refused(number: float) -> None:
    files = Files("a.csv", au.stream("s", "t int").schema)
    for make in (
        lambda: Replay(files, "t", number),
        lambda: Rate(files.schema, number),
        lambda: Http("http://127.0.0.1/", timeout=number),
    ):
        with pytest.raises(au.RunError):
            make()
    with pytest.raises(au.RunError, match="1 attempt or more"):
        Http("http://127.0.0.1/", attempts=0)

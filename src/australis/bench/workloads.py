"""The workloads of the engine: artificial tuples in Parquet files, and the networks that take them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import australis as au
from australis.api.network import Network
from australis.arrow.schema import schema

SCHEMA = "number bigint, time bigint, key int, item int, status int, value bigint"
KEYS = 200
ITEMS = 50_000
PER_SECOND = 2_000
WINDOW = 60
_ROW_GROUP = 1 << 18
FILE = 3 * _ROW_GROUP
_SEED = 7

CHAIN: tuple[str | Mapping[str, str], ...] = (
    {"value": "value * 3 + key"},
    "value % 10 != 3",
    {"value": "value + time % 60"},
    "key != 7",
    {"value": "value * value"},
    "value > 1000",
    {"value": "value div 2"},
    "value % 5 != 0",
    {"value": "value - key"},
    "value % 4 != 1",
)
"""Maps and filters in turn. About half of the tuples pass. Spark understands the same texts."""

ONE = "value < 47"
"""A filter that lets as many through as the chain."""


def tuples(folder: Path, count: int) -> Path:
    """A folder of `count` tuples, which is made once. A shorter one has the first tuples of a longer one."""
    there = folder / f"{count}-tuples"
    if not there.exists():
        unfinished = there.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        for place, start in enumerate(range(0, count, FILE)):
            part = _make_tuples(place).slice(0, count - start)
            pa.parquet.write_table(part, unfinished / f"{place:03}.parquet", row_group_size=_ROW_GROUP)
        unfinished.rename(there)
    return there


def _make_tuples(place: int) -> pa.Table:
    """The tuples of a file, by its number."""
    random = np.random.default_rng((_SEED, place))
    number = np.arange(place * FILE, (place + 1) * FILE)
    columns = {"number": number, "time": number // PER_SECOND}
    for name, most in {"key": KEYS, "item": ITEMS, "status": 2, "value": 100}.items():
        columns[name] = random.integers(0, most, FILE)
    return pa.table(columns, schema=schema(SCHEMA))


def windows() -> Network:
    """A filter, then a count and an average a minute by key."""
    stream = au.stream("tuples", "time bigint, key int, value bigint")
    return au.network(
        out=stream.filter("value > 10").aggregate(on="time", size=WINDOW, by="key", n="count(*)", mean="avg(value)")
    )


def changes() -> Network:
    """The tuples whose status is not the last one of their item: half of them, and the first of each item."""
    last = au.table("last", "item int, before int, now int", "item")
    stream = au.stream("tuples", "number bigint, item int, status int")
    written = stream.write(last, before="old.now", now="status")
    changed = written.filter("before is distinct from now")
    return au.network(out=changed.map(number="number", item="item", status="status"))


def chain(boxes: tuple[str | Mapping[str, str], ...] = CHAIN) -> Network:
    """Maps and filters in a row."""
    stream = au.stream("tuples", "time bigint, key int, value bigint")
    for box in boxes:
        stream = stream.filter(box) if isinstance(box, str) else stream.map({"time": "time", "key": "key", **box})
    return au.network(out=stream)

"""Commit one version after another, saying so: `killed_state.py checkpoint first last`.

With a checkpoint only, it does so in a child for each first version on its input, until the child is killed.
"""

import os
import sys
from itertools import count

import pyarrow as pa

from australis.arrow.schema import schema
from australis.engine.state import state
from australis.model.table import Table

SCHEMA = schema("k int, x bigint, s string")
KEYS = 40
NETWORK = 1


def tables() -> dict[str, dict[str, Table]]:
    return {"writer": {"table": Table(SCHEMA, ["k"])}}


def step(table: Table, version: int) -> None:
    """A few rows written and one dropped, other ones at each version."""
    keys = pa.array([(version * 7 + i * i) % KEYS for i in range(6)], pa.int32())
    slots = table.find([keys], len(keys))
    table.put("x", slots, pa.array([version] * len(keys)))
    table.put("s", slots, pa.array([f"{version} of {key}" for key in keys.to_pylist()]))
    table.free(table.lookup([pa.array([version * 7 % KEYS], pa.int32())], 1))


def expected(version: int) -> dict[int, tuple[int, str]]:
    """The rows at a version, one at a time."""
    rows: dict[int, tuple[int, str]] = {}
    for v in range(1, version + 1):
        for i in range(6):
            key = (v * 7 + i * i) % KEYS
            rows[key] = (v, f"{v} of {key}")
        del rows[v * 7 % KEYS]
    return rows


def held(table: Table) -> dict[int, tuple[int, str]]:
    return {row["k"]: (row["x"], row["s"]) for row in table.rows(table.slots).to_pylist()}


def run(checkpoint: str, first: int, last: int | None) -> None:
    for version in count(first) if last is None else range(first, last):
        opened = state.open(checkpoint, "stage", 0, version, tables, network=NETWORK)
        step(opened.tables["writer"]["table"], version + 1)
        opened.commit(version + 1)
        print(version + 1, flush=True)


def serve(checkpoint: str) -> None:
    step(tables()["writer"]["table"], 1)  # kernels are loaded once, for all children
    for line in sys.stdin:
        child = os.fork()
        if not child:
            print(os.getpid(), flush=True)
            run(checkpoint, int(line), None)
        os.waitpid(child, 0)
        print("killed", flush=True)


if __name__ == "__main__":
    state.DELTAS = 5
    checkpoint, *versions = sys.argv[1:]
    if versions:
        run(checkpoint, int(versions[0]), int(versions[1]))
    else:
        serve(checkpoint)

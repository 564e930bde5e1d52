"""A run that may be killed at any moment: `python killed_run.py FOLDER [MASTER [TRAIN]]`. It says when a batch is done.

It has keyed state before and after an exchange, two inputs and a stored table. If the folder has a file `change`, the
network is changed to one with an output more after as many batches as that says, and goes on as that one if it is
started again. If it has a file `wait`, branches of the network wait by turns.
"""

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv

import australis as au
from australis.engine.batch import Batch
from australis.engine.steering import Steering

TUPLES, TRAIN = 24_000, 2_000


def network(changed: bool = False) -> au.Network:
    reports = au.stream("reports", "time int, vid int, seg int, mph int")
    tolls = au.stream("tolls", "time int, vid int, toll int")
    owners = au.static("owners", "vid int, owner string")
    stats = reports.filter("mph > 3").aggregate(on="time", size=30, by="seg", n="count(*)", mph="avg(mph)", box="stats")
    busy = stats.filter("n > 5").aggregate(on="time", size=120, by="n", segs="count(*)", box="busy")
    accounts = au.table("accounts", "vid int, balance bigint, times int", key="vid")
    charged = tolls.write(accounts, balance="coalesce(old.balance, 0) + toll", times="coalesce(old.times, 0) + 1")
    owned = charged.join(owners, "left.vid = right.vid", box="owned")
    met = reports.join(tolls, "left.vid = right.vid", on="time", size=2, box="met")
    more = {"fast": fast(reports)} if changed else {}
    return au.network(stats=stats, busy=busy, owned=owned, met=met.map(vid="vid", mph="mph", toll="toll"), **more)


def fast(reports: au.Stream) -> au.Stream:
    """The output that comes with a change."""
    return reports.filter("mph > 90", box="fast")


def write_inputs(folder: Path) -> dict[str, Path]:
    rng = np.random.default_rng(3)
    time = np.sort(rng.integers(0, TUPLES // 20, TUPLES)).astype(np.int32)

    def column(most: int) -> pa.Array:
        return pa.array(rng.integers(0, most, TUPLES).astype(np.int32))

    tables = {
        "reports": pa.table({"time": time, "vid": column(500), "seg": column(40), "mph": column(100)}),
        "tolls": pa.table({"time": time, "vid": column(500), "toll": column(9)}),
        "owners": pa.table({"vid": pa.array(range(500), pa.int32()), "owner": [f"owner {i % 60}" for i in range(500)]}),
    }
    for name, table in tables.items():
        pa.csv.write_csv(table, folder / f"{name}.csv")
    return {name: folder / f"{name}.csv" for name in tables}


TAKES: list[dict[str, dict[str, int]]] = [
    {},
    {"met": {"reports": 0, "tolls": 0}},
    {"met": {"reports": 0, "tolls": 0}, "stats, busy": {"reports": 700}},
    {"met": {"reports": 900, "tolls": 900}, "stats, busy": {"reports": 0}},
    {"met": {"reports": 900, "tolls": 900}, "owned": {"tolls": 0}, "fast": {"reports": 100}},
]
"""How many tuples branches take, by turns."""


def by_turns(steering: Steering, batch: Batch, *_: Any) -> dict[str, Any]:
    """In the place of `Steering.after`."""
    return {"interval": 0.0, "shed": None, "least": 0, "takes": TAKES[batch.version % len(TAKES)]}


def main(folder: Path, master: str = "local[2,4]", train: str = str(TRAIN)) -> None:
    change = folder / "change"
    again = (folder / "checkpoint/networks").exists()
    net = network(changed=again and change.exists())
    inputs = {input.name: folder / f"{input.name}.csv" for input in net.inputs}
    outputs = {"stats": "stats.csv", "busy": "busy.jsonl", "owned": "owned/*.csv", "met": "met/", "fast": "fast/*.csv"}
    sinks = {output.name: f"{folder}/{outputs[output.name]}" for output in net.outputs}
    run = net.start(
        {**inputs, **sinks}, checkpoint=folder / "checkpoint", master=master, partitions=2, train=int(train)
    )
    done, at = 0, int(change.read_text()) if change.exists() and not again else TUPLES
    while not run.wait(0.01):
        if run.progress and run.progress[-1]["batch"] > done:
            done = run.progress[-1]["batch"]
            print(done, flush=True)
        if done >= at:
            at = TUPLES
            run.change(network(changed=True), fast=f"{folder}/{outputs['fast']}")


if __name__ == "__main__":
    waits = (Path(sys.argv[1]) / "wait").exists()
    with patch.object(Steering, "after", by_turns if waits else Steering.after):
        main(Path(sys.argv[1]), *sys.argv[2:])

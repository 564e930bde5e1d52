"""A run whose filters change places after every batch: `python rearranged_run.py FOLDER`. It says when a batch is done.

Costs are made up: by them, the last of five filters in a row is always the best to begin with. The reports are in a
Parquet file, of which row groups are skipped.
"""

import sys
from pathlib import Path

import australis as au
from tests.engine.spark.killed_run import TRAIN
from tests.engine.test_optimizing import backwards


def network() -> au.Network:
    reports = au.stream("reports", "time int, vid int, seg int, mph int")
    owners = au.static("owners", "vid int, owner string")
    kept = reports
    for number, predicate in enumerate(("mph > 3", "vid > 3", "seg > 3", "time < 200 or time >= 400", "mph < 95"), 1):
        kept = kept.filter(predicate, box=f"f{number}")
    stats = kept.aggregate(on="time", size=30, by="seg", n="count(*)", mph="avg(mph)", box="stats")
    return au.network(kept=kept, stats=stats, owned=kept.join(owners, "left.vid = right.vid", box="owned"))


def main(folder: Path) -> None:
    net = network()
    inputs = {"reports": folder / "reports.parquet", "owners": folder / "owners.csv"}
    sinks = {output.name: f"{folder}/{output.name}.csv" for output in net.outputs}
    run = net.start(
        {**inputs, **sinks}, checkpoint=folder / "checkpoint", master="local[2,4]", partitions=2, train=TRAIN
    )
    assert run.optimizer is not None
    run.optimizer.measure, run.optimizer.wait, run.optimizer.warm = backwards, 0.0, 0
    done = 0
    while not run.wait(0.01):
        if run.progress and run.progress[-1]["batch"] > done:
            done = run.progress[-1]["batch"]
            print(done, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Runs on Spark whose network changes by rules in the middle: nothing else changes."""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet
import pytest

import australis as au
from australis.connectors.sinks.memory import MemorySink
from australis.engine import ledger
from australis.engine.spark.run import Run
from australis.engine.totals import read_totals
from australis.errors import RunError
from australis.model.network import Network
from australis.qos.shedding import shed_plan
from australis.testing import rows
from tests.engine.spark import killed_run, rearranged_run
from tests.engine.spark.test_killed import end, wait_for
from tests.engine.spark.test_restarted import uncommit
from tests.engine.spark.test_run import reports
from tests.engine.test_optimizing import backwards, order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

REPORTS = au.stream("reports", "time int, vid int, mph int")


def filtered() -> au.Stream:
    kept = REPORTS
    for number, predicate in enumerate(("mph > 3", "vid > 0", "time >= 5", "mph < 95", "vid < 6"), 1):
        kept = kept.filter(predicate, box=f"f{number}")
    return kept


KEPT = filtered()
CARS = KEPT.aggregate(on="time", size=100, by="vid", n="count(*)", box="cars")
NET = au.network(kept=KEPT, cars=CARS)


def hasten(run: Run) -> None:
    """Let rules fire after each batch, by costs that are made up."""
    assert run.optimizer is not None
    run.optimizer.measure, run.optimizer.wait, run.optimizer.warm = backwards, 0.0, 0


def await_tuples(run: Run, count: int) -> None:
    while sum(each["taken"]["reports"] for each in list(run.progress)) < count:
        assert not run.wait(0.01)


def test_filters_change_places_while_batches_go_on_and_people_see_what_they_drew(
    spark: "SparkSession", tmp_path: Path
) -> None:
    folder, found = tmp_path / "reports", {name: MemorySink() for name in ("kept", "cars")}
    folder.mkdir()
    given: dict[str, Any] = {"reports": f"{folder}?follow=true", "checkpoint": tmp_path / "checkpoint", **found}
    with NET.start(**given, spark=spark, partitions=2) as run:
        assert run.network == NET
        start = order(run.optimized)
        assert start == ["f1", "f2", "f3", "f4", "f5"]
        hasten(run)
        for number in range(4):
            pa.csv.write_csv(reports(50, 50 * number), folder / f"{number}.csv")
            await_tuples(run, 50 * (number + 1))
        fired = list(run.firings)
        assert run.network == NET
    # Files of Parquet may come to the folder, too.
    assert {firing.rule for batch, firing in fired if batch == 1} == {"project", "push_into_source"}
    middle = [firing for batch, firing in fired if batch > 1]
    assert {firing.rule for firing in middle} == {"reorder"}
    assert len(middle) >= 2
    assert all(firing.gain is not None and firing.gain > 0.05 for firing in middle)
    table = run.measures()
    told = table.filter(pa.compute.equal(table["kind"], "rule")).to_pylist()
    assert [(row["batch"], row["name"], row["port"], row["gain"]) for row in told] == [
        (batch, firing.rule, ", ".join(firing.boxes), firing.gain) for batch, firing in fired
    ]
    again = {name: MemorySink() for name in found}
    with NET.start(**{**given, **again}, spark=spark) as run:
        assert run.network == NET
        assert set(order(run.optimized)) == set(start)
        assert run.firings == []
        pa.csv.write_csv(reports(50, 200), folder / "4.csv")
        await_tuples(run, 50)
    whole = NET.run_local(reports=reports(250), optimize=False)
    kept = Counter(rows(found["kept"].table())) + Counter(rows(again["kept"].table()))
    assert kept == Counter(rows(whole["kept"]))
    # The last windows are still open.
    cars = Counter(rows(found["cars"].table())) + Counter(rows(again["cars"].table()))
    assert cars == Counter(row for row in rows(whole["cars"]) if row[0] < 200)


def test_people_change_the_network_that_they_drew(spark: "SparkSession", tmp_path: Path) -> None:
    folder, found = tmp_path / "reports", {name: MemorySink() for name in ("kept", "cars", "fast")}
    folder.mkdir()
    pa.csv.write_csv(reports(50), folder / "0.csv")
    fast = REPORTS.filter("mph > 50", box="fast")
    more = au.network(kept=KEPT, cars=CARS, fast=fast)
    with NET.start(reports=f"{folder}?follow=true", kept=found["kept"], cars=found["cars"], spark=spark) as run:
        hasten(run)
        await_tuples(run, 50)
        with pytest.raises(RunError, match="the plan is for another network: this one has no box fast"):
            run.leave_out(shed_plan(more, {"fast": 0.5}))
        run.change(more, fast=found["fast"])
        assert run.network == more
        for number in range(1, 4):
            pa.csv.write_csv(reports(50, 50 * number), folder / f"{number}.csv")
            await_tuples(run, 50 * (number + 1))
    whole = more.run_local(reports=reports(200), optimize=False)
    assert Counter(rows(found["kept"].table())) == Counter(rows(whole["kept"]))
    assert Counter(rows(found["cars"].table())) == Counter(row for row in rows(whole["cars"]) if row[0] < 100)
    later = more.run_local(reports=reports(150, 50), optimize=False)
    assert Counter(rows(found["fast"].table())) == Counter(rows(later["fast"]))


@pytest.mark.parametrize("counted", [True, False], ids=["the batch was counted", "it was not"])
def test_each_rule_is_told_once_when_people_change_the_network_and_when_a_batch_is_run_again(
    counted: bool, spark: "SparkSession", tmp_path: Path
) -> None:
    folder, found = tmp_path / "reports", {name: MemorySink() for name in ("kept", "cars", "metric")}
    folder.mkdir()
    pa.parquet.write_table(pa.Table.from_batches([reports(50)]), folder / "0.parquet")
    metric = KEPT.map(kmh="mph * 8", box="m").map(kmh="kmh / 5", box="n")
    more = au.network(kept=KEPT, cars=CARS, metric=metric)
    given: dict[str, Any] = {"reports": f"{folder}?follow=true", "checkpoint": tmp_path / "checkpoint", "spark": spark}
    with NET.start(**given, kept=found["kept"], cars=found["cars"]) as run:
        await_tuples(run, 50)
        began = run.change(more, metric=found["metric"])
    told = [(batch, firing.rule) for batch, firing in run.firings]
    assert told == [(1, "project"), (1, "push_into_source"), (began, "combine")]
    uncommit(tmp_path / "checkpoint")  # the batch that was the first of the network
    if not counted:
        (tmp_path / "checkpoint/measures/totals.json").unlink()
    with more.start(**given, **found) as again:
        while not again.progress:
            assert not again.wait(0.01)
    assert [batch for batch, _ in again.firings] == ([] if counted else [began])
    table = ledger.read(tmp_path / "checkpoint")
    rules = table.filter(pa.compute.equal(table["kind"], "rule")).to_pylist()
    assert [(row["batch"], row["name"]) for row in rules] == told


def test_row_groups_are_skipped_by_what_matters_in_the_network_of_the_time(
    spark: "SparkSession", tmp_path: Path
) -> None:
    folder, found = tmp_path / "reports", MemorySink()
    folder.mkdir()

    def put(number: int) -> None:
        tuples = pa.Table.from_batches([reports(200, 200 * number)])
        pa.parquet.write_table(tuples, folder / f"{number}.parquet", row_group_size=20)

    early, late = (au.network(out=REPORTS.filter(text, box="some")) for text in ("time < 150", "time >= 150"))
    put(0)
    with early.start(reports=f"{folder}?follow=true", out=found, spark=spark, partitions=2) as run:
        await_tuples(run, 200)
        run.change(late)
        put(1)
        await_tuples(run, 400)
    assert run.totals.taken["reports"] == 400
    assert run.totals.skipped == {"reports": 40}  # of the first file, what begins with 160
    assert {row[0] for row in rows(found.table())} == {*range(150), *range(200, 400)}
    told = [(batch, str(firing)) for batch, firing in run.firings]
    assert [text for _, text in told] == ["push_into_source reports, some"] * 2
    read = run.measures()
    sources = read.filter(pa.compute.equal(read["kind"], "source")).to_pylist()
    assert sum(row["given"] for row in sources) == 360
    assert sum(row["skipped"] for row in sources) == 40


def test_of_ten_outputs_with_one_first_half_it_works_once(spark: "SparkSession") -> None:
    def half(number: int) -> au.Stream:
        first = REPORTS.filter("mph > 3", box=f"moving{number}").map(
            time="time", vid="vid", kmh="mph * 1.6", box=f"metric{number}"
        )
        stats = first.aggregate(on="time", size=50, by="vid", kmh="max(kmh)", box=f"stats{number}")
        return stats.filter(f"kmh > {10 * number}", box=f"last{number}")

    net = au.network({f"out{number}": half(number) for number in range(10)})
    found = {output.name: MemorySink() for output in net.outputs}
    run = net.run({"reports": reports(1000), **found}, spark=spark, partitions=2)
    boxes = run.totals.boxes
    assert boxes["moving0"].taken == 1000
    assert not {f"{name}{number}" for name in ("moving", "metric", "stats") for number in range(1, 10)} & boxes.keys()
    assert {f"last{number}" for number in range(10)} <= boxes.keys()
    whole = net.run_local(reports=reports(1000), optimize=False)
    for name, sink in found.items():
        assert Counter(rows(sink.table())) == Counter(rows(whole[name])), name
    apart = net.run(reports=reports(1000), spark=spark, partitions=2, optimize=False)
    assert sum(box.taken for name, box in apart.totals.boxes.items() if name.startswith("moving")) == 10_000


def test_a_plan_of_what_is_shed_holds_the_network_as_it_is(spark: "SparkSession", tmp_path: Path) -> None:
    folder, found = tmp_path / "reports", MemorySink()
    folder.mkdir()
    net = au.network(kept=filtered().output(delivered={0: 0, 1: 1}))
    with net.start(reports=f"{folder}?follow=true", kept=found, spark=spark) as run:
        run.leave_out(shed_plan(run.optimized, {"kept": 0.5}))
        hasten(run)
        for number in range(3):
            pa.csv.write_csv(reports(400, 400 * number), folder / f"{number}.csv")
            await_tuples(run, 400 * (number + 1))
        assert [batch for batch, _ in run.firings if batch > 1] == []
        run.leave_out(None)
        for number in range(3, 6):
            pa.csv.write_csv(reports(400, 400 * number), folder / f"{number}.csv")
            await_tuples(run, 400 * (number + 1))
    assert {firing.rule for batch, firing in run.firings if batch > 1} == {"reorder"}
    whole = net.run_local(reports=reports(2400), optimize=False)["kept"]
    half = Counter(row for row in rows(whole) if row[0] < 1200)
    shed = Counter(row for row in rows(found.table()) if row[0] < 1200)
    assert shed < half
    assert shed.total() + sum(run.totals.shed.values()) >= half.total()
    assert Counter(rows(found.table())) - shed == Counter(rows(whole)) - half


def start(folder: Path) -> "subprocess.Popen[str]":
    script = Path(rearranged_run.__file__)
    environment = os.environ | {"PYTHONPATH": str(script.parents[3])}
    with (folder / "log").open("a") as log:
        command = [sys.executable, str(script), str(folder)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)


def networks(folder: Path) -> list[int]:
    """The networks that batches ran under, in the order of the batches."""
    offsets = folder / "checkpoint/query/offsets"
    numbers = sorted(int(path.name) for path in offsets.glob("[0-9]*"))
    plans = [json.loads((offsets / str(number)).read_text().splitlines()[-1]) for number in numbers]
    return [plan["network"] for plan in plans]


@pytest.mark.parametrize("round", range(int(os.environ.get("AUSTRALIS_ROUNDS", "2"))))
def test_nothing_is_lost_or_doubled_when_a_run_is_killed_around_a_change(round: int, tmp_path: Path) -> None:
    chance = random.Random(f"{os.environ.get('AUSTRALIS_SEED', '')}{round}")
    inputs = killed_run.write_inputs(tmp_path)
    pa.parquet.write_table(pa.csv.read_csv(inputs["reports"]), tmp_path / "reports.parquet", row_group_size=500)
    net: Network = rearranged_run.network()
    expected = net.run_local({input.name: inputs[input.name] for input in net.inputs}, optimize=False)
    for _ in range(2):
        run = start(tmp_path)
        wait_for(run, chance.randrange(1, 4))
        time.sleep(chance.random() / 3)
        run.kill()
        end(run)
    assert end(start(tmp_path)) == 0, (tmp_path / "log").read_text()[-3000:]
    assert len(set(networks(tmp_path))) > 3
    assert 3000 < read_totals(tmp_path / "checkpoint", 10**9).skipped["reports"] < 5000
    for name, table in expected.items():
        assert Counter(rows(pa.csv.read_csv(tmp_path / f"{name}.csv"))) == Counter(rows(table)), name

"""Runs that are started again on other checkpoints than their sinks know, or after a start that failed."""

import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pytest

import australis as au
from australis.api.network import Network
from australis.cli.main import app
from australis.engine import ledger
from australis.errors import RunError
from australis.qos.ranks import WindowPart
from australis.qos.shedding import shed_plan
from tests.connectors.sinks.test_callback import Target
from tests.engine.spark.test_run import REPORTS, reports

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NET = au.network(
    cars=REPORTS.aggregate(on="time", size=10, by="vid", n="count(*)"), fast=REPORTS.filter("mph > 20").map(t="time")
)
spark_only = pytest.mark.spark


def given(folder: Path) -> dict[str, Any]:
    return {"reports": f"{folder}/reports", "cars": f"{folder}/cars.csv", "fast": f"{folder}/fast/"}


def run(spark: "SparkSession", folder: Path, upto: int, net: Network = NET, **more: Any) -> None:
    """A run over as many files as there are by then, a file a batch, which stops and can go on."""
    (folder / "reports").mkdir(exist_ok=True)
    for number in range(upto):
        pa.csv.write_csv(reports(50, number * 50), folder / "reports" / f"{number}.csv")
    wanted = {**given(folder), "reports": f"{folder}/reports?follow=true"} | more
    with net.start(wanted, spark=spark, checkpoint=folder / "checkpoint", partitions=2, train=50) as under_way:
        log = under_way.checkpoint.log
        while under_way.backlog()["reports"] or log.planned > log.committed:
            assert not under_way.wait(0.01)


def results(folder: Path) -> tuple[list[str], list[int]]:
    fast = pa.dataset.dataset(sorted((folder / "fast").glob("batch-*"))).to_table()
    return sorted((folder / "cars.csv").read_text().splitlines()[1:]), sorted(fast["t"].to_pylist())


@pytest.fixture(scope="module")
def expected(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[int]]:
    folder = tmp_path_factory.mktemp("whole")
    run(spark, folder, 5)
    return results(folder)


def older(folder: Path) -> None:
    shutil.rmtree(folder / "checkpoint")
    shutil.copytree(folder / "older", folder / "checkpoint")


def without_log(folder: Path) -> None:
    shutil.rmtree(folder / "checkpoint" / "query")


def without_last(folder: Path) -> None:
    for log in ("offsets", "commits"):
        last = max((path for path in (folder / "checkpoint/query" / log).glob("[0-9]*")), key=lambda p: int(p.name))
        last.unlink()


@spark_only
@pytest.mark.parametrize("damage", [older, without_log, without_last], ids=lambda damage: damage.__name__)
def test_a_checkpoint_that_is_behind_its_sinks_loses_and_doubles_nothing(
    damage: Any, expected: tuple[list[str], list[int]], spark: "SparkSession", tmp_path: Path
) -> None:
    run(spark, tmp_path, 2)
    shutil.copytree(tmp_path / "checkpoint", tmp_path / "older")
    run(spark, tmp_path, 4)
    damage(tmp_path)
    with pytest.warns(UserWarning, match="cut off .* that the checkpoint does not know of"):
        run(spark, tmp_path, 5)
    assert results(tmp_path) == expected


@spark_only
def test_a_target_that_is_ahead_is_refused(spark: "SparkSession", tmp_path: Path) -> None:
    target = Target()
    run(spark, tmp_path, 2, fast=target)
    shutil.copytree(tmp_path / "checkpoint", tmp_path / "older")
    run(spark, tmp_path, 3, fast=target)
    older(tmp_path)
    told = r"output fast: Target: has batches of run \w+ up to \d+, and the checkpoint knows none after"
    with (
        pytest.warns(UserWarning, match=r"output cars: .*: cut off"),
        pytest.raises(RunError, match=told),
    ):
        run(spark, tmp_path, 3, fast=target)


@spark_only
def test_a_checkpoint_that_is_removed_while_a_run_uses_it_is_told(spark: "SparkSession", tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    wanted = {**given(tmp_path), "reports": f"{tmp_path}/reports?follow=true"}
    under_way = NET.start(wanted, spark=spark, checkpoint=tmp_path / "checkpoint", partitions=2)
    pa.csv.write_csv(reports(50, 0), tmp_path / "reports/0.csv")
    while not under_way.progress:
        assert not under_way.wait(0.01)
    (tmp_path / "checkpoint").rename(tmp_path / "away")
    pa.csv.write_csv(reports(50, 50), tmp_path / "reports/1.csv")
    with pytest.raises(RunError, match=f"^{tmp_path}/checkpoint: the checkpoint was removed, or moved away, while"):
        under_way.wait()
    shutil.rmtree(tmp_path / "checkpoint", ignore_errors=True)
    (tmp_path / "away").rename(tmp_path / "checkpoint")
    run(spark, tmp_path, 2)
    folder = tmp_path / "whole"
    folder.mkdir()
    run(spark, folder, 2)
    assert results(tmp_path) == results(folder)


@spark_only
def test_other_columns_in_a_network_that_is_started_again_are_refused(spark: "SparkSession", tmp_path: Path) -> None:
    run(spark, tmp_path, 1)
    before = results(tmp_path)
    wider = au.network(cars=REPORTS.map(time="time"), fast=REPORTS.map(t="time", v="vid"))
    with pytest.raises(RunError, match=r"output (cars|fast): .*has the columns"):
        wider.start(given(tmp_path), spark=spark, checkpoint=tmp_path / "checkpoint", change=True)
    assert results(tmp_path) == before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "reports").mkdir()
    return tmp_path


def following(spark: "SparkSession", folder: Path, net: Network, **sinks: Any) -> Any:
    source = f"{folder}/reports?follow=true"
    return net.start({"reports": source, **sinks}, spark=spark, checkpoint=folder / "checkpoint", partitions=2)


def taken(under_way: Any, count: int) -> None:
    while under_way.since_start.taken["reports"] < count:
        assert not under_way.wait(0.01)


FAST, SLOW = REPORTS.filter("mph > 20"), REPORTS.filter("mph <= 20")


@spark_only
def test_outputs_with_folders_come_and_go(spark: "SparkSession", folder: Path) -> None:
    pa.csv.write_csv(reports(50), folder / "reports" / "0.csv")
    with following(spark, folder, au.network(fast=FAST), fast=f"{folder}/fast/") as under_way:
        taken(under_way, 50)
        under_way.change(au.network(fast=FAST, slow=SLOW), slow=f"{folder}/slow/")
        pa.csv.write_csv(reports(50, 50), folder / "reports" / "1.csv")
        taken(under_way, 100)
        under_way.change(au.network(slow=SLOW))
        pa.csv.write_csv(reports(50, 100), folder / "reports" / "2.csv")
        taken(under_way, 150)
        under_way.change(au.network(slow=SLOW, fast=FAST), fast=f"{folder}/fast/", slow=f"{folder}/slow/")
        pa.csv.write_csv(reports(50, 150), folder / "reports" / "3.csv")
        taken(under_way, 200)
    sinks = {"fast": f"{folder}/fast/", "slow": f"{folder}/slow/"}
    with following(spark, folder, au.network(slow=SLOW, fast=FAST), **sinks) as under_way:
        pa.csv.write_csv(reports(50, 200), folder / "reports" / "4.csv")
        taken(under_way, 50)
    whole = reports(250).to_pylist()
    for name, these in (("fast", [0, 1, 3, 4]), ("slow", [1, 2, 3, 4])):
        found = pa.dataset.dataset(sorted((folder / name).glob("batch-*"))).to_table().to_pylist()
        wanted = [row for row in whole if (row["mph"] > 20) == (name == "fast") and row["time"] // 50 in these]
        assert sorted(row["time"] for row in found) == [row["time"] for row in wanted]


@spark_only
@pytest.mark.parametrize("sink", ["out.csv", "out/"])
def test_a_change_of_columns_needs_another_sink(sink: str, spark: "SparkSession", folder: Path) -> None:
    pa.csv.write_csv(reports(50), folder / "reports" / "0.csv")
    other = au.network(out=FAST.map(v="vid"))
    with following(spark, folder, au.network(out=FAST), out=f"{folder}/{sink}") as under_way:
        taken(under_way, 50)
        for more in ({}, {"out": f"{folder}/{sink}"}):
            with pytest.raises(
                RunError, match=r"output out: has the columns time int, vid int, mph int now, and would"
            ):
                under_way.change(other, more)
        pa.csv.write_csv(reports(50, 50), folder / "reports" / "1.csv")
        taken(under_way, 100)
        under_way.change(other, out=f"{folder}/other.csv")
        pa.csv.write_csv(reports(50, 100), folder / "reports" / "2.csv")
        taken(under_way, 150)
    fast = [row["vid"] for row in reports(150).to_pylist() if row["mph"] > 20 and row["time"] >= 100]
    assert sorted((folder / "other.csv").read_text().split()) == sorted(['"v"', *map(str, fast)])


@spark_only
def test_a_change_before_the_first_tuple_does_not_wait_for_it(spark: "SparkSession", folder: Path) -> None:
    with following(spark, folder, au.network(out=FAST), out=f"{folder}/out.csv") as under_way:
        with pytest.raises(RunError, match=r"there is no input or output oat; there are reports, out; did you mean"):
            under_way.change(au.network(out=SLOW), oat="x.csv")
        assert under_way.change(au.network(out=SLOW), out=f"{folder}/out.csv") == 2
        pa.csv.write_csv(reports(50), folder / "reports" / "0.csv")
        taken(under_way, 50)
    assert len((folder / "out.csv").read_text().splitlines()) == 1 + sum(
        row["mph"] <= 20 for row in reports(50).to_pylist()
    )


@spark_only
def test_the_command_says_in_a_line_what_was_cut_off(
    spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(spark, tmp_path, 2)
    without_last(tmp_path)
    au.dump(NET, tmp_path / "net.yaml")
    wanted = given(tmp_path)
    sinks = [f"--sink={name}={wanted[name]}" for name in ("cars", "fast")]
    command = ["run", f"{tmp_path}/net.yaml", f"--source=reports={wanted['reports']}", *sinks]
    warnings.simplefilter("default")
    app([*command, f"--checkpoint={tmp_path}/checkpoint"], standalone_mode=False)
    told = capsys.readouterr().err
    assert f"australis: output cars: {tmp_path}/cars.csv: cut off 1 batch that the checkpoint does not know of" in told
    assert "start.py" not in told


@spark_only
def test_what_a_plan_leaves_out_is_counted_and_a_batch_that_is_run_again_leaves_out_the_same(
    spark: "SparkSession", folder: Path
) -> None:
    stats = REPORTS.aggregate(on="time", size=10, by="vid", n="count(*)", box="stats")
    net = au.network(stats=stats, fast=REPORTS.map(t="time", box="fast"), all=REPORTS.map(m="mph", box="all"))
    sinks = {name: f"{folder}/{name}.csv" for name in ("stats", "fast", "all")}
    with following(spark, folder, net, **sinks) as under_way:
        under_way.leave_out(shed_plan(net, {"fast": 0.5}, {"stats": WindowPart((-(2**63),), (0.5,))}))
        for number in range(4):
            pa.csv.write_csv(reports(50, number * 50), folder / "reports" / f"{number}.csv")
        taken(under_way, 200)
    shed = dict(under_way.totals.shed)
    commits = folder / "checkpoint" / "query" / "commits"
    last = max((path for path in commits.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    for path in (last, last.with_name(f".{last.name}.crc")):  # as if it had been killed just before
        path.unlink(missing_ok=True)
    with net.start({"reports": f"{folder}/reports", **sinks}, spark=spark, checkpoint=folder / "checkpoint") as again:
        again.wait()
    lines = {name: (folder / f"{name}.csv").read_text().splitlines()[1:] for name in sinks}
    assert Counter(again.totals.shed) == Counter(shed)
    assert len(lines["all"]) == 200
    assert len(lines["fast"]) == 200 - shed["box fast"]
    assert 60 < shed["box fast"] < 140
    exact = {
        (time // 10 * 10, vid): sum(1 for t, v in seen if (t // 10, v) == (time // 10, vid))
        for seen in [[(row["time"], row["vid"]) for row in reports(200).to_pylist()]]
        for time, vid in seen
    }
    found = {(int(time), int(vid)): int(n) for time, vid, n in (line.split(",") for line in lines["stats"])}
    assert found.items() <= exact.items()
    assert 0 < len(found) < len(exact)


@spark_only
def test_totals_go_on_and_a_batch_that_is_run_again_counts_once(spark: "SparkSession", folder: Path) -> None:
    for number in range(2):
        pa.csv.write_csv(reports(50, number * 50), folder / "reports" / f"{number}.csv")
    net = au.network(fast=REPORTS.filter("mph > 20", box="fast"))
    with following(spark, folder, net, fast=f"{folder}/fast/") as under_way:
        taken(under_way, 100)
    before = under_way.totals
    commits = folder / "checkpoint" / "query" / "commits"
    last = max((path for path in commits.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    for path in (last, last.with_name(f".{last.name}.crc")):  # as if it had been killed just before
        path.unlink(missing_ok=True)
    with following(spark, folder, net, fast=f"{folder}/fast/") as under_way:
        assert under_way.totals == before
        pa.csv.write_csv(reports(50, 100), folder / "reports" / "2.csv")
        while under_way.totals.taken["reports"] < 150:
            assert not under_way.wait(0.01)
    assert under_way.totals.taken == {"reports": 150}
    assert under_way.totals.boxes["fast"].taken == 150
    assert under_way.since_start.taken["reports"] > 50  # the batch that was run again is work of this start
    measured = ledger.read(folder / "checkpoint")
    sources = measured.filter(pa.compute.equal(measured["kind"], "source"))
    assert sum(sources["given"].to_pylist()) == 150
    assert under_way.totals.batches == len(set(measured["batch"].to_pylist()))

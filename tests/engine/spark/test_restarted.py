"""Runs that are started again on other checkpoints than their sinks know, or after a start that failed."""

import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pytest

import australis as au
from australis.api.network import Network
from australis.cli.main import app
from australis.engine import ledger
from australis.engine.learned import read_learned
from australis.errors import RunError
from australis.qos.ranks import BINS, WindowPart
from australis.qos.shedding import shed_plan
from australis.qos.worth import worth_rank
from australis.testing import train
from tests.connectors.sinks.test_callback import Target
from tests.engine.spark.test_killed import entries
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


def uncommit(checkpoint: Path) -> None:
    """Leave a checkpoint as if the run had been killed just before its last batch was committed."""
    last = entries(checkpoint / "query/commits")[-1]
    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)


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
    uncommit(folder / "checkpoint")
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
def test_windows_that_lost_tuples_do_not_come_out_whole_when_the_network_changes(
    spark: "SparkSession", folder: Path
) -> None:
    stats = REPORTS.aggregate(on="time", size=10, n="count(*)", box="stats")
    net, more = au.network(stats=stats), au.network(stats=stats, all=REPORTS.map(m="mph", box="all"))
    with following(spark, folder, net, stats=f"{folder}/stats.csv") as under_way:
        under_way.leave_out(shed_plan(net, {}, {"stats": WindowPart((-(2**63),), (0.0,))}))
        pa.csv.write_csv(reports(45), folder / "reports" / "0.csv")  # up to the middle of the window from 40 on
        taken(under_way, 45)
        under_way.change(more, all=f"{folder}/all.csv")
        for number in range(4):
            pa.csv.write_csv(reports(14, 45 + number * 14), folder / "reports" / f"{number + 1}.csv")
            taken(under_way, 45 + (number + 1) * 14)
    assert (folder / "stats.csv").read_text().splitlines()[1:] == [f"{time},10" for time in range(50, 100, 10)]
    assert ledger.read(folder / "checkpoint")["utility"].drop_null().to_pylist()
    learned = read_learned(folder / "checkpoint").monitor
    assert learned.time > 0
    assert learned == under_way._steering.monitor
    with following(spark, folder, more, stats=f"{folder}/stats.csv", all=f"{folder}/all.csv") as again:
        assert again._steering.monitor == learned


GRAPH = {"mph": {20: 0.0, 50: 0.3, 90: 1.0}}


@spark_only
def test_a_plan_by_worth_lets_out_the_tuples_of_most_worth(spark: "SparkSession", folder: Path) -> None:
    fast = REPORTS.filter("time % 2 = 0", box="even").map(box="fast", mph="mph")
    net = au.network(fast=fast.output(delivered={0: 0, 1: 1}, value=GRAPH))
    rank = worth_rank(net.outputs[0])
    assert rank is not None
    offered = [row["mph"] for row in reports(400).to_pylist() if row["time"] % 2 == 0]
    worths = rank.worth(train("mph int", mph=offered))
    counts = np.bincount(rank.bins(worths), minlength=BINS)
    with following(spark, folder, net, fast=f"{folder}/fast.csv") as under_way:
        under_way.leave_out(shed_plan(net, {"fast": 0.3}, worth={"fast": tuple(counts.tolist())}))
        for number in range(4):
            pa.csv.write_csv(reports(100, number * 100), folder / "reports" / f"{number}.csv")
        taken(under_way, 400)
        service = under_way.service.outputs["fast"]
    kept = [int(line) for line in (folder / "fast.csv").read_text().splitlines()[1:]]
    least = np.sort(worths)[-int(0.3 * len(offered))]
    found = rank.worth(train("mph int", mph=kept))
    assert (found >= least - 1 / BINS).all()
    above = worths > least + 1 / BINS
    assert (found > least + 1 / BINS).sum() == above.sum()
    assert 0.2 < len(kept) / len(offered) < 0.4
    assert found.sum() / worths.sum() > 1.5 * len(kept) / len(offered)
    assert service.loss == pytest.approx(1 - len(kept) / len(offered), abs=0.1)
    assert service.utility == pytest.approx(found.sum() / worths.sum(), abs=0.1)


@spark_only
def test_runs_of_sources_that_cannot_wait_count_what_tuples_are_worth(spark: "SparkSession", folder: Path) -> None:
    fast = REPORTS.filter("mph > 20", box="fast")
    net = au.network(fast=fast.output(latency={60: 1, 90: 0}, delivered={0: 0, 1: 1}, value=GRAPH))
    source = "rate:2000?time=cast(n as int)&vid=cast(n % 7 as int)&mph=cast(n % 100 as int)&limit=2000"
    with net.start(reports=source, fast=f"{folder}/fast.csv", spark=spark, partitions=2) as under_way:
        under_way.wait()
        measured = under_way.measures().to_pylist()
    came = np.sum([row["came"] for row in measured if row["kind"] == "worth"], axis=0)
    rank = worth_rank(net.outputs[0])
    assert rank is not None
    worths = rank.worth(train("mph int", mph=list(range(21, 100)) * 20))
    assert came.tolist() == np.bincount(rank.bins(worths), minlength=BINS).tolist()
    last = [row for row in measured if row["kind"] == "service"][-1]
    assert (last["utility"], last["loss"]) == (1.0, 0.0)
    assert {row["kind"] for row in measured} >= {"service", "worth", "output", "batch"}
    assert under_way.notices == ()


@spark_only
def test_totals_go_on_and_a_batch_that_is_run_again_counts_once(spark: "SparkSession", folder: Path) -> None:
    for number in range(2):
        pa.csv.write_csv(reports(50, number * 50), folder / "reports" / f"{number}.csv")
    net = au.network(fast=REPORTS.filter("mph > 20", box="fast"))
    with following(spark, folder, net, fast=f"{folder}/fast/") as under_way:
        taken(under_way, 100)
    before = under_way.totals
    uncommit(folder / "checkpoint")
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

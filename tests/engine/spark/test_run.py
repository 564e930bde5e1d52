"""Networks on a real Spark: what comes out is what the local runner gives."""

import gc
import importlib
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pytest

import australis as au
from australis.connectors import dead_letters as letters
from australis.connectors.sinks.memory import MemorySink
from australis.engine import ledger
from australis.engine.spark.frame_sink import FrameSink
from australis.engine.spark.session import session
from australis.errors import ExpressionPlace, RunError, Subject
from australis.queries import Moving, sql
from australis.testing import rows
from tests.engine.test_task import GOLDEN, golden
from tests.oracles.answers import Sums

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

REPORTS = au.stream("reports", "time int, vid int, mph int")


def test_a_session_is_found_from_other_threads_and_is_nobody_else_s(spark: "SparkSession") -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(session()))
    thread.start()
    thread.join()
    assert found == [(spark, False)]


def reports(count: int, first: int = 0) -> pa.RecordBatch:
    n = range(first, first + count)
    columns: dict[str, Any] = {"time": n, "vid": [i % 7 for i in n], "mph": [i * 37 % 100 for i in n]}
    return pa.record_batch({name: pa.array(values, pa.int32()) for name, values in columns.items()})


@pytest.mark.parametrize(
    ("partitions", "train", "optimize"), [(1, 3, True), (2, 5, True), (2, 5, False), (4, None, True)]
)
@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_a_golden_network_gives_the_same_on_spark(
    spark: "SparkSession", folder: Path, partitions: int, train: int | None, optimize: bool
) -> None:
    net, sources = golden(folder)
    found = {output.name: MemorySink() for output in net.outputs}
    net.run({**sources, **found}, spark=spark, partitions=partitions, train=train, optimize=optimize)
    local = net.run_local({name: source.path for name, source in sources.items()}, optimize=False)
    for name, table in local.items():
        assert Counter(rows(found[name].table())) == Counter(rows(table)), name


def test_a_session_that_is_there_is_used_and_is_not_stopped(spark: "SparkSession") -> None:
    assert session() == (spark, False)
    assert session(spark) == (spark, False)
    found = MemorySink()
    au.network(out=REPORTS.filter("mph > 50")).run(reports=reports(10), out=found)
    assert found.table().num_rows == sum(mph > 50 for mph in reports(10)["mph"].to_pylist())
    assert spark.range(3).count() == 3


def test_a_run_that_was_stopped_goes_on_from_its_checkpoint(spark: "SparkSession", tmp_path: Path) -> None:
    net = au.network(out=REPORTS.aggregate(on="time", size=10, by="vid", n="count(*)", mph="sum(mph)"))
    given = {"reports": reports(200), "out": str(tmp_path / "out.csv"), "checkpoint": tmp_path / "checkpoint"}
    run = net.start(**given, spark=spark, partitions=2, train=7)
    while len(run.progress) < 3:
        assert not run.wait(0.01)
    run.stop()
    before = (tmp_path / "out.csv").read_text()
    net.run(**given, spark=spark)
    after = (tmp_path / "out.csv").read_text()
    assert after.startswith(before)
    expected = net.run_local(reports=reports(200))["out"]
    assert Counter(after.splitlines()[1:]) == Counter(",".join(map(str, row)) for row in rows(expected))
    again = net.start(**given, spark=spark)  # all is done: nothing is left to run
    assert again.wait(10)
    assert (tmp_path / "out.csv").read_text() == after


def test_the_checkpoint_of_another_network_is_refused(spark: "SparkSession", tmp_path: Path) -> None:
    net = au.network(out=REPORTS.aggregate(on="time", size=10, by="vid", n="count(*)", box="stats"))
    net.run(reports=reports(20), spark=spark, checkpoint=tmp_path / "checkpoint")
    other = au.network(out=REPORTS.aggregate(on="time", size=20, by="vid", n="count(*)", box="stats"))
    with pytest.raises(RunError, match="checkpoint of another network: the box stats, which has state, was another"):
        other.run(reports=reports(20), spark=spark, checkpoint=tmp_path / "checkpoint")
    gone = au.network(out=REPORTS.filter("mph > 5"))
    with pytest.raises(RunError, match="there was a box stats with state"):
        gone.run(reports=reports(20), spark=spark, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(RunError, match="the run has 2 partitions, and cannot go on with 3"):
        net.run(reports=reports(20), spark=spark, checkpoint=tmp_path / "checkpoint", partitions=3)
    pa.csv.write_csv(reports(20), tmp_path / "reports.csv")
    with pytest.raises(RunError, match=r"read from tuples in memory, and is now given files .*reports\.csv; give"):
        net.run(reports=str(tmp_path / "reports.csv"), spark=spark, checkpoint=tmp_path / "checkpoint")
    (tmp_path / "checkpoint" / "run.json").write_text("{")
    with pytest.raises(RunError, match=r"run\.json: the checkpoint is damaged"):
        net.run(reports=reports(20), spark=spark, checkpoint=tmp_path / "checkpoint")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match=r"is no checkpoint: it holds .*choose an empty folder"):
        net.run(reports=reports(20), spark=spark, checkpoint=tmp_path)


def test_a_box_added_downstream_is_accepted_and_the_others_keep_their_state(
    spark: "SparkSession", tmp_path: Path
) -> None:
    stats = REPORTS.aggregate(on="time", size=1000, by="vid", n="count(*)", box="stats")
    given = {"spark": spark, "checkpoint": tmp_path / "checkpoint", "train": 10}
    folder = tmp_path / "reports"
    folder.mkdir()
    pa.csv.write_csv(reports(50), folder / "1.csv")
    with au.network(out=stats).start(reports=f"{folder}?follow=true", partitions=2, **given) as run:
        while sum(each["taken"]["reports"] for each in run.progress) < 50:
            assert not run.wait(0.01)
    pa.csv.write_csv(reports(50, 50), folder / "2.csv")
    found = MemorySink()
    au.network(out=stats.filter("vid < 3")).run(reports=str(folder), out=found, **given)
    expected = au.network(out=stats.filter("vid < 3")).run_local(reports=reports(100))["out"]
    assert Counter(rows(found.table())) == Counter(rows(expected))


def test_what_does_not_read_is_kept_and_counted_and_strict_stops_at_it(spark: "SparkSession", tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("time,vid,mph\n1,1,50\n2,1,fast\n3,1,70\n")
    net = au.network(out=REPORTS.filter("mph > 0"))
    with pytest.raises(
        RunError, match=r"input reports: .*invalid value 'fast'.*run without `strict` to leave it out, or correct it"
    ):
        net.run(reports=path, spark=spark, strict=True, checkpoint=tmp_path / "checkpoint")
    found = MemorySink()
    run = net.run(reports=path, out=found, spark=spark, checkpoint=tmp_path / "checkpoint")
    assert rows(found.table()) == [(1, 1, 50), (3, 1, 70)]
    assert run.letters == 1
    (letter,) = letters.dead_letters(tmp_path / "checkpoint").to_pylist()
    assert (letter["raw"], letter["position"]) == (b"2,1,fast", 20)


def test_a_file_of_which_nothing_reads_stops_no_run_and_a_checkpoint_that_died_of_one_goes_on(
    spark: "SparkSession", tmp_path: Path
) -> None:
    for place, value in enumerate(("2", "x", "1")):
        (tmp_path / f"{place}.csv").write_text(f"a\n{value}\n")
    net = au.network(out=au.stream("numbers", "a int").filter("a > 0"))
    given = {"numbers": f"{tmp_path}/*.csv"}
    with pytest.raises(RunError, match="invalid value 'x'"):
        net.run(given, spark=spark, partitions=1, strict=True, checkpoint=tmp_path / "checkpoint")
    for checkpoint in None, tmp_path / "checkpoint":
        found = MemorySink()
        run = net.run(given, out=found, spark=spark, partitions=1, checkpoint=checkpoint)
        assert rows(found.table()) == [(2,), (1,)]
        assert run.letters == 1


def test_a_function_that_fails_stops_the_run_at_a_named_box_and_tuple_and_the_run_can_go_on(
    spark: "SparkSession", tmp_path: Path
) -> None:
    @au.function("int", name="halved")
    def bad(mph: Any) -> Any:
        if 99 in mph.to_pylist():
            raise ValueError("too fast")
        return pa.compute.divide(mph, 2)

    halving = REPORTS.map(time="time", half="halved(mph)", box="halving")
    out = tmp_path / "out.csv"
    given = {"reports": reports(100), "out": out, "spark": spark, "checkpoint": tmp_path / "checkpoint", "train": 10}
    told = (
        r"halving.*`halved\(mph\)`.*`halved` failed: too fast, for 99, at the tuple {'time': 27, 'vid': 6, 'mph': 99}"
    )
    with pytest.raises(RunError, match=told) as caught:
        au.network(out=halving).run(**given, partitions=2)
    assert caught.value.about == Subject("map", "halving")
    assert caught.value.first(ExpressionPlace) == ExpressionPlace("halved(mph)")
    au.function("int", name="halved")(lambda mph: pa.compute.divide(mph, 2))
    au.network(out=halving).run(**given)
    assert sorted(int(line.split(",")[0]) for line in out.read_text().splitlines()[1:]) == list(range(100))


def test_a_network_changes_at_a_batch_and_boxes_that_stay_keep_their_state(
    spark: "SparkSession", tmp_path: Path
) -> None:
    cars = REPORTS.aggregate(on="time", size=100, by="vid", n="count(*)", box="cars")
    speeds = REPORTS.aggregate(on="time", size=100, by="vid", mph="max(mph)", box="speeds")
    folder = tmp_path / "reports"
    folder.mkdir()
    found, added = MemorySink(), MemorySink()
    pa.csv.write_csv(reports(50), folder / "1.csv")
    run = au.network(cars=cars).start(
        reports=f"{folder}?follow=true", cars=found, spark=spark, checkpoint=tmp_path / "checkpoint", partitions=2
    )
    with run:
        while sum(each["taken"]["reports"] for each in run.progress) < 50:
            assert not run.wait(0.01)
        with pytest.raises(RunError, match=r"input reports was read from files .*, and is now given a rate"):
            run.change(au.network(cars=cars, speeds=speeds), reports="rate:1", speeds=added)
        version = run.change(au.network(cars=cars, speeds=speeds), speeds=added)
        assert version == run.progress[-1]["batch"]
        pa.csv.write_csv(reports(150, 50), folder / "2.csv")
        while not added.table().num_rows or not found.table().num_rows:
            assert not run.wait(0.01)
        run.change(au.network(speeds=speeds.filter("mph > 50")))
    expected = au.network(cars=cars).run_local(reports=reports(100))["cars"]
    assert Counter(rows(found.table())) == Counter(rows(expected))
    later = au.network(speeds=speeds).run_local(reports=reports(50, 50))["speeds"]
    assert Counter(rows(added.table())) == Counter(rows(later))
    assert [path.name for path in sorted((tmp_path / "checkpoint" / "networks").iterdir())] == [
        "000001.json", "000002.json", "000003.json"
    ]  # fmt: skip


def test_every_box_arrow_and_output_is_measured(spark: "SparkSession", tmp_path: Path) -> None:
    fast = REPORTS.filter("mph > 50", box="fast")
    net = au.network(out=fast.aggregate(on="time", size=10, by="vid", n="count(*)", box="stats"))
    run = net.run(reports=reports(100), spark=spark, partitions=2, checkpoint=tmp_path / "checkpoint", optimize=False)
    table = run.measures()
    assert ledger.read(tmp_path / "checkpoint").equals(table)
    boxes = {row["name"]: row for row in table.filter(pa.compute.equal(table["kind"], "box")).to_pylist()}
    assert set(boxes) == {"fast", "stats"}
    taken = dict.fromkeys(boxes, 0)
    for row in table.to_pylist():
        if row["kind"] == "box":
            taken[row["name"]] += row["taken"]
            assert row["seconds"] > 0
    assert taken == {"fast": 100, "stats": sum(mph > 50 for mph in reports(100)["mph"].to_pylist())}
    arrows = {row["name"] for row in table.to_pylist() if row["kind"] == "arrow"}
    assert {"reports", "fast", "stats"} <= arrows
    (output,) = [row for row in table.to_pylist() if row["kind"] == "output"]
    assert output["given"] > 0
    assert 0 < output["delay"] <= output["worst"] + 1e-9 < 60
    assert output["delay"] <= output["age"] + 1e-9
    assert output["worst"] <= output["oldest"] + 1e-9
    assert sum(output["delays"]) == output["given"]
    of_kind = {kind: [row for row in table.to_pylist() if row["kind"] == kind] for kind in table["kind"].to_pylist()}
    assert sum(row["given"] for row in of_kind["source"]) == 100
    assert {row["name"] for row in of_kind["exchange"]} == {"fast"}
    assert sum(row["taken"] for row in of_kind["exchange"]) == taken["stats"]
    assert sum(row["taken"] for row in of_kind["sink"]) == output["given"]
    assert len(of_kind["batch"]) == len(run.progress)
    assert all(0 <= row["fixed"] <= row["seconds"] for row in of_kind["batch"])
    assert all(row["seconds"] > 0 for kind in ("source", "exchange", "sink") for row in of_kind[kind])


def test_a_frame_of_spark_is_an_input_and_results_are_frames(spark: "SparkSession", tmp_path: Path) -> None:
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 50).load()
    frame = stream.selectExpr("cast(value as int) as vid", "cast(value % 100 as int) as mph", "0 as time", "timestamp")
    seen: dict[int, int] = {}

    def keep(results: Any, batch: int) -> None:
        seen[batch] = results.count()

    net = au.network(out=REPORTS.filter("mph < 10"))
    with net.start(reports=frame, out=FrameSink(keep), checkpoint=tmp_path / "checkpoint") as run:
        while sum(seen.values()) < 15:
            assert not run.wait(0.01)
    taken = sum(each["taken"]["reports"] for each in run.progress)
    assert sum(seen.values()) == sum(value % 100 < 10 for value in range(taken))
    with pytest.raises(RunError, match="input reports: the frame has no column time; it has vid, mph"):
        net.start(reports=frame.drop("time", "timestamp"), checkpoint=tmp_path / "other")


def test_a_frame_that_is_no_stream_is_a_finite_input(spark: "SparkSession") -> None:
    frame = spark.range(100).selectExpr("cast(id as int) as time", "1 as vid", "cast(id as int) as mph")
    found = MemorySink()
    au.network(out=REPORTS.filter("mph < 10")).run(reports=frame, out=found)
    assert sorted(rows(found.table())) == [(i, 1, i) for i in range(10)]


def test_answers_about_moving_objects_are_the_same_on_spark(spark: "SparkSession") -> None:
    """Queries of all kinds, in SQL and as a stream, with timeouts: what updates add up to, from any partitions."""
    n = range(400)
    cars = pa.record_batch({
        "id": pa.array([i * 7 % 40 for i in n], pa.int32()), "x": pa.array([float(i * 37 % 101) for i in n]),
        "y": pa.array([float(i * 53 % 97) for i in n]), "time": pa.array([i // 10 for i in n], pa.int32()),
        "type": pa.array(["truck" if i % 3 else "car" for i in n]),
    })  # fmt: skip
    asked = [
        {"query": 1, "kind": "circle", "radius": 30.0, "focal": 7}, {"query": 2, "kind": "knn", "k": 3, "focal": 5},
        {"query": 3, "kind": "rectangle", "x": 50.0, "y": 50.0, "width": 40.0, "height": 60.0},
        {"query": 4, "kind": "knn", "x": 10.0, "y": 10.0, "k": 5},
    ]  # fmt: skip
    spec = "query int, kind string, x double, y double, width double, height double, radius double, k int, focal bigint"
    stream, queries = au.stream("cars", cars.schema), au.stream("queries", spec)
    text = "SELECT type, count(*), max(x) FROM cars WHERE x > 5 INSIDE (0, 90, 90, 0) kNN ('M', 9, 9) GROUP BY type"
    moving = Moving(time="time", timeout=40)
    seen = stream.moving.watch(queries, time="time", timeout=40, spread=2)
    net = au.network(
        seen=seen.map(sign="sign", query="query", id="id"), near=sql(text, {"cars": stream}, moving=moving)
    )
    given = {"cars": cars, "queries": pa.RecordBatch.from_pylist(asked, schema=queries.schema)}
    found = {output.name: MemorySink() for output in net.outputs}
    net.run({**given, **found}, spark=spark, partitions=2, train=200)
    for name, table in net.run_local(given).items():
        answers = [Sums(), Sums()]
        answers[0].add(rows(table))
        answers[1].add(rows(found[name].table()))
        assert answers[0].rows(), name
        assert answers[1].rows() == answers[0].rows(), name


def test_functions_may_be_in_a_module_beside_the_script(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside.py").write_text(
        "import australis as au\n\n\n@au.function('bigint')\ndef from_beside(x):\n    return x * 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("beside")
    net = au.network(out=au.stream("t", "x bigint").map(y="from_beside(x)"))
    found = MemorySink()
    net.run(t=[{"x": 1}, {"x": 2}], out=found, spark=spark, partitions=1)
    assert found.table()["y"].to_pylist() == [2, 4]


def test_runs_of_a_session_leave_no_thread_no_descriptor_no_object_and_nothing_warm(
    spark: "SparkSession", tmp_path: Path
) -> None:
    def once(place: int) -> "tuple[weakref.ref[Any], int, int]":
        net = au.network(out=REPORTS.aggregate(on="time", size=10, by="vid", n="count(*)", box="stats"))
        run = net.run(
            reports=reports(100), out=MemorySink(), spark=spark, partitions=2, checkpoint=tmp_path / str(place)
        )
        return weakref.ref(run), threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))

    def warm(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from australis.engine.state import state

        yield pa.record_batch({"keys": pa.array([len(state.warm.keys) for _ in batches], pa.int64())})

    after = [once(place) for place in range(5)]
    gc.collect()
    assert [run() for run, _, _ in after] == [None] * 5
    (_, threads, files), (_, more_threads, more_files) = after[0], after[-1]
    # Java's collector of garbage may have called meanwhile, on a connection of its own that stays.
    assert more_threads <= threads + 1
    assert more_files <= files + 1
    while sum(row.keys for row in spark.range(8, numPartitions=8).mapInArrow(warm, "keys long").collect()):
        pass  # a thread of each worker drops it when it comes to that

"""Late and refused tuples: every box counts them, wherever it runs, and those that nothing takes are told."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import australis as au
from australis.api.network import Network
from australis.cli.main import app
from australis.connectors import dead_letters as letters
from australis.connectors.sources.memory import MemorySource
from australis.engine.addresses import DEAD_LETTERS, MEASURES
from australis.engine.job import Job
from australis.engine.losses import losses
from australis.engine.succession import planned
from australis.engine.totals import Totals
from tests.engine.test_task import batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPORTS = au.stream("reports", "time int, vid int, mph int")
OTHERS = au.stream("others", "time int, vid int, mph int")
SHIPS = au.stream("ships", "id int, x double, y double")
QUERIES = au.stream("queries", "query int, kind string, x double, y double, radius double")
STATS = REPORTS.aggregate(on="time", size=60, n="count(*)", box="stats")
TIMES = [0, 70, 50, 130, 65]
DISORDER = {
    "time": [5, 9, 1, 12, None, 3, 20, 18, 40],
    "vid": [1, 2, 1, 2, 1, 1, 2, 2, 3],
    "mph": [1, 2, 3, 4, 5, 6, 7, 8, 9],
}
GIVEN = {
    "reports": DISORDER,
    "others": {"time": [7, 2, 8, None, 30, 1], "vid": [1, 2, 2, 2, 1, 1], "mph": [1, 2, 3, 4, 5, 6]},
    "ships": {"id": [1, 2], "x": [0.0, 5.0], "y": [0.0, 1.0]},
    "queries": {
        "query": [7, 8, 9], "kind": ["circle", "square root", "circle"], "x": [1.0, 2.0, None], "y": [0.0] * 3,
        "radius": [2.0] * 3,
    },
}  # fmt: skip
NETWORKS = {
    "aggregate": au.network(out=REPORTS.aggregate(on="time", size=10, by="vid", n="count(*)", box="it")),
    "join": au.network(out=REPORTS.join(OTHERS, "left.vid = right.vid", on="time", size=5, box="it")),
    "resample": au.network(
        out=REPORTS.resample(OTHERS, on=("time", au.order("time", by="vid")), size=5, mph="avg(mph)", box="it")
    ),
    "window": au.network(out=REPORTS.signal.window("mph", "time", 2, 1, by="vid", box="it")),
    "watch": au.network(out=SHIPS.moving.watch(QUERIES, box="it")),
}
LOST = {
    "aggregate": {"late": 4},
    "join": {"late_left": 4, "late_right": 3},
    "resample": {"late_left": 4, "late_right": 2},
    "window": {"late": 4},
    "watch": {"refused": 2},
}


def given(net: Network) -> dict[str, pa.RecordBatch]:
    return {
        input.name: pa.RecordBatch.from_pydict(GIVEN[input.name], schema=input.schema)  # type: ignore[arg-type]
        for input in net.inputs
    }


def measured(net: Network, partitions: int, limit: int, folder: Path) -> tuple[Totals, Counter[str], list[Any]]:
    """What a job counts of a network: totals, tuples given by output, and dead letters."""
    sources = {name: MemorySource((tuples,)) for name, tuples in given(net).items()}
    job = Job(net, planned(net, sources, partitions), sources, str(folder / "checkpoint"), partitions)
    totals, outputs, dead = Totals(), Counter[str](), []
    nothing = {"taken": {}, "given": {}, "delay": {}, "letters": 0, "seconds": 0.0}
    for number, found in enumerate(batches(job, limit, folder), 1):
        totals.add({**nothing, "batch": number}, [found[MEASURES]])
        dead += found[DEAD_LETTERS].to_pylist()
        outputs.update({name: tuples.num_rows for name, tuples in found.items() if not name.startswith("#")})
    return totals, outputs, dead


def test_late_tuples_are_in_the_result_of_a_local_run() -> None:
    found = au.network(out=STATS).run_local(reports={"time": TIMES, "vid": TIMES, "mph": TIMES})
    assert found["out"].to_pydict() == {"time": [0, 60, 120], "n": [1, 1, 1]}
    assert found.late == {"stats": 2}
    assert found.refused == {}
    assert found.counts["stats"].taken == [5]
    assert found.counts["stats"].given == {"out": 3, "late": 2}
    assert found.losses() == ["2 tuples were late at box `stats`: give it slack, or send its port `late` somewhere"]


def test_what_something_takes_is_counted_and_not_lost() -> None:
    found = au.network(out=STATS, late=STATS.late).run_local(reports={"time": TIMES, "vid": TIMES, "mph": TIMES})
    assert found["late"].column("time").to_pylist() == [50, 65]
    assert (found.late, found.losses()) == ({"stats": 2}, [])


def test_streams_that_meet_as_they_arrive_may_be_merged_instead() -> None:
    both = REPORTS.union(OTHERS, box="both").filter("vid > 0")
    run = au.Local(au.network(out=both.aggregate(on="time", size=60, n="count(*)", box="stats")))
    run.push(reports={"time": [100], "vid": [1], "mph": [1]})
    run.push(others={"time": [7], "vid": [1], "mph": [1]})
    counts = {name: each.given for name, each in run.counts.items()}
    assert losses(run.network, counts) == [
        "1 tuple was late at box `stats`: give it slack, or merge the streams of `both` by their order (`on`), or send"
        " its port `late` somewhere"
    ]


@pytest.mark.parametrize("kind", NETWORKS)
def test_every_box_counts_what_it_could_not_use(kind: str) -> None:
    found = NETWORKS[kind].run_local(given(NETWORKS[kind]))
    counts = found.counts["it"]
    assert {port: counts.given[port] for port in LOST[kind]} == LOST[kind]
    assert counts.late + counts.refused == sum((found.late | found.refused).values()) == sum(LOST[kind].values())
    assert len(found.losses()) == len(LOST[kind])
    assert all("at box `it`: " in each for each in found.losses())


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("limit", [2, 1000])
@pytest.mark.parametrize("kind", NETWORKS)
def test_partitions_count_each_tuple_once(
    kind: str, partitions: int, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("australis.engine.spark.stream_source.time", SimpleNamespace(time_ns=lambda: 10**18))
    totals, outputs, dead = measured(NETWORKS[kind], partitions, limit, tmp_path)
    assert {port: n for port, n in totals.ports["it"].items() if port in LOST[kind]} == LOST[kind]
    assert sum((totals.late | totals.refused).values()) == sum(LOST[kind].values())
    assert totals.ports["it"]["out"] == outputs["out"]
    assert len(dead) == LOST[kind].get("refused", 0)


def test_refused_tuples_are_dead_letters_whole(tmp_path: Path) -> None:
    net = NETWORKS["watch"]
    totals, _, dead = measured(net, 2, 1000, tmp_path)
    assert totals.refused == {"it": 2}
    assert [(each["input"], each["reason"]) for each in dead] == [("it", "refused by the box (its port `refused`)")] * 2
    assert dead[0]["raw"] == b'{"query": 8, "kind": "square root", "x": 2, "y": 0, "radius": 2}'
    watched = SHIPS.moving.watch(QUERIES, box="it")
    (tmp_path / "wired").mkdir()
    totals, outputs, dead = measured(au.network(out=watched, bad=watched.port("refused")), 2, 1000, tmp_path / "wired")
    assert (totals.refused, outputs["bad"], dead) == ({"it": 2}, 2, [])


def test_the_ports_of_a_filter_are_counted_one_by_one(tmp_path: Path) -> None:
    slow, _, fast = REPORTS.route("mph < 3", "mph < 5", box="speeds")
    totals, _, _ = measured(au.network(slow=slow, fast=fast.filter("mph < 8", box="fast")), 2, 1000, tmp_path)
    assert totals.boxes["speeds"].taken == 9
    assert totals.ports == {"speeds": {"1": 2, "2": 2, "rest": 5}, "fast": {"out": 3, "rest": 2}}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("time\n" + "".join(f"{time}\n" for time in TIMES))
    return tmp_path


def told(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stderr


QUERY = "SELECT window_start, count(*) AS n FROM TUMBLE(TABLE r, time, SIZE 60) GROUP BY window_start"


def test_the_command_line_tells_of_late_tuples(place: Path) -> None:
    line = (
        "2 tuples were late at box `aggregate_1`: say how many tuples late they may be (--slack N, or SLACK N in TUMBLE"
        " and HOP)\n"
    )
    assert told("sql", QUERY, "--source", "r=r.csv", "--local") == line
    assert told("sql", QUERY, "--source", "r=r.csv", "--local", "--quiet") == ""
    assert told("sql", QUERY, "--source", "r=r.csv", "--local", "--slack", "2") == ""
    times = au.stream("r", "time int").aggregate(on="time", size=60, n="count(*)", box="stats")
    (place / "net.yaml").write_text(au.dumps(au.network(out=times)))
    line = "2 tuples were late at box `stats`: give it slack, or send its port `late` somewhere\n"
    assert told("run", "net.yaml", "--source", "r=r.csv", "--local").endswith(line)


@pytest.mark.spark
def test_a_run_on_spark_tells_of_late_tuples_and_keeps_refused_ones(spark: "SparkSession", tmp_path: Path) -> None:
    watched = SHIPS.moving.watch(QUERIES, box="it")
    net = au.network(out=STATS, seen=watched)
    run = net.run(given(net), spark=spark, partitions=2, checkpoint=tmp_path / "checkpoint")
    late = net.run_local(given(net)).late
    assert run.totals.late == late == {"stats": 4}
    assert (run.totals.refused, run.letters) == ({"it": 2}, 2)
    assert run.progress[-1]["late"] == late
    table = run.measures()
    boxes = table.filter(pa.compute.equal(table["kind"], "box"))
    assert {name: sum(n for n in boxes.filter(pa.compute.equal(boxes["name"], name))["late"].to_pylist() if n)
            for name in ("stats", "it")} == {"stats": 4, "it": 0}  # fmt: skip
    kept = letters.dead_letters(tmp_path / "checkpoint").to_pylist()
    assert [each["input"] for each in kept] == ["it", "it"]

"""What stored tables give by themselves, on opening: the same from every runner."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.api.network import Network
from australis.connectors.sinks.memory import MemorySink as Kept
from australis.connectors.sources.memory import MemorySource
from australis.engine.job import Job
from australis.engine.succession import planned
from australis.testing import rows
from tests.engine.test_task import batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEFT, RIGHT = au.static("left", "id int, a int"), au.static("right", "id int, b int")
SEEN = au.stream("seen", "time int, id int")
PAIRS = LEFT.join(RIGHT, "left.id = right.id", box="pairs")
TABLE = au.table("table", "id int, v int", key="id")
WRITTEN = LEFT.write(TABLE, v="a")
NETWORKS = {
    "a join": au.network(out=PAIRS),
    "a join beside a stream": au.network(out=PAIRS, more=SEEN.filter("id > 1")),
    "a join beside one with a stream": au.network(out=PAIRS, more=SEEN.join(LEFT, "left.id = right.id")),
    "boxes after a join": au.network(out=PAIRS.filter("a > 1").aggregate(on="id", size=3, n="count(*)", slack=99)),
    "a join and a stream in a union": au.network(out=PAIRS.map(id="id").union(SEEN.map(id="id"))),
    "a filter": au.network(out=LEFT.filter("a > 1"), more=SEEN.filter("id > 1")),
    "a table as it is": au.network(out=LEFT, more=SEEN.filter("id > 1")),
    "windows": au.network(out=LEFT.aggregate(on="id", size=2, slack=99, n="count(*)")),
    "a table that is written": au.network(out=WRITTEN, more=SEEN.read(TABLE, "v")),
    "a table that is read": au.network(WRITTEN, out=RIGHT.read(TABLE, "v")),
}
GIVEN = {
    "left": {"id": [1, 2, 3, 3, 5], "a": [1, 2, 3, 4, 5]},
    "right": {"id": [2, 3, 3], "b": [7, 8, 9]},
    "seen": {"time": [1, 2, 3], "id": [1, 2, 3]},
}


def inputs(net: Network, given: Any = GIVEN) -> dict[str, pa.RecordBatch]:
    return {input.name: pa.RecordBatch.from_pydict(given[input.name], schema=input.schema) for input in net.inputs}


def counted(results: Any) -> dict[str, Counter[Any]]:
    found: dict[str, Counter[Any]] = {}
    for each in results:
        for name, tuples in each.items():
            found.setdefault(name, Counter()).update(rows(tuples))
    return found


def stepped(net: Network, given: dict[str, pa.RecordBatch]) -> dict[str, Counter[Any]]:
    """A run that is opened with its tables."""
    static = [input.name for input in net.inputs if input.static]
    run = au.Local(net, {name: given[name] for name in static})
    return counted([*(run.push({name: given[name]}) for name in given if name not in static), run.end()])


@pytest.mark.parametrize("name", NETWORKS)
def test_opening_with_tables_gives_what_a_whole_run_gives(name: str) -> None:
    net = NETWORKS[name]

    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        few = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4)
        drawn = {i.name: dict(zip(i.schema.names, zip(*data.draw(few), strict=True), strict=False)) for i in net.inputs}
        given = inputs(net, {n: d or {key: [] for key in GIVEN[n]} for n, d in drawn.items()})
        assert stepped(net, given) == counted([net.run_local(given)])

    agrees()


def test_what_is_there_on_opening_comes_with_the_first_call_whichever_it_is() -> None:
    for call in ("push", "tick", "end"):
        run = au.Local(NETWORKS["a join beside a stream"], inputs(NETWORKS["a join"]))
        found = run.push(seen=GIVEN["seen"]) if call == "push" else run.tick(1) if call == "tick" else run.end()
        assert found["out"].num_rows == 5
        if call != "end":
            assert run.end()["out"].num_rows == 0


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("limit", [1, 1000])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_job_gives_the_same(name: str, partitions: int, limit: int, tmp_path: Path) -> None:
    net = NETWORKS[name]
    sources = {name: MemorySource((tuples,)) for name, tuples in inputs(net).items()}
    job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / "checkpoint"), partitions)
    results = ({n: t for n, t in each.items() if not n.startswith("#")} for each in batches(job, limit, tmp_path))
    expected = counted([net.run_local(inputs(net))])
    assert counted(results) == expected
    assert expected["out"]


@pytest.mark.spark
def test_spark_gives_the_same_and_once(spark: "SparkSession", tmp_path: Path) -> None:
    net = NETWORKS["a join beside a stream"]
    (tmp_path / "seen").mkdir()
    (tmp_path / "seen" / "1.csv").write_text("time,id\n1,1\n2,2\n")
    out, more, some = Kept(), Kept(), Kept()
    given: dict[str, Any] = {**inputs(NETWORKS["a join"]), "seen": f"{tmp_path}/seen/?follow=true"}
    with net.start(given, out=out, more=more, spark=spark, partitions=2) as run:
        while not more.table().num_rows:
            assert not run.wait(0.01)
        changed = au.network(out=PAIRS, more=SEEN.filter("id > 1"), some=LEFT.filter("a > 1", box="some"))
        run.change(changed, some=some)
        (tmp_path / "seen" / "2.csv").write_text("time,id\n3,3\n")
        while more.table().num_rows < 2:
            assert not run.wait(0.01)
    assert Counter(rows(out.table())) == counted([net.run_local({**inputs(net)})])["out"]
    assert some.table().column("a").to_pylist() == [2, 3, 4, 5]

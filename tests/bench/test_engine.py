"""The benchmark of the engine: what it compares is the same, and what it tells of it is right."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from australis.bench import engine, workloads
from australis.bench.engine import Contest, Side, count_forgotten, measure
from australis.bench.spark import peers
from australis.errors import RunError

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tuples")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("label", "count"), [("windows", 1_000_000), ("windows by file", 1_000_000), ("changes", 2_000), ("chain", 20_000)]
)
def test_all_ways_give_the_same_answers(spark: "SparkSession", data: Path, label: str, count: int) -> None:
    (contest,) = (each for each in engine.contests(spark, count) if each.label == label)
    _, ours = engine.once(contest.ours, data, count, answer=True)
    assert ours.num_rows
    for side in contest.others:
        if side.answers and side.name != peers.CHAIN_APART.name:  # too slow to start
            _, theirs = engine.once(side, data, count, answer=True)
            assert theirs.num_rows
            assert count_forgotten(ours, theirs, side.forgets) == (workloads.KEYS if side.forgets else 0), side.name


@pytest.mark.parametrize(
    ("theirs", "forgets", "missing"),
    [
        ({"time": [60, 0], "mean": [2.0, 0.1 + 0.2]}, "", 0),
        ({"time": [0], "mean": [0.3]}, "time", 1),
        ({"time": [0], "mean": [0.3]}, "", None),
        ({"time": [60], "mean": [2.0]}, "time", None),
        ({"time": [60, 0], "mean": [2.0, 0.4]}, "", None),
    ],
)
def test_answers_are_the_same_in_any_order_but_for_the_last(
    theirs: dict[str, list[float]], forgets: str, missing: int | None
) -> None:
    assert count_forgotten(pa.table({"time": [0, 60], "mean": [0.3, 2.0]}), pa.table(theirs), forgets) == missing


def writing(values: list[int], runs: list[str], name: str) -> Side:
    """A side that counts its runs, and gives values however many tuples there are."""

    def run(source: Path, out: Path, checkpoint: Path) -> None:
        runs.append(name)
        out.mkdir()
        pq.write_table(pa.table({"x": values}), out / "0.parquet")

    return Side(name, 100, run, goal=1e-9)


def test_sides_run_by_turns_and_are_told_of_in_eighty_columns(tmp_path: Path) -> None:
    runs: list[str] = []
    sides = [writing([1, 2], runs, "ours"), writing([2, 1], runs, "same"), writing([3], runs, "other")]
    lacking = Side("transformWithStateInPandas", 100, sides[0].run, goal=100, missing="google.protobuf")
    rows = measure(Contest("changes", "changes by 200k", sides[0], (*sides[1:], lacking)), tmp_path, 2, lambda _: None)
    assert runs == ["ours", "same", "other"] * 3
    assert [row["same"] for row in rows] == [None, True, False, None]
    assert [len(row["seconds"]) for row in rows] == [2, 2, 2, 0]
    console = Console(width=80, record=True)
    for sheet in engine.sheets(rows, [0.1, 0.3, 0.2], 100, 2):
        console.print(sheet)
    text = console.export_text()
    assert "…" not in text
    assert "changes by 200k: transformWithStateInPandas needs the module google.protobuf" in text
    assert "a batch of one tuple takes 0.200 s" in text


def test_a_workload_that_is_not_there_is_told() -> None:
    with pytest.raises(RunError, match="no workload is named joins: there are windows, chain, changes"):
        engine.main(only="joins")

"""Runs on Spark in which branches wait: they give the same, and it is told how far they are behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

import australis as au
from australis.connectors.sinks.memory import MemorySink
from australis.engine.batch import Batch
from australis.engine.positions import Positions, Takes
from australis.engine.steering import Steering
from australis.testing import rows
from tests.engine.test_positions import NET, REPORTS, STATS, THIRD, job_of, rate, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
NAMES = [output.name for output in NET.outputs]


@contextmanager
def waiting(takes: Iterator[Takes]) -> Iterator[None]:
    """Let branches take what is said after each batch, in the place of what graphs and costs would say."""

    def after(steering: Steering, batch: Batch, taken: object, tables: object, positions: Positions) -> dict[str, Any]:
        steering.next(positions, batch.clock)
        steering.notices.see(batch.clock + 3_000_000 * batch.version, NET, steering.service, {})
        return {"interval": 0.0, "shed": None, "least": 0, "takes": next(takes)}

    with patch.object(Steering, "after", after):
        yield


def test_a_branch_that_waits_gives_the_same_and_is_told_of(spark: "SparkSession", tmp_path: Path) -> None:
    sinks = {name: MemorySink() for name in NAMES}
    takes: list[Takes] = [{"stats": {"reports": 0}}] * 4 + [{"stats": {"reports": 40}, "all": {"reports": 0}}] * 4
    with waiting(iter([*takes, *repeat({}, 100)])):
        under_way = NET.start(
            {"reports": rate(1000), **sinks}, spark=spark, checkpoint=tmp_path / "c", partitions=2, train=100
        )
        with under_way:
            assert under_way.wait(60)
    expected, _ = run(job_of(NET, rate(1000), tmp_path), 1000, tmp_path)
    assert {name: rows(sink.table()) for name, sink in sinks.items()} == expected
    assert under_way.totals.taken == {"reports": 1000}
    assert under_way.backlog() == {"reports": 0}
    behind = [each["behind"] for each in under_way.progress]
    assert max(each.get("stats", 0) for each in behind) > 500
    assert under_way.service.behind == {}
    table = under_way.measures().to_pylist()
    assert {row["name"] for row in table if row["kind"] == "branch"} == {"stats", "all"}
    # What is read again for a branch is counted with it, and not as taken.
    again = [row["given"] for row in table if row["kind"] == "source" and row["port"] == "stats"]
    assert sum(again) == 900
    lines = [line for _, line in under_way.notices]
    assert any(line.startswith("stats waits since ") and line.endswith(" tuples behind") for line in lines)
    assert any(line.startswith("all has caught up at ") for line in lines)


def test_a_change_while_a_branch_waits_loses_nothing(spark: "SparkSession", tmp_path: Path) -> None:
    sinks = {name: MemorySink() for name in [*NAMES, "few", "both"]}
    more = {**dict(zip(NAMES, (THIRD, STATS, None, REPORTS), strict=True))}
    del more["sums"]
    kept = au.network(**more, few=STATS.filter("c < 2", box="few"))
    joined = au.network(**more, both=THIRD.join(STATS, "left.seg = right.seg", on="n", size=10, box="both"))
    with waiting(repeat({"stats": {"reports": 10}, "stats, few": {"reports": 10}})):
        given = {"reports": rate(2000), **{name: sinks[name] for name in NAMES}}
        with NET.start(given, spark=spark, checkpoint=tmp_path / "c", partitions=2, train=100) as under_way:
            while under_way.service.behind.get("stats") is None:
                assert not under_way.wait(0.01)
            under_way.change(kept, few=sinks["few"])
            under_way.change(joined, both=sinks["both"])
            assert under_way.wait(60)
    expected, _ = run(job_of(NET, rate(2000), tmp_path), 2000, tmp_path)
    for name in ("fast", "stats", "all"):
        assert rows(sinks[name].table()) == expected[name], name
    assert sinks["few"].table().num_rows
    assert sinks["both"].table().num_rows

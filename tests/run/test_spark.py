"""Golden networks on a real Spark: what comes out is what the local runner gives."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from australis.plan import plan
from australis.run.job import Job
from australis.run.session import session
from australis.run.spark import Run
from australis.testing import rows
from tests.run.test_job import GOLDEN, golden

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator["SparkSession"]:
    found, ours = session(master="local[2]")
    yield found
    if ours:
        found.stop()


@pytest.mark.parametrize(
    ("name", "partitions"),
    [("hourly_prices", 1), ("hourly_prices", 2), ("accounts", 2), ("plates", 2), ("platoons", 2)],
)
def test_a_golden_network_gives_the_same_on_spark(
    spark: "SparkSession", name: str, partitions: int, tmp_path: Path
) -> None:
    (folder,) = (folder for folder in GOLDEN if folder.name == name)
    net, sources = golden(folder)
    streams = [input.name for input in net.inputs if not input.static]
    planned = plan(net, dict.fromkeys(streams, ()) if partitions == 1 else None)
    found: dict[str, Counter[object]] = {output.name: Counter() for output in net.outputs}

    def deliver(batch: int, output: str, tuples: pa.RecordBatch) -> None:
        found[output].update(rows(tuples))

    run = Run(spark, Job(net, planned, sources, str(tmp_path), partitions), deliver, limit=5)
    assert run.wait(timeout=120)
    for output, table in net.run_local({name: source.path for name, source in sources.items()}).items():
        assert found[output] == Counter(rows(table)), output


def test_a_session_that_is_there_is_used_and_is_not_ours(spark: "SparkSession") -> None:
    assert session() == (spark, False)
    assert session(spark) == (spark, False)

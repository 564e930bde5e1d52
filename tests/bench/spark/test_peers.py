"""The networks in plain Spark: what needs no session."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from australis.bench import workloads
from australis.bench.engine import count_forgotten
from australis.bench.spark import peers

pytestmark = pytest.mark.slow


def test_steps_of_arrow_are_those_of_the_chain(tmp_path: Path) -> None:
    source = workloads.tuples(tmp_path, 20_000)
    (batch,) = pq.read_table(source, columns=["time", "key", "value"]).combine_chunks().to_batches()
    for step in peers.STEPS:
        batch = step(batch)
    assert count_forgotten(workloads.chain().run_local(tuples=f"{source}/*.parquet")["out"], pa.table(batch)) == 0


def test_the_processor_gives_the_changes_of_an_item_in_order() -> None:
    from pyspark.sql.streaming.tws_tester import TwsTester

    tester = TwsTester(peers.processor())
    first = tester.testInPandas(5, pd.DataFrame({"number": [3, 1, 2], "status": [1, 0, 0]}))
    later = tester.testInPandas(5, pd.DataFrame({"number": [4, 5], "status": [1, 0]}))
    assert first.values.tolist() == [[1, 5, 0], [3, 5, 1]]
    assert later.values.tolist() == [[5, 5, 0]]

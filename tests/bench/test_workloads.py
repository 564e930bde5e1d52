"""The workloads of the engine."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from australis.bench import workloads

pytestmark = pytest.mark.slow


def test_fewer_tuples_are_the_first_of_more(tmp_path: Path) -> None:
    few, more = (pq.read_table(workloads.tuples(tmp_path, count)) for count in (1_000, workloads.FILE + 1_000))
    assert few.equals(more.slice(0, 1_000))
    assert more["number"].to_pylist() == list(range(workloads.FILE + 1_000))
    assert len(list(workloads.tuples(tmp_path, workloads.FILE + 1_000).iterdir())) == 2

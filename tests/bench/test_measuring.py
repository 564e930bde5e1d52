"""What measuring costs: it can be measured at all."""

from pathlib import Path

from australis.bench.measuring import share
from australis.bench.workloads import tuples


def test_a_task_runs_with_and_without_measurements(tmp_path: Path) -> None:
    assert -1 < share(tuples(tmp_path, 1000), 1) < 10

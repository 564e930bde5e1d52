"""What measuring costs: it can be measured at all."""

from pathlib import Path

import pytest

from australis.bench.measuring import NETWORKS, share
from australis.bench.workloads import tuples


@pytest.mark.parametrize("network", NETWORKS)
def test_a_task_runs_with_and_without_measurements(network: str, tmp_path: Path) -> None:
    assert -1 < share(tuples(tmp_path, 1000), 1, network) < 10

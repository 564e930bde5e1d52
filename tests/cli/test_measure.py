"""`australis measure`: what the parts of a network cost, for `australis check --rates`."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import australis as au
from australis.cli.main import app
from australis.cli.measure import measured_costs
from australis.engine.measures import SCHEMA
from australis.model.qos import read_costs
from australis.qos.ranks import BINS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NET = au.network(fast=au.stream("reports", "time int, mph int").filter("mph > 60", box="fast"))


def table(seconds: list[float]) -> pa.Table:
    """The measurements of batches of a thousand tuples, whose box took so many seconds."""
    rows = []
    for batch, each in enumerate(seconds, 1):
        rows.append({"batch": batch, "kind": "box", "name": "fast", "port": "out", "seconds": each, "taken": 1000})
        rows.append({"batch": batch, "kind": "arrow", "name": "fast", "port": "out", "taken": 1000, "given": 250})
        rows.append({"batch": batch, "kind": "batch", "seconds": each + 0.1, "fixed": 0.1})
    return pa.Table.from_pylist(rows, SCHEMA)


def test_batches_that_compile_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    costs = measured_costs(NET, table([9.0, 5.0, 2.0, 2.0, 2.0, 2.0]))
    assert costs.boxes["fast"].seconds == pytest.approx(0.002)
    assert costs.boxes["fast"].selectivity == {"out": 0.25, "rest": 0.0}
    assert costs.batch == pytest.approx(0.1)
    assert not capsys.readouterr().err


def test_few_batches_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert measured_costs(NET, table([2.0])).boxes["fast"].seconds == 0.002
    assert "there were only 1 batches" in capsys.readouterr().err


def test_what_tuples_are_worth_is_measured_too() -> None:
    graph = {0: 0, 100: 1}
    fast = au.stream("reports", "mph int").filter("mph > 60", box="fast")
    network = au.network(fast=fast.output(delivered={0: 0, 1: 1}, value={"mph": graph}))
    counts = {"came": [3] * BINS, "worths": [3 * (place + 0.5) / BINS for place in range(BINS)]}
    rows = [{"batch": batch, "kind": "worth", "name": "fast", **counts} for batch in range(1, 7)]
    found = measured_costs(network, pa.concat_tables([table([2.0] * 6), pa.Table.from_pylist(rows, SCHEMA)]))
    assert found.worth["fast"].curve.utility(0.5) == pytest.approx(0.75)


@pytest.mark.spark
def test_what_is_measured_can_be_checked(
    spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    au.dump(NET, tmp_path / "net.yaml")
    (tmp_path / "reports.csv").write_text("time,mph\n" + "".join(f"{n},{n % 100}\n" for n in range(50_000)))
    command = ["measure", f"{tmp_path}/net.yaml", f"--source=reports={tmp_path}/reports.csv", "--train=5000"]
    app([*command, f"--to={tmp_path}/costs.json", "--partitions=2"], standalone_mode=False)
    costs = read_costs(tmp_path / "costs.json")
    assert costs.boxes["fast"].seconds > 0
    assert costs.boxes["fast"].selectivity["out"] == pytest.approx(0.39, abs=0.02)
    assert costs.sources["reports"] > 0
    assert costs.batch > 0
    capsys.readouterr()
    app(
        ["check", f"{tmp_path}/net.yaml", "--rates=reports=1000", f"--costs={tmp_path}/costs.json"],
        standalone_mode=False,
    )
    assert "largest rates: reports=" in capsys.readouterr().out

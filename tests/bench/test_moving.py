"""The measurements of moving objects, made short: they come to their end, and systems agree."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from australis.bench import moving, moving_paper
from australis.bench.moving_load import Load, network


@pytest.mark.spark
def test_the_load_runs_on_spark_and_beside_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moving.main(objects=500, queries=50, batches=2, json=tmp_path / "moving.json")
    report = json.loads((tmp_path / "moving.json").read_text())
    assert report["spark"]["results"] == report["box"]["results"]
    assert len(report["spark"]["all"]) == 3
    assert "plain Spark" in capsys.readouterr().out


def test_a_tree_finds_what_the_updates_add_up_to() -> None:
    load = Load(objects=300, queries=40)
    inputs = {"objects": pa.Table.from_batches(load.ticks(3)), "queries": pa.table(load.asked())}
    signs = network().run_local(inputs, train=300)["updates"]["sign"]
    assert sum(signs.to_pylist()) == moving.tree(load)["results"] > 0


def test_the_papers_experiments_come_to_what_it_says(tmp_path: Path) -> None:
    found = moving_paper.main(objects=1500, queries=100, plots=tmp_path)
    assert [row[0] for row in found["caches"]["rows"]] == [0, 25, 50, 100]
    assert found["caches"]["rows"][-1][1] == 100, "nothing is uncertain with a whole cache"
    ratios = [row[3] for row in found["sharing"]["rows"]]
    assert ratios == sorted(ratios), "sharing gains with the size of regions"
    assert all(objects <= queries for _, objects, queries in found["shedding"]["rows"])
    assert {path.name for path in tmp_path.iterdir()} == {f"moving_{name}.png" for name in found}

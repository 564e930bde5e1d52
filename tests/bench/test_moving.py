"""The measurements of moving objects, made short: they come to their end, and systems agree."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from australis.bench import moving
from australis.bench.moving_load import Load, network

pytestmark = pytest.mark.slow


@pytest.mark.spark
def test_the_load_runs_on_spark_and_beside_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moving.main(objects=500, queries=50, nearest=5, batches=2, json=tmp_path / "moving.json", paper=False)
    report = json.loads((tmp_path / "moving.json").read_text())
    assert report["spark"]["results"] == report["box"]["results"]
    assert len(report["spark"]["all"]) == 3
    assert "plain Spark" in capsys.readouterr().out


def test_a_tree_finds_what_the_updates_add_up_to() -> None:
    load = Load(objects=300, queries=40)
    inputs = {"objects": pa.Table.from_batches(load.ticks(3)), "queries": pa.table(load.query_rows())}
    signs = network().run_local(inputs, train=300)["updates"]["sign"]
    assert sum(signs.to_pylist()) == moving.tree(load)["results"] > 0


def test_kernels_alone_give_what_the_box_gives() -> None:
    load = Load(objects=1000, queries=60, nearest=20)
    kernel, box = moving.kernel(load, 3), moving.box(load, 3)
    assert kernel["results"] == box["results"] > 0

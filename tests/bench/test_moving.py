"""The measurements of moving objects, made short: they come to their end, and systems agree."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from australis.bench import moving, moving_paper
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


def test_the_papers_experiments_come_to_what_it_says(tmp_path: Path) -> None:
    told: list[str] = []
    found = moving_paper.main(2000, tmp_path, Console(file=StringIO()), told.append)
    assert len(told) == len(found) == 16
    assert {path.name for path in tmp_path.iterdir()} == {f"moving_{name}.png" for name in found}

    def column(name: str, *titles: str) -> list[Any]:
        places = [found[name]["columns"].index(title) for title in titles]
        return [[row[place] for place in places] for row in found[name]["rows"]]

    assert all(had == [100] for had in column("caches", "100% cache")), "nothing is uncertain with a whole cache"
    for way in ("paper's entries", "bytes of tables"):
        ratios = column("sharing", f"ratio, {way}")
        assert ratios == sorted(ratios), "sharing gains with the size of regions"
        assert ratios[-1] > [1.5]
    assert all(
        below < above for below, above in column("pipelined_join", "tuples: below, moving", "tuples: above, moving")
    )
    for _, objects, queries in column("shedding_queries", "queries", "objects shed, 90%", "queries shed, 90%"):
        assert objects <= queries <= 100
    for asked, *means in column(
        "shedding", "% accuracy asked for", *(name for name in found["shedding"]["columns"] if name.startswith("mean"))
    ):
        assert min(means) >= asked - 1e-6
    for none, objects in column("shedding_bytes", "none shed, carrying 3", "objects shed, carrying 3")[1:]:
        assert objects < none
    assert max(column("supported", "ratio, objects shed, 1%"))[0] > 2
    assert all(
        least >= 70 - 1e-6
        for each in column("arriving", "least, objects shed", "least, queries shed")
        for least in each
    )


def test_kernels_alone_give_what_the_box_gives() -> None:
    load = Load(objects=1000, queries=60, nearest=20)
    kernel, box = moving.kernel(load, 3), moving.box(load, 3)
    assert kernel["results"] == box["results"] > 0

"""The experiments of the SOLE paper, made short."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from australis.bench import moving_paper

pytestmark = pytest.mark.slow


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

"""The experiments of the SOLE paper (7.1 to 7.8), as tables and plots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from australis.bench.moving_alone import cache_memory, caches, overhead, overhead_by_size, pipelines
from australis.bench.moving_chart import Chart
from australis.bench.moving_load import Load
from australis.bench.moving_shared import grids, responses, responses_by_size, sharing
from australis.bench.moving_shed import accuracies, arriving, budgets, by_queries, supported, table_bytes

SPEED = 0.008
"""The paper's speed from one report to the next, in sides of the space: its cache is half of a query of 0.5%."""


def main(objects: int, plots: Path | None, console: Console, on_progress: Callable[[str], None]) -> dict[str, Any]:
    """Run all experiments, print them, and draw them to `plots`. `on_progress` is called with the name of each."""
    records = {}
    for name, experiment in experiments(objects).items():
        on_progress(f"figure {name}")
        chart = experiment()
        chart.show(console)
        if plots is not None:
            chart.draw(plots)
        records[chart.name] = chart.record()
    return records


def experiments(objects: int) -> dict[str, Callable[[], Chart]]:
    """The experiments by the paper's figure. With fewer than 100,000 objects there are fewer queries too."""

    def load(queries: int, **more: Any) -> Load:
        return Load(objects, max(queries * objects // 100_000, 10), speed=SPEED, **more)

    def many(*queries: int) -> tuple[int, ...]:
        return tuple(max(each * objects // 100_000, 10) for each in queries)

    small = objects < 100_000
    return {
        "12": lambda: caches(load(50_000), 12 if small else 24),
        "12f": lambda: cache_memory(load(50_000), 12 if small else 24),
        "13": lambda: overhead(load(50_000)),
        "14": lambda: overhead_by_size(load(50_000)),
        "16": lambda: pipelines(load(1), 4, joined=False),
        "17": lambda: pipelines(load(1), 4, joined=True),
        "18": lambda: grids(load(50_000, moving=1.0), 3),
        "19": lambda: sharing(replace(load(50_000), objects=objects * 11 // 10), *many(60_000)),
        "21a": lambda: responses(load(50_000), many(5_000, 10_000, 20_000, 50_000), 4),
        "21b": lambda: responses_by_size(load(30_000), 3),
        "22": lambda: accuracies(load(50_000), many(1_000, 25_000), (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)),
        "22, in bytes": lambda: table_bytes(load(2_000)),
        "23": lambda: by_queries(load(50_000), many(2_000, 8_000, 32_000)),
        "24": lambda: budgets(load(50_000), many(1_000, 8_000, 32_000)),
        "25a": lambda: supported(load(50_000), (1e-2,) if small else (1e-4, 1e-3, 1e-2)),
        "25b": lambda: arriving(load(3_600, smallest=1e-3, largest=1e-3), 8 if small else 24),
    }

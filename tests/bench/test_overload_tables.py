"""The tables and pictures of a report that is made up of made-up trials."""

from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from australis.bench.overload_picture import draw
from australis.bench.overload_tables import busy, markdown, show, tables

NAMES = ("alerts", "dashboard", "archive")


def way(total: float) -> dict[str, Any]:
    each = dict.fromkeys(NAMES, total / 3)
    point = {"utility": each, "delivered": each, "delay": dict.fromkeys(NAMES, 0.4), "total": total, "rate": 1000.0}
    return {
        "utility": each, "total": total, "fairness": 1.0, "delivered": each, "flat": 1.0, "settled": 0.0, "shed": 10,
        "shed until": None, "taken": 1000.0, "batch": 0.2, "work": 1.0, "predicted": 1.0, "memory": 10**9,
        "spent": {"counted": 1.0, "processes": 1.4}, "steering": 0.004, "others": 0.5,
        "series": [point | {"second": second} for second in range(1, 20)],
    }  # fmt: skip


def load(name: str, factor: float | None) -> dict[str, Any]:
    ways = {"ours": way(2.7), "random": way(1.2), "none": way(0.3)}
    windows = {"came": 4783, "equal": 4783, "all": 15000}
    return {"name": name, "factor": factor, "rate": 1000.0, "best": {"utility": 2.8}, "ways": ways, "windows": windows}


def watched(shed: int, delay: float | None) -> dict[str, Any]:
    delays = {"alerts": 0.4, "answers": 0.9}
    return {
        "delay": {"alerts": delay, "answers": delay}, "total": 1.9, "flat": 1.0, "settled": 3.0, "shed": shed,
        "shed until": 2.5, "others": 0.5,
        "series": [{"second": second, "rate": 2000.0, "delays": delays if second else {}} for second in range(20)],
    }  # fmt: skip


MOVING: dict[str, Any] = {
    "factor": 2.0, "capacity": 45_000.0, "objects": 10_000,
    "accuracy": {
        "queries": 2000, "kept": 2000, "moments": 20, "strangers": 0, "told": 0.41, "ratio": 1.0,
        "asked": [{"accuracy": 0.05, "queries": 2000, "kept": 2000, "least": 0.051, "mean": 0.4}],
        "series": [{"second": second, "told": 0.41, "ratio": 1.0} for second in range(20)],
    },
    "alerts": {"came": 20_000, "equal": 20_000, "all": 20_000},
    "ways": {"ours": watched(1_234_567, 0.93), "none": watched(0, None)},
}  # fmt: skip
REPORT: dict[str, Any] = {
    "machine": {"cores": 2, "load": 0.1},
    "costs": {
        "parts": {"first part": 0.06, "alerts": 0.1, "dashboard": 0.34, "archive": 0.5},
        "tuple": 5e-6,
        "batch": 0.1,
    },
    "capacity": {"found": 500.0, "predicted": 520.0, "tried": [(500.0, True), (600.0, False)], "others": [0.1]},
    "steps": [load("0.9 times", 0.9), load("2 times", 2.0)],
    "curves": [load("sine", None)],
    "semantic": {"worth": {"value": 0.8, "random": 0.5}, "tuples": {"value": 10, "random": 10}, "ratio": 1.6},
    "moving": MOVING,
}


def test_every_row_has_a_cell_for_each_column():
    found = list(tables(REPORT))
    assert [title.partition(":")[0] for title, _, _ in found] == [
        "A tuple costs 5.00 µs of a core, a batch 100 ms", "Capacity", "Utility",
        "What came, and the seconds until delays were back and nothing was shed", "What it took by graphs",
        "The archive at 2 times, dropped by",
        "Queries about 10,000 objects, at 2 times a capacity of 45,000 reports a second",
        "What that was worth; seconds until all objects were in answers again", "Goals",
    ]  # fmt: skip
    for title, columns, rows in found:
        assert rows, title
        assert {len(row) for row in rows} == {len(columns)}, title


def test_the_tables_are_printed_and_written():
    out = StringIO()
    show(REPORT, Console(file=out, width=80))
    assert "…" not in out.getvalue()
    assert "other processes kept 0.47 cores busy" in out.getvalue()
    assert "| 2 times | by graphs | 0.90 |" in markdown(REPORT)
    assert "| 5% | 2,000 | 2,000 | 5.1% | 1.02 | 40.0% |" in markdown(REPORT)
    assert "| by graphs | 41% | 1.90 | 0.93 | 0.93 | 100% | 3.0 | 1,234,567 |" in markdown(REPORT)


def test_a_report_of_little_has_few_tables():
    assert list(tables({"machine": {}})) == []
    assert busy({}) is None


def test_pictures_are_files(tmp_path: Path):
    files = draw(REPORT, tmp_path / "plots")
    assert [path.name for path in files] == [
        "overload_steps.png", "overload_0.9_times.png", "overload_2_times.png", "overload_sine.png",
        "overload_moving.png",
    ]  # fmt: skip
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in files)

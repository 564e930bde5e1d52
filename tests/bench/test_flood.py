"""The benchmark of the flood: a very short real run, and what it says."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from australis.bench import flood
from australis.bench.flood import Scale, lines, sheets
from australis.bench.flood_load import FloodLoad


def report(**beyond: Any) -> dict[str, Any]:
    names = ("toll notifications", "accident alerts", "account balances", "daily expenditures", "travel times")
    tally = {"due": 12_345_678, "missing": 2_345_678, "p99": 2.5, "worst": 4.0}
    flooded = {
        "verdict": {"answers": dict.fromkeys(names, tally)}, "wrong": 0, "answered": 0.31, "fits": 0.33,
        "missing": {"travel times": 7}, "shed": {"travel times": 7},
    }  # fmt: skip
    load = {"copies": 300, "reported": 400_000.0, "asked": 900_000.0}
    return {"load": load, "flood": flooded, "beyond": {"copies": 900, "shed": 0, "said": [], **beyond}}


def test_what_is_said_of_a_flood_fits_a_terminal() -> None:
    (sheet,) = sheets(report())
    console = Console(width=80, record=True)
    console.print(sheet)
    text = console.export_text()
    assert all(word in text for word in ("daily expenditures", "12,345,678", "2,345,678", "300 expressways"))


def test_what_was_not_as_it_should_be_is_loud() -> None:
    good, bad = report(said=[[1.5, "too much"]]), report(shed=9)
    bad["flood"]["shed"] = {"travel times": 6}
    said = "\n".join(lines(good))
    assert "travel times answered: 31.0%; by the model 33.0% fit" in said
    assert "wrong: 0; shed: 7, as many as are missing" in said
    assert "(900 expressways): nothing shed; after 1.5 s it said: too much" in said
    said = "\n".join(lines(bad))
    assert "shed: 6, NOT as many as are missing" in said
    assert "9 tuples SHED, and NOT said to be too much" in said


@pytest.mark.spark
@pytest.mark.slow
def test_a_short_run_finds_nothing_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: object, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(flood, "QUICK", Scale(simulated=100, measured=10, guess=4, lead=500, live=4, after=1.0))
    for name in ("reports", "journeys", "hopeless"):
        monkeypatch.setattr(FloodLoad, name, property(lambda load: 2000.0))
    flood.main(quick=True, data=tmp_path, json=tmp_path / "out.json")
    figures = json.loads((tmp_path / "out.json").read_text())
    flooded = figures["flood"]
    assert flooded["right"]  # late or not
    assert flooded["wrong"] == 0
    assert flooded["missing"] == flooded["shed"]
    assert flooded["verdict"]["answers"]["travel times"]["due"] >= 4 * 2900
    assert figures["beyond"]["copies"] > figures["load"]["copies"] > 10
    assert "travel times answered:" in capsys.readouterr().out

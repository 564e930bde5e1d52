"""Inputs of Linear Road as commands take them, and what `check` says of its network."""

import json
import math
from pathlib import Path

import pytest

from australis.apps.linear_road.network import network
from australis.apps.linear_road.road_layout import is_laid_out
from australis.cli.roads import check_answerable, laid_out, times, write
from australis.errors import RunError
from tests.cli.commands import told
from tests.oracles.linear_road import report, travel
from tests.oracles.linear_road import write as write_rows


def test_a_flat_file_is_laid_out_once(tmp_path: Path) -> None:
    flat = write_rows(tmp_path / "flat.csv", [report(0, 1, 5), report(30, 1, 5)])
    stream = laid_out(flat, 3, tmp_path / "roads")
    assert is_laid_out(stream)
    assert check_answerable(stream, None, flat) == 6
    write_rows(flat, [report(0, 9, 9)])
    assert laid_out(flat, 3, tmp_path / "roads") == stream  # as a run does that goes on
    assert laid_out(tmp_path / "roads", None, tmp_path / "other").files == stream.files
    assert not (tmp_path / "other").exists()


def test_mistakes_are_told(tmp_path: Path) -> None:
    assert (times("10"), times("max")) == (10.0, math.inf)
    asking = write_rows(tmp_path / "flat.csv", [travel(0, 1, 7, 1, 2)])
    with pytest.raises(RunError, match="1 requests ask about the weeks before"):
        check_answerable(laid_out(asking, 1, tmp_path / "roads"), None, asking)
    with pytest.raises(RunError, match="choose a file that can be written to"):
        write(tmp_path, "")


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    """Costs of a machine with two cores that holds 800,000 reports a second."""
    parts = {"types": 0.0, "reports": 5e-7, "cars": 15e-7, "journeys": 2e-6}
    boxes = {node.name: {"seconds": 0.0, "selectivity": {"out": 1.0}} for node in network().nodes}
    boxes |= {name: {"seconds": seconds, "selectivity": {"out": 1.0}} for name, seconds in parts.items()}
    boxes["types"]["selectivity"] = {"1": 0.5, "4": 0.5}
    boxes["crossings"] = {"seconds": 0.0, "selectivity": {"out": 0.0}}
    (tmp_path / "costs.json").write_text(json.dumps({"boxes": boxes, "batch": 0.05}))
    return tmp_path / "costs.json"


def checked(file: Path, costs: Path, rate: int, code: int, *more: str) -> str:
    functions = ("--functions", "australis.apps.linear_road.functions")
    rates = ("--rates", f"sent={rate}", "--costs", str(costs), "--cores", "2", *more)
    return str(told("check", str(file), *functions, *rates, code=code).stdout)


def test_check_says_before_a_run_what_a_flood_would_cost(tmp_path: Path, costs: Path) -> None:
    (tmp_path / "road.yaml").write_text(told("linear-road", "network", "--flood").stdout)
    assert "fits: 60.0% of the time" in checked(tmp_path / "road.yaml", costs, 600_000, 0)
    flooded = checked(tmp_path / "road.yaml", costs, 1_000_000, 1, "--shed")
    assert "does NOT fit" in flooded
    assert "of the tuples between types and journeys" in flooded
    assert "nothing would be shed" not in flooded


def test_check_says_before_a_run_that_reports_alone_are_too_much(tmp_path: Path, costs: Path) -> None:
    (tmp_path / "road.yaml").write_text(told("linear-road", "network", "--flood").stdout)
    text = checked(tmp_path / "road.yaml", costs, 2_000_000, 1)
    alone = "the exact outputs alone (tolls, alerts, balances, expenditures) take 100.0% of the time"
    assert f"nothing would be shed: {alone}, and delays would grow" in text
    assert "nothing is shed" in checked(tmp_path / "road.yaml", costs, 2_000_000, 1, "--shed")
    (tmp_path / "road.yaml").write_text(told("linear-road", "network").stdout)
    assert "nothing may be shed, since no output" in checked(tmp_path / "road.yaml", costs, 2_000_000, 1)

"""The command of the overload benchmark: parts that are chosen, and a real run that is very short."""

import json
from pathlib import Path

import pytest

from australis.bench import overload, overload_curves, overload_grid, overload_moving, overload_priorities
from australis.bench.overload_fleet import Fleet
from australis.errors import RunError


def test_unknown_parts_and_capacities_are_told_before_spark_starts():
    with pytest.raises(RunError, match=r"there is no part `stepss`; did you mean `steps`.*there are capacity, steps"):
        overload.main(only="stepss")
    with pytest.raises(RunError, match="a capacity is a number of tuples a second above 0, not -1"):
        overload.main(capacity=-1.0)


@pytest.mark.spark
@pytest.mark.slow
def test_a_short_run_reports_each_way_to_shed(tmp_path: Path, monkeypatch, spark, capsys):
    monkeypatch.setattr(overload, "QUICK", overload_curves.TrialSpan(2.0, 4.0, 2.0))
    monkeypatch.setattr(overload, "_QUICK_FACTORS", (2.0,))
    monkeypatch.setattr(overload_grid, "QUICK", (0.2,))
    overload.main(
        only="steps,semantic,grid",
        capacity=20_000.0,
        quick=True,
        json=tmp_path / "out.json",
        plots=tmp_path / "plots",
    )
    report = json.loads((tmp_path / "out.json").read_text())
    (step,) = report["steps"]
    assert set(step["ways"]) == {"ours", "random", "none"}
    assert sum(report["costs"]["parts"].values()) == pytest.approx(1)
    assert step["windows"]["equal"] == step["windows"]["came"]
    assert 0 <= step["ways"]["random"]["total"] <= 3
    assert step["ways"]["none"]["shed"] == 0
    (tried,) = report["grid"]
    assert [plan["kept"] for plan in tried["plans"]] == [{"alerts": 1.0, "dashboard": 0.2, "archive": 0.2}]
    assert report["semantic"]["worth"].keys() == {"value", "random"}
    assert (tmp_path / "plots" / "overload_2_times.png").exists()
    assert "Goals" in capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.slow
def test_a_short_run_of_a_branch_that_can_wait(tmp_path: Path, monkeypatch, spark, capsys):
    monkeypatch.setattr(overload_priorities, "QUICK", overload_curves.TrialSpan(1.0, 3.0, 1.0))
    overload.main(only="priorities", capacity=20_000.0, quick=True, json=tmp_path / "out.json")
    report = json.loads((tmp_path / "out.json").read_text())
    waits = report["priorities"]
    assert set(waits["ways"]) == {"state", "feedback", "together"}
    assert (waits["capacity"], waits["factor"]) == (20_000.0, 1.3)
    assert "steps" not in report
    for figures in waits["ways"].values():
        assert all(batch["delays"].keys() <= {"alerts", "archive"} for batch in figures["series"])
    assert waits["ways"]["together"]["shed"] == 0
    out = capsys.readouterr().out
    assert "A branch that can wait, at 1.3 times a capacity of 20,000 tuples a second" in out
    assert "1.3 times, feedback-based: tuples shed" in out


@pytest.mark.spark
@pytest.mark.slow
def test_a_short_run_of_queries_about_moving_objects(tmp_path: Path, monkeypatch, spark, capsys):
    monkeypatch.setattr(overload_moving, "QUICK", overload_curves.TrialSpan(1.0, 3.0, 1.0))
    monkeypatch.setattr(overload_moving, "FLEET", Fleet(500, 50))
    overload.main(
        only="moving", capacity=2_000.0, quick=True, json=tmp_path / "out.json", plots=tmp_path / "plots"
    )  # fmt: skip
    report = json.loads((tmp_path / "out.json").read_text())
    moving, accuracy = report["moving"], report["moving"]["accuracy"]
    assert (moving["capacity"], moving["factor"], moving["objects"]) == (2_000.0, 2.0, 500)
    assert "steps" not in report
    assert set(moving["ways"]) == {"ours", "none"}
    assert moving["ways"]["none"]["shed"] == 0
    assert accuracy["kept"] == accuracy["queries"] == 50
    assert accuracy["strangers"] == 0
    assert len(accuracy["series"]) == len(moving["ways"]["ours"]["series"]) == accuracy["moments"]
    assert moving["alerts"]["equal"] == moving["alerts"]["came"] == moving["alerts"]["all"]
    assert (tmp_path / "plots" / "overload_moving.png").exists()
    out = capsys.readouterr().out
    assert "Queries about 500 objects, at 2 times a capacity of 2,000 reports a second" in out
    assert "moving: queries that kept their accuracy" in out

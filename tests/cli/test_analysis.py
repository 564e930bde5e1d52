"""`australis check --rates`: a verdict, a table, and an exit status."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from australis.cli.main import app
from australis.model.qos import BoxCost, Costs

NETWORK = """
australis: 2
inputs: {reports: mph int}
boxes:
  fast: {filter: mph > 60, from: reports}
outputs:
  fast: {from: fast, delivered: {0: 0, 1: 1}, weight: 2}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.yaml").write_text(NETWORK)
    (tmp_path / "costs.json").write_text(Costs({"fast": BoxCost(1e-6, {"out": 0.5})}).render())
    return tmp_path


def check(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", "net.yaml", *arguments])
    return result.exit_code, result.output


def test_the_exit_status_tells_whether_it_fits(place):
    how = ("--costs", "costs.json", "--cores", "1", "--partitions", "1")
    status, text = check("--rates", "reports=700_000", *how)
    assert status == 0, text
    assert "fits: 70.0% of the time, and 80% of 1 core hold 80.0%" in text
    status, text = check("--rates", "reports=1600000", *how, "--shed")
    assert status == 1
    assert "does NOT fit: 160.0% of the time" in text
    assert "drops 50.0% of the tuples as they enter reports" in text
    assert check("--rates", "reports=700000", *how, "--headroom", "0.5")[0] == 1


def test_without_costs_typical_ones_are_taken_and_it_says_so(place):
    status, text = check("--rates", "reports=1000", "--cores", "1")
    assert status == 0
    assert "these are typical costs, of one core of a shared AMD EPYC" in text
    assert "it is guessed that filters let half of their tuples through" in text
    assert "australis measure net.yaml --source reports=... --to costs.json" in text
    rows = [line for line in text.splitlines() if "(typical)" in line or ", typical)" in line]
    assert [row.split()[0] for row in rows] == ["source", "filter", "sink", "batches"]
    assert check("--rates", "reports=1e9", "--cores", "1")[0] == 1
    source = ("--source", "reports=reports.jsonl")
    assert check("--rates", "reports=2500000", "--cores", "1")[1] != check(*source, "--rates", "reports=2500000")[1]


def test_boxes_that_were_not_measured_are_told_and_cost_what_is_typical(place):
    more = NETWORK.replace("outputs:", "  slow: {filter: mph < 9, from: reports}\noutputs:\n  slow: slow")
    (place / "net.yaml").write_text(more)
    status, text = check("--rates", "reports=1000", "--costs", "costs.json", "--cores", "1")
    assert status == 0
    assert "costs.json has no costs of slow: typical ones are taken" in text
    assert [line.split()[:2] for line in text.splitlines() if "(typical)" in line] == [["filter", "slow"]]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--rates", "reports=1", "--costs", "costs.json", "--source", "reports=x.csv"], "for typical costs"),
        (["--rates", "reports=1", "--source", "raports=x.csv"], "raports"),
        (["--rates", "reports=1", "--sink", "slow=x.csv"], "slow"),
        (["--source", "reports=x.csv"], "--rates"),
        (["--rates", "reports=many", "--costs", "costs.json"], "number of tuples a second"),
        (["--rates", "raports=1", "--costs", "costs.json"], "no stream input raports"),
        (["--rates", "reports=1", "--costs", "missing.json"], "missing.json"),
        (["--rates", "reports=1", "--costs", "other.json"], "another network"),
        (["--rates", "reports=1", "--costs", "costs.json", "--headroom", "2"], "headroom"),
        (["--shed"], "--rates"),
    ],
)
def test_mistakes_are_told(place, arguments, told):
    (place / "other.json").write_text(Costs({"elsewhere": BoxCost(1.0)}).render())
    result = CliRunner().invoke(app, ["check", "net.yaml", *arguments])
    assert result.exit_code != 0
    assert told in " ".join(f"{result.output} {result.exception}".split())

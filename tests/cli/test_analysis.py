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


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--rates", "reports=1"], "australis measure"),
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

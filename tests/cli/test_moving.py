"""The command line of moving objects."""

from pathlib import Path

from tests.cli.commands import told


def test_mistakes_are_told(tmp_path: Path) -> None:
    out = str(tmp_path / "city")
    for given, missing in (("nodes", "edges"), ("edges", "nodes")):
        failed = told("moving", "simulate", "--out", out, f"--{given}", "a.csv", code=1)
        assert f"--{missing}: is missing; roads are a pair of files" in failed.stderr
    assert "objects" in told("moving", "simulate", "--out", out, "--objects", "-1", code=2).stderr
    told("moving", "show", out, code=1)
    assert not Path(out).exists()

"""The long run, made short: it comes to its end, and says what was held."""

import json
from pathlib import Path

import pytest

from australis.bench import soak

pytestmark = pytest.mark.spark


def test_a_short_run_is_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soak.main(hours=0.02, json=tmp_path / "soak.json")
    report = json.loads((tmp_path / "soak.json").read_text())
    assert report["tuples"] == 720_000
    assert all(each["driver"] > 0 and each["workers"] > 0 and each["checkpoint"] > 0 for each in report["samples"])
    assert "minutes of input" in capsys.readouterr().out

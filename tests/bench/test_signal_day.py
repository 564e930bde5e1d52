"""A day of sound, made short: every call is found, and it says what was held."""

import json
from pathlib import Path

import pytest

from australis.bench import signal_day

pytestmark = pytest.mark.spark


def test_two_minutes_are_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signal_day.main(hours=2 / 60, json=tmp_path / "day.json")
    report = json.loads((tmp_path / "day.json").read_text())
    assert report["samples"] == 2 * 60 * 48_000 * 4
    assert report["events"] == report["calls"] == 40
    assert all(each["workers"] > 0 and each["checkpoint"] > 0 for each in report["memory"])
    assert "40 events of 40 calls" in capsys.readouterr().out

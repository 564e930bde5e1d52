"""The command `australis demo`."""

from pathlib import Path

import pytest

from australis.apps.linear_road import demo
from australis.apps.linear_road.validation import Verdict
from australis.apps.linear_road.validation.verdict import AnswerCounts
from tests.cli.commands import told


@pytest.mark.spark
def test_demo(place):
    shown = told("demo", "--out", "demo", "--lead", "60", "--seconds", "120", "--speed", "30").stdout
    assert "verdict: right" in shown
    page = (place / "demo" / "linear_road.html").read_text()
    for picture in ("responses", "throughput", "lav", "tolls", "speeds-east"):
        assert f'<figure id="{picture}">' in page


@pytest.mark.parametrize(("fault", "code"), [({"late": 3}, 0), ({"wrong": 1}, 1), ({"missing": 1, "late": 2}, 1)])
def test_the_demo_fails_for_wrong_answers_and_names_late_ones(monkeypatch, fault, code):
    verdict = Verdict((AnswerCounts(0, due=9, right=9 - fault.get("wrong", 0), **fault),), 0, ())
    monkeypatch.setattr(demo, "demo", lambda *_: demo.Demonstration(verdict, Path("page.html"), ""))
    said = told("demo", code=code)
    assert ("3 right answers came late" in said.stderr) == (code == 0)

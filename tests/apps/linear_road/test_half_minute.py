"""The reports of an expressway, 30 seconds at a time."""

from pathlib import Path

import pytest

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.half_minute import half_minutes
from australis.apps.linear_road.survey import survey
from australis.errors import RunError
from tests.apps.linear_road.test_show import report, written


def test_spells_have_no_gap(tmp_path: Path) -> None:
    file = written(tmp_path, [report(5, 1, 0), report(155, 1, 0), report(185, 1, 0)])
    found = list(half_minutes(feed(file), 0))
    assert [len(spell.vid) for spell in found] == [1, 0, 0, 0, 0, 1, 1]
    assert [spell.first.tolist() for spell in found if len(spell.vid)] == [[True], [True], [False]]
    assert found[-1].still.tolist() == [2]


def test_an_expressway_is_chosen(tmp_path: Path) -> None:
    for xway in (4, 6):
        written(tmp_path, [report(9, xway * 10, 0, xway=xway)] * xway, f"xway-{xway}.arrow")
    assert survey(feed(tmp_path)).totals["reports"] == 4
    assert survey(feed(tmp_path), 6).totals["reports"] == 6
    with pytest.raises(RunError, match="no file is of expressway 5; they are of 4, 6"):
        survey(feed(tmp_path), 5)

"""What the page about a run says. It is drawn whole in the demonstration."""

from pathlib import Path

import numpy as np

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.report import _places, _row
from australis.apps.linear_road.validation.accounts import key
from australis.apps.linear_road.validation.verdict import AnswerCounts
from tests.oracles.linear_road import balance, report, write


def test_answers_are_drawn_where_their_vehicles_were(tmp_path: Path) -> None:
    rows = [report(0, 5, 99), report(0, 1, 0, way=1), balance(0, 7, 1), report(30, 5, 98)]
    given = feed(write(tmp_path / "feed.arrow", rows))
    asked = [(5, 0), (5, 30), (1, 0), (7, 0), (5, 1), (2**31 - 1, 0)]
    keys = key(*(np.array(column) for column in zip(*asked, strict=True)))
    assert _places(given, keys).tolist() == [99, 98, 100, -1, -1, -1]
    assert _places(given, keys[:0]).tolist() == []


def test_a_row_says_what_was_not_checked() -> None:
    late = AnswerCounts(0, due=1200, right=1200, late=3, median=0.5, p99=4.0, worst=6.125)
    assert _row(late) == ("toll notifications", "1,200", "1,200", "3", "0.50", "4.00", "6.12", "5")
    assert _row(AnswerCounts(4, due=2, unchecked=2)) == ("travel times", "2", "not checked", "0", "-", "-", "-", "30")

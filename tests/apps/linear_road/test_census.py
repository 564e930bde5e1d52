"""The census of an input: how much is asked, and whether it can be answered."""

from pathlib import Path

import pytest

from australis.apps.linear_road.census import census, check_answerable
from australis.apps.linear_road.feed import feed
from australis.errors import RunError
from tests.oracles.linear_road import balance, expenditure, report, travel, write


def test_tuples_are_counted_by_type(tmp_path: Path) -> None:
    write(tmp_path / "a.arrow", [report(time, 1, 5) for time in range(9)])
    write(
        tmp_path / "b.csv", [balance(1, 1, 1), expenditure(2, 1, 2, 0, 1), travel(3, 1, 3, 5, 6), travel(4, 1, 4, 5, 6)]
    )
    seconds: list[int] = []
    assert census(feed(tmp_path), seconds.append) == {0: 9, 2: 1, 3: 1, 4: 2}
    assert seconds == [6, 8, 4]


def test_an_input_that_asks_about_the_past_needs_a_history() -> None:
    for asked in ({3: 2}, {4: 2}, {3: 1, 4: 1}):
        with pytest.raises(RunError, match=r"road: 2 requests ask about the weeks before.*give --history DIR, which"):
            check_answerable({0: 9, 2: 1} | asked, None, "road")
        check_answerable({0: 9} | asked, Path("weeks"), "road")
    check_answerable({0: 9, 2: 1}, None, "road")

"""What a feed requires, with a history and without, in one file or several."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.apps.linear_road.feed import Feed, feed
from australis.apps.linear_road.validation import validate, write_reference
from australis.apps.linear_road.validation.arrays import Floats
from australis.apps.linear_road.validation.journeys import SHAPE
from australis.errors import RunError
from tests.apps.linear_road.validation.test_validate import ASKING, EMPTY, counts, feeds, judged, lines
from tests.oracles.linear_road import Line, Past, Road, Row, balance, report, travel, write


@given(st.data())
def test_files_and_copies_are_as_one_feed(data: st.DataObject) -> None:
    """However expressways and requests are spread over files, and copied."""
    rows = data.draw(feeds())
    copied = [
        row._replace(
            vid=row.vid + 5000, qid=max(row.qid, -1) + 10 * (row.qid >= 0), xway=row.xway + 2 * (row.xway >= 0)
        )
        for row in rows
    ]
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder) / "a.arrow", Path(folder) / "b.csv"]
        write(parts[0], [row for row in rows if (row.qid % 2 if row.type else row.xway) == 0])
        write(parts[1], [row for row in rows if (row.qid % 2 if row.type else row.xway) == 1])
        parts = [part for part in parts if part.stat().st_size]
        given = Feed(tuple(parts), copies=2, xways=2, vehicles=5000, queries=10)
        output = [Path(folder) / "one.out", Path(folder) / "two.out"]
        output[0].write_text(lines(Road(rows).answers()))
        output[1].write_text(lines(Road(copied).answers()))
        verdict = validate(given, output, EMPTY)
        assert verdict.ok, verdict.text()


@pytest.mark.parametrize("speeds", [(60.0, 60.0, 60.0), (60.0, 30.0, 60.0), (60.0, 30.0, 20.0)])
def test_the_journeys_of_a_copy_are_those_of_its_own_history(tmp_path: Path, speeds: tuple[float, ...]) -> None:
    """Which may be the very same, or another one."""
    weeks = {speed: (np.full(SHAPE, speed), np.zeros(SHAPE)) for speed in speeds}

    class Roads(Past):
        def weekly(self, xway: int) -> tuple[Floats, Floats]:
            return weeks[speeds[xway]]

    given = replace(feed(write(tmp_path / "feed.csv", [report(0, 1, 5), travel(1, 1, 7, 3, 5)]), copies=3), vehicles=10)
    answers = [(0, 1 + 10 * copy, 0, 0, -1, 0) for copy in range(3)]
    answers += [(4, 1, 1, 7 + 8 * copy, 2 * 3600 / speed, 0) for copy, speed in enumerate(speeds)]
    (tmp_path / "answers.csv").write_text(lines(answers))
    verdict = validate(given, tmp_path / "answers.csv", Roads())
    assert verdict.ok, verdict.text()


def test_a_query_of_a_copy_that_is_asked_twice_is_refused(tmp_path: Path) -> None:
    rows = [report(0, 1, 5), *(travel(1, 1, number, 3, 5) for number in (1, 5))]
    given = replace(feed(write(tmp_path / "feed.csv", rows), copies=2), queries=4)
    (tmp_path / "answers.csv").write_text("")
    with pytest.raises(RunError, match="query 5 of type 4 is asked twice"):
        validate(given, tmp_path / "answers.csv", EMPTY)


@pytest.mark.parametrize("more", [[], [(3, 3, 3, 7, 0)], [(4, 4, 99, 8, -1, 0), (4, 4, 99, 8, 5, 5)]])
def test_without_a_history_answers_about_the_past_are_not_checked_and_that_is_said(more: list[Line]) -> None:
    """Be they there or not, and say what they may: nobody knows what is right."""
    verdict = judged(ASKING, [(0, 1, 0, 0, -1, 0), *more])
    assert (verdict.ok, verdict.right, verdict.unchecked) == (False, True, 3)
    assert not verdict.faults
    assert [tally.unchecked for tally in verdict.tallies] == [0, 0, 0, 1, 2]
    assert [tally.right for tally in verdict.tallies] == [1, 0, 0, 0, 0]
    text = verdict.text()
    assert "NOT checked: 1 daily expenditures and 2 travel times." in text
    assert "verdict: right in what was checked" in text
    told = json.loads(json.dumps(verdict.as_dict()))
    assert (told["ok"], told["unchecked"]) == (False, 3)
    assert told["answers"]["travel times"]["unchecked"] == 2


def test_without_a_history_all_else_is_checked() -> None:
    wrong = judged(ASKING, [(0, 1, 0, 0, 12, 0)])
    assert not wrong.right
    assert "verdict: NOT right" in wrong.text()
    unasked = judged(ASKING[:1], [(0, 1, 0, 0, -1, 0), (3, 3, 3, 7, 0)])
    assert (unasked.unchecked, counts(unasked)[3]["unasked"]) == (0, 1)
    assert judged(ASKING[:1], [(0, 1, 0, 0, -1, 0)]).ok


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([report(3, 1, 5), report(3, 1, 6)], "vehicle 1 reports twice at time 3; leave one of the reports out"),
        ([report(8 * i, 1, 5) for i in range(7)], "vehicle 1 reports more than six times in the minute of time 0"),
        ([report(3, 1, 5)._replace(spd=101)], "row 1: `0,3,1,101,.*`: spd is 101; give 0 to 100"),
        ([report(3, 1, 5)._replace(seg=6)], "pos 26400 is in segment 5, and seg is 6"),
        ([balance(3, 1, 7), balance(4, 2, 7)], "query 7 of type 2 is asked twice, so its answers cannot be told apart"),
    ],
)
def test_bad_input_is_refused(rows: list[Row], said: str, tmp_path: Path) -> None:
    given = feed(write(tmp_path / "feed.arrow", rows))
    with pytest.raises(RunError, match=said):
        write_reference(given, tmp_path / "right.csv")

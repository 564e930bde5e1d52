"""All right answers to a feed, as a run would write them."""

from pathlib import Path

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.validation import reference, write_reference
from tests.apps.linear_road.validation.test_validate import ASKING
from tests.oracles.linear_road import balance, report, write


def test_without_a_history_no_answers_about_the_past_are_written(tmp_path: Path) -> None:
    write_reference(feed(write(tmp_path / "feed.csv", ASKING)), tmp_path / "right.csv")
    assert (tmp_path / "right.csv").read_text() == "0,1,0,0,-1,0\n"


def test_what_is_due_can_be_asked_for(tmp_path: Path) -> None:
    given = feed(write(tmp_path / "feed.csv", [report(0, 1, 5), balance(3, 1, 7)]))
    tables = [table for table in reference(given) if len(table)]
    assert [table.to_pylist() for table in tables] == [
        [{"type": 0, "vid": 1, "time": 0, "emit": 0, "first": -1, "second": 0}],
        [{"type": 2, "time": 3, "emit": 3, "first": 3, "qid": 7, "second": 0}],
    ]
    write_reference(given, tmp_path / "right.csv")
    assert (tmp_path / "right.csv").read_text() == "0,1,0,0,-1,0\n2,3,3,3,7,0\n"

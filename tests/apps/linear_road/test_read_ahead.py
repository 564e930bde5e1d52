"""Reading the lines of a feed before they are due."""

from pathlib import Path

import pytest

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.read_ahead import ReadAhead, connections_of, parts
from australis.errors import RunError
from tests.oracles.linear_road import balance, expenditure, report, travel, write


def test_a_tuple_goes_with_its_vehicle_or_its_expressway(tmp_path: Path) -> None:
    some = [report(0, 7, 5, xway=4), balance(0, 7, 1), expenditure(0, 7, 2, 3, 3), travel(0, 8, 3, 5, 6, xway=5)]
    (batch,) = feed(write(tmp_path / "some.arrow", some)).merge()
    assert connections_of(batch, 2, "vid").tolist() == [1, 1, 1, 0]
    assert connections_of(batch, 2, "xway").tolist() == [0, 1, 1, 1]


def test_the_tuples_of_a_second_are_lines_of_each_connection(tmp_path: Path) -> None:
    some = [report(3, 1, 5), report(3, 2, 5), balance(3, 1, 9)]
    (batch,) = feed(write(tmp_path / "some.arrow", some)).merge()
    ((number, whole),) = parts(batch)
    assert (number, whole.second, whole.tuples, whole.text.count(b"\n")) == (0, 3, 3, 3)
    divided = parts(batch, 2)
    assert [(number, lines.tuples) for number, lines in divided] == [(0, 1), (1, 2)]
    assert b"".join(lines.text for _, lines in divided[::-1]) == b"".join(
        sorted(whole.text.splitlines(keepends=True), key=lambda line: line.split(b",")[2])
    )


def test_what_is_stopped_gives_no_more_lines(tmp_path: Path) -> None:
    given = feed(write(tmp_path / "some.arrow", [report(second, 1, 5) for second in range(5)]))
    with ReadAhead(given) as ahead:
        lines = ahead.lines(0)
        assert next(lines).second == 0
        ahead.stop()
        assert ahead.stopped()
        assert list(lines) == []


def test_an_error_of_the_reader_is_raised_where_lines_are_taken(tmp_path: Path) -> None:
    (tmp_path / "bad.dat").write_text("0,1\n")
    with ReadAhead(feed(tmp_path / "bad.dat")) as ahead:
        with pytest.raises(RunError, match="15 integers"):
            ahead.ready(0)
        with pytest.raises(RunError, match="15 integers"):
            next(ahead.lines(0))

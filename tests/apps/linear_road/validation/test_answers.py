"""Answers as lines of files: those that are broken, and where each lies."""

from pathlib import Path

import pytest

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.validation import validate
from tests.apps.linear_road.validation.test_validate import counts, lines
from tests.oracles.linear_road import Road, report, write


@pytest.mark.parametrize(
    "line",
    [
        "5,1,2,3,4,5",
        "-1,1,2,3,4,5",
        "0",
        "0,",
        "0,1,0,0,-1",
        "0,1,0,0,-1,0,0",
        "0,1,0,0,-1,0,",
        "0,1,0,,-1,0",
        "0,1,0,0,-1,0x",
        "0,1,0,0, -1,0",
        "0,1,0,0,-1,0.0",
        "0,1.0,0,0,-1,0",
        "0,1,0,0..5,-1,0",
        "0,1,0,1e-05,-1,0",
        "0,1,0,nan,-1,0",
        "0,1,0,0,--1,0",
        "0,4294967297,0,0,-1,0",
        "0,1,0,9999999999999999999,-1,0",
        "1,0,0,1",
        "2,0,0,0,1",
        "3,0,0,1,0,0",
        "4,0,0,1,0",
        '"0",1,0,0,-1,0',
        "\x000,1,0,0,-1,0",
        "0;1;0;0;-1;0",
    ],
)
def test_a_broken_line_is_shown_and_does_no_more_harm(line: str, tmp_path: Path) -> None:
    output = tmp_path / "answers.csv"
    output.write_text(f"{line}\n0,1,0,0,-1,0\n")
    verdict = validate(feed(write(tmp_path / "feed.arrow", [report(0, 1, 5)])), output)
    assert [(fault.kind, fault.text) for fault in verdict.faults] == [("broken", f"line 1: `{line}`")]
    assert (verdict.ok, verdict.broken, counts(verdict)[0]["right"]) == (False, 1, 1)


def test_lines_are_found_again_in_several_files_and_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("australis.apps.linear_road.validation.answers._PIECE", 10)
    rows = [report(time, time, 5) for time in range(20)]
    answers = Road(rows).answers()
    files = [tmp_path / "a.out", tmp_path / "empty.out", tmp_path / "b.out"]
    files[0].write_text(lines(answers[:7]))
    files[1].write_text("")
    files[2].write_text(lines(answers[7:12]) + "0,12,12,12,77,0\n?\n" + lines(answers[13:])[:-1])
    verdict = validate(feed(write(tmp_path / "feed.arrow", rows)), files)
    assert [fault.text for fault in verdict.faults] == [
        "b.out, line 6: `0,12,12,12,77,0`: expected `0,12,12,Emit,-1,0`",
        "b.out, line 7: `?`",
    ]

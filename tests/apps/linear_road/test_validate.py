"""Validation: random feeds against an oracle, one mistake at a time, and what is said of it."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.apps.linear_road.feed import Feed, feed
from australis.apps.linear_road.record import LIMITS
from australis.apps.linear_road.validation import Verdict, reference, validate, write_reference
from australis.apps.linear_road.validation.verdict import AnswerCounts
from australis.errors import RunError
from tests.oracles.linear_road import Line, Past, Road, Row, balance, expenditure, report, travel, write

KEYS = {0: (1, 2), 1: (1, 3), 2: (4,), 3: (3,), 4: (3,)}
"""The fields by which an answer is known, and those that can be wrong."""
VALUES = {0: (4, 5), 1: (4,), 2: (1, 3, 5), 3: (1, 4), 4: (1, 4, 5)}
EMIT = {0: 3, 1: 2, 2: 2, 3: 2, 4: 2}
ANSWERS = {
    0: "toll notifications",
    1: "accident alerts",
    2: "account balances",
    3: "daily expenditures",
    4: "travel times",
}
SPEEDS = Past(
    {(1, 3, 0): 70},
    {(1, minute, way, seg): 20.0 + 7 * seg for minute in range(1, 60) for way in (0, 1) for seg in range(8)},
    {(1, minute, 0, 2): 60.0 for minute in range(1, 60)},
)
EMPTY = Past()


@st.composite
def trips(draw: st.DrawFn, vid: int) -> list[Row]:
    """Trips of a vehicle one after another, over few places, with stops, so that vehicles meet."""
    rows: list[Row] = []
    time = draw(st.sampled_from([0, 0, 1, 29, 60, 89]))
    for _ in range(draw(st.integers(1, 2))):
        xway, way = draw(st.sampled_from([(0, 0), (0, 0), (0, 1), (1, 0)]))
        seg = draw(st.sampled_from([1, 2, 2, 3, 98]))
        feet, lane = 0, draw(st.sampled_from([0, 1]))
        for move in draw(st.lists(st.sampled_from("sssscan"), min_size=1, max_size=9)):
            if move == "c":  # creeps
                feet += 100
            elif move == "a":  # another lane
                lane = draw(st.integers(0, 4))
            elif move == "n" and 0 < seg < 99:
                seg, feet = seg + (-1 if way else 1), 0
            rows.append(report(time, vid, seg, spd=draw(st.integers(0, 70)), lane=lane, way=way, xway=xway, feet=feet))
            time += 30
        time += draw(st.sampled_from([0, 1, 15, 31, 60]))
    return rows


@st.composite
def feeds(draw: st.DrawFn) -> list[Row]:
    rows = [row for vid in range(1, draw(st.integers(2, 5)) + 1) for row in draw(trips(vid))]
    for number in range(draw(st.integers(0, 3))):  # crowds, for tolls
        minute, seg = draw(st.integers(0, 4)), draw(st.sampled_from([1, 2, 3]))
        spd = draw(st.integers(25, 45))
        rows += [
            report(60 * minute, 1000 * (number + 1) + car, seg, spd=spd) for car in range(draw(st.integers(49, 54)))
        ]
    for qid in range(draw(st.integers(0, 4))):
        time, vid = draw(st.integers(0, 400)), draw(st.integers(1, 6))
        sinit, send = draw(st.integers(0, 8)), draw(st.integers(0, 8))
        rows += [
            balance(time, vid, qid),
            expenditure(time, vid, qid, draw(st.integers(0, 1)), draw(st.integers(3, 4))),
            travel(
                time, vid, qid, sinit, send, draw(st.integers(0, 2)), draw(st.integers(0, 70)), draw(st.integers(0, 1))
            ),
        ]
    return rows


def lines(answers: Sequence[Line]) -> str:
    return "".join(",".join(map(str, line)) + "\n" for line in answers)


def judged(rows: Sequence[Row], answers: Sequence[Line], **options: Any) -> Verdict:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "answers.csv"
        output.write_text(lines(answers))
        return validate(feed(write(Path(folder) / "feed.arrow", rows)), output, **options)


def counts(verdict: Verdict) -> dict[int, dict[str, int]]:
    names = ("due", "right", "wrong", "missing", "doubled", "unasked", "late", "early")
    return {tally.type: {name: getattr(tally, name) for name in names} for tally in verdict.tallies}


@st.composite
def mistakes(draw: st.DrawFn, answers: list[Line]) -> tuple[list[Line], int, dict[str, int]]:
    """Answers with one mistake, its type, and how it changes the counts."""
    at = draw(st.integers(0, len(answers) - 1))
    line = list(answers[at])
    kind, rest = line[0], [*answers[:at], *answers[at + 1 :]]
    match draw(st.sampled_from(["drop", "double", "change", "late", "early", "unasked"])):
        case "drop":
            return rest, kind, {"right": -1, "missing": 1}
        case "double":
            return [*answers, answers[at]], kind, {"doubled": 1}
        case "change":
            field = draw(st.sampled_from(VALUES[kind]))
            # An older balance may be true as well; one of the future is not.
            line[field] += draw(
                st.sampled_from(
                    [1, 2, 1000] if field == 3 else [1.5, 1000] if kind == 4 and field > 3 else [-1001, 1001]
                )
            )
            return [*rest, tuple(line)], kind, {"right": -1, "wrong": 1}
        case "late":
            line[EMIT[kind]] += LIMITS[kind] + draw(st.sampled_from([0.001, 1, 500]))
            return [*rest, tuple(line)], kind, {"late": 1}
        case "early":
            line[EMIT[kind]] -= draw(st.sampled_from([0.001, 1, 500]))
            return [*rest, tuple(line)], kind, {"early": 1}
        case _:
            line[draw(st.sampled_from(KEYS[kind]))] += 100_000
            return [*answers, tuple(line)], kind, {"unasked": 1}


@given(st.data())
def test_right_answers_are_accepted_and_any_mistake_is_found(data: st.DataObject) -> None:
    rows = data.draw(feeds())
    past = data.draw(st.sampled_from([EMPTY, SPEEDS]))
    answers = Road(rows, past).answers()
    verdict = judged(rows, data.draw(st.permutations(answers)), history=past)
    assert verdict.ok, verdict.text()
    found = counts(verdict)
    for kind, each in found.items():
        assert each["due"] == each["right"] == sum(line[0] == kind for line in answers)

    mistaken, kind, change = data.draw(mistakes(answers))
    for name, more in change.items():
        found[kind][name] += more
    verdict = judged(rows, mistaken, history=past)
    assert not verdict.ok
    assert counts(verdict) == found, verdict.text()
    assert {fault.kind for fault in verdict.faults} == change.keys() - {"right"}


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


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("speed", [1.0, 3.0])
def test_response_times_are_held_against_the_limit_of_the_type(kind: int, speed: float) -> None:
    crashed = [report(30 * i, vid, 5, spd=0, lane=2) for i in range(4) for vid in (2, 3)]
    rows = [*crashed, report(121, 1, 5), balance(121, 1, 1), expenditure(121, 1, 1, 0, 1), travel(121, 1, 1, 1, 2)]
    answers = [list(line) for line in Road(rows).answers()]
    for line in answers:
        line[EMIT[line[0]]] = round(line[EMIT[line[0]]] / speed + 0.5, 3)
    (chosen,) = [line for line in answers if line[0] == kind and 121 in line]
    for response, count, fault in (
        (0, 0, "late"),
        (LIMITS[kind], 0, "late"),
        (LIMITS[kind] + 0.002, 1, "late"),
        (-0.01, 1, "early"),
    ):
        chosen[EMIT[kind]] = int(1000 * (121 / speed + response)) / 1000
        verdict = judged(rows, [tuple(line) for line in answers], speed=speed, history=EMPTY)
        assert counts(verdict)[kind][fault] == count
        assert verdict.ok == (count == 0)
    assert verdict.tallies[kind].worst == pytest.approx(0.5 if kind == 0 else -0.01, abs=0.001)


def test_emit_may_be_the_time_of_day() -> None:
    """Where what was driven does not know when time 0 was, the driver has told it."""
    rows, began = [report(0, 1, 5), report(121, 2, 5), balance(122, 1, 1)], 1_700_000_000.125
    answers = [list(line) for line in Road(rows).answers()]
    for line in answers:
        line[EMIT[line[0]]] = f"{began + line[EMIT[line[0]]] / 2 + 0.25:.3f}"
    verdict = judged(rows, [tuple(line) for line in answers], speed=2.0, began=began)
    assert verdict.ok, verdict.text()
    assert verdict.tallies[0].worst == pytest.approx(0.25, abs=0.001)
    assert judged(rows, [tuple(line) for line in answers], speed=2.0, began=began - 5).late == 3
    assert counts(judged(rows, [tuple(line) for line in answers], speed=2.0, began=began + 5))[0]["early"] == 2


def test_a_verdict_shows_each_fault_with_what_was_expected(tmp_path: Path) -> None:
    rows = [*(report(time, time, 5) for time in range(20)), balance(70, 1, 7), balance(80, 1, 8)]
    output = tmp_path / "answers.csv"
    output.write_text(
        "0,0,0,0.5,12,0\n"  # wrong
        "0,1,1,7.25,-1,0\n"  # late
        "0,2,2,1.5,-1,0\n"  # early
        "0,3,3,3,-1,0\r\n"
        "\n"
        "0,3,3,3,-1,0\n"  # doubled
        "0,99,3,3,-1,0\n"  # unasked
        "0,4,4,4,-1\n"  # broken
        "2,70,70.5,70,7,5\n"  # wrong
        "hello"
    )
    verdict = validate(feed(write(tmp_path / "feed.csv", rows)), output)
    expected = [
        (0, "wrong", "line 1: `0,0,0,0.5,12,0`: expected `0,0,0,Emit,-1,0`"),
        (0, "doubled", "line 6: `0,3,3,3,-1,0`: answered before on line 4"),
        (0, "unasked", "line 7: `0,99,3,3,-1,0`: no such answer is due"),
        (0, "late", "line 2: `0,1,1,7.25,-1,0`: answered 6.250 s after time 1; 5 s are allowed"),
        (0, "early", "line 3: `0,2,2,1.5,-1,0`: answered -0.500 s after time 2, before it was asked"),
        (
            2,
            "wrong",
            "line 9: `2,70,70.5,70,7,5`: expected `2,70,Emit,70,7,0`,"
            " or the balance at a ResultTime from 10 on, when it was 0",
        ),
        (None, "broken", "line 8: `0,4,4,4,-1`"),
        (None, "broken", "line 10: `hello`"),
    ]
    shown = [(fault.type, fault.kind, fault.text) for fault in verdict.faults]
    assert [fault for fault in shown if fault[1] != "missing"] == expected
    missing = [text for kind, name, text in shown if (kind, name) == (0, "missing")]
    assert missing == [f"expected `0,{vid},{vid},Emit,-1,0`" for vid in range(4, 14)]
    assert counts(verdict)[0] == {
        "due": 20, "right": 3, "wrong": 1, "missing": 16, "doubled": 1, "unasked": 1, "late": 1, "early": 1,
    }  # fmt: skip
    text = verdict.text()
    assert "verdict: NOT right" in text
    assert "toll notifications, missing (16), the first 10:\n  expected `0,4,4,Emit,-1,0`" in text
    assert "broken lines (2):\n  line 8: `0,4,4,4,-1`" in text
    told = json.loads(json.dumps(verdict.as_dict()))
    assert (told["ok"], told["broken"]) == (False, 2)
    assert told["answers"]["toll notifications"]["worst"] == 6.25
    assert {"type": None, "kind": "broken", "text": "line 10: `hello`"} in told["faults"]


def test_late_answers_are_told_apart_from_wrong_ones() -> None:
    late, wrong = (
        AnswerCounts(0, due=3, right=3, late=2, worst=9.5, median=1.0, p99=9.5),
        AnswerCounts(0, due=3, right=2, wrong=1),
    )
    busy = Verdict((late, AnswerCounts(1)), 0, ())
    assert (busy.ok, busy.right, busy.late) == (False, True, 2)
    assert "verdict: right, but 2 late" in busy.text()
    for bad in (Verdict((late, wrong), 0, ()), Verdict((late,), 1, ()), Verdict((AnswerCounts(2, early=1),), 0, ())):
        assert not bad.right
        assert "verdict: NOT right" in bad.text()


ASKING = [report(0, 1, 5), expenditure(3, 1, 7, 0, 3), travel(4, 1, 8, 5, 6), travel(4, 1, 9, 5, 5)]
"""A report, and requests that only a history can answer."""


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


def test_without_a_history_no_answers_about_the_past_are_written(tmp_path: Path) -> None:
    write_reference(feed(write(tmp_path / "feed.csv", ASKING)), tmp_path / "right.csv")
    assert (tmp_path / "right.csv").read_text() == "0,1,0,0,-1,0\n"


def test_a_verdict_fits_a_terminal() -> None:
    large = [
        AnswerCounts(kind, 12_466_124, 12_466_124, unchecked=12_466_124, worst=1999.5, median=100.25, p99=1000.5)
        for kind in (0, 1, 2, 3, 4)
    ]
    large[:3] = [replace(tally, unchecked=0) for tally in large[:3]]
    assert max(map(len, Verdict(tuple(large), 0, ()).text().splitlines())) <= 80


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


def test_what_is_due_can_be_asked_for(tmp_path: Path) -> None:
    given = feed(write(tmp_path / "feed.csv", [report(0, 1, 5), balance(3, 1, 7)]))
    tables = [table for table in reference(given) if len(table)]
    assert [table.to_pylist() for table in tables] == [
        [{"type": 0, "vid": 1, "time": 0, "emit": 0, "first": -1, "second": 0}],
        [{"type": 2, "time": 3, "emit": 3, "first": 3, "qid": 7, "second": 0}],
    ]
    write_reference(given, tmp_path / "right.csv")
    assert (tmp_path / "right.csv").read_text() == "0,1,0,0,-1,0\n2,3,3,3,7,0\n"


def test_progress_is_told(tmp_path: Path) -> None:
    given = feed(write(tmp_path / "feed.csv", [report(0, 1, 5)]))
    (tmp_path / "out").write_text("0,1,0,0,-1,0\n")
    heard: list[tuple[str, float]] = []
    assert validate(given, tmp_path / "out", on_progress=lambda stage, share: heard.append((stage, share))).ok
    assert heard == [("reading the answers", 1.0), ("recomputing what was due", 0.0), ("recomputing what was due", 1.0)]


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


def test_mistakes_are_told(tmp_path: Path) -> None:
    (tmp_path / "feed.dat").write_text("".join(f"0,{time},1,5,0,1,0,5,26400{',-1' * 6}\n" for time in (30, 0)))
    (tmp_path / "out").write_text("")
    with pytest.raises(RunError, match=r"feed.dat, line 2: .*: times fall from 30 to 0; sort the file"):
        validate(feed(tmp_path / "feed.dat"), tmp_path / "out")
    given = feed(write(tmp_path / "feed.arrow", []))
    with pytest.raises(
        RunError, match="none: No such file or directory; give the file that the run wrote its answers to"
    ):
        validate(given, tmp_path / "none")
    with pytest.raises(RunError, match="a run at 0-fold speed: give a speed above 0"):
        validate(given, tmp_path / "out", speed=0)
    assert validate(given, tmp_path / "out").ok
    write(tmp_path / "one.arrow", [report(0, 1, 5)])
    write(tmp_path / "two.arrow", [report(0, 1, 5, xway=1)])
    (tmp_path / "out").write_text("0,1,0,0,-1,0\n")
    with pytest.raises(RunError, match="vehicle 1 reports from two expressways at time 0"):
        validate(replace(given, files=(tmp_path / "one.arrow", tmp_path / "two.arrow")), tmp_path / "out")
    short = Past()
    short.lav = short.lav[:6]
    given = feed(write(tmp_path / "feed.arrow", [travel(0, 1, 1, 1, 2)]))
    with pytest.raises(RunError, match=r"expressway 0 has the shape \(6, 1440, 2, 100\); give \(7, 1440, 2, 100\)"):
        validate(given, tmp_path / "out", short)

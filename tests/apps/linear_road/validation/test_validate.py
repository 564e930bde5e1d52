"""Validation: random feeds against an oracle, one mistake at a time, and what is said of it."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.record import LIMITS
from australis.apps.linear_road.validation import Verdict, validate
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


ASKING = [report(0, 1, 5), expenditure(3, 1, 7, 0, 3), travel(4, 1, 8, 5, 6), travel(4, 1, 9, 5, 5)]
"""A report, and requests that only a history can answer."""


def test_progress_is_told(tmp_path: Path) -> None:
    given = feed(write(tmp_path / "feed.csv", [report(0, 1, 5)]))
    (tmp_path / "out").write_text("0,1,0,0,-1,0\n")
    heard: list[tuple[str, float]] = []
    assert validate(given, tmp_path / "out", on_progress=lambda stage, share: heard.append((stage, share))).ok
    assert heard == [("reading the answers", 1.0), ("recomputing what was due", 0.0), ("recomputing what was due", 1.0)]


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

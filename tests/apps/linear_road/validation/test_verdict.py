"""What a verdict says."""

import json
from dataclasses import replace
from pathlib import Path

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.validation import Verdict, validate
from australis.apps.linear_road.validation.verdict import AnswerCounts
from tests.apps.linear_road.validation.test_validate import counts
from tests.oracles.linear_road import Past, balance, report, travel, write


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


def test_missing_answers_are_told_apart_from_wrong_ones(tmp_path: Path) -> None:
    rows = [report(0, 1, 5), *(travel(5, 1, number, 1, 2) for number in range(30))]
    stream, output = feed(write(tmp_path / "feed.csv", rows)), tmp_path / "answers.csv"
    lines = ["0,1,0,0.5,-1,0", *(f"4,5,6.5,{number},-1,0" for number in range(0, 30, 3))]
    output.write_text("\n".join(lines))

    def judged(shed: dict[int, int | None] | None) -> Verdict:
        return validate(stream, output, Past(), shed=shed)

    lost = judged(None)
    assert (lost.ok, lost.right, lost.missing) == (False, False, True)
    assert "verdict: none is wrong, but 20 travel times are missing" in lost.text()
    assert "travel times, missing (20), the first 10:\n  expected `4,5,Emit,1,-1,0`" in lost.text()
    told = judged({4: 20})
    assert (told.ok, told.right, told.missing) == (True, True, False)
    assert "shed: 20 travel times, and as many are missing\nverdict: right\n" in told.text()
    assert told.as_dict()["answers"]["travel times"]["shed"] == 20
    for count in (19, 21):
        wrong_count = judged({4: count})
        assert (wrong_count.ok, wrong_count.missing) == (False, True)
        assert f"shed: {count} travel times, but 20 are missing" in wrong_count.text()
        assert "verdict: none is wrong, but what is missing is not what was shed" in wrong_count.text()
    some = judged({4: None})
    assert some.ok
    assert "shed: some travel times, not counted; 20 are missing\nverdict: right\n" in some.text()
    other = judged({2: 1})
    assert not other.ok
    assert "shed: 1 account balances, but 0 are missing" in other.text()

    output.write_text("\n".join([*lines[:-1], "4,5,6.5,27,60,0"]))
    wrong = judged({4: 20})
    assert (wrong.ok, wrong.right, wrong.missing) == (False, False, False)
    assert "verdict: NOT right" in wrong.text()
    assert not validate(stream, output, shed={4: 20}).ok  # without a history nothing is known of them


def test_a_verdict_fits_a_terminal() -> None:
    large = [
        AnswerCounts(kind, 12_466_124, 12_466_124, unchecked=12_466_124, worst=1999.5, median=100.25, p99=1000.5)
        for kind in (0, 1, 2, 3, 4)
    ]
    large[:3] = [replace(tally, unchecked=0) for tally in large[:3]]
    assert max(map(len, Verdict(tuple(large), 0, ()).text().splitlines())) <= 80
    large[4] = replace(large[4], missing=10_466_124, shed=10_466_124)
    assert max(map(len, Verdict(tuple(large), 0, ()).text().splitlines())) <= 80

"""Ratings: a short trial at real time, and the search between trials."""

import json
from pathlib import Path
from typing import Any

import pytest

from australis.apps.linear_road import rate
from australis.apps.linear_road.feed import Feed, feed
from australis.apps.linear_road.rate import Span, Trial, ratings, trial
from australis.apps.linear_road.simulation.simulate import simulate
from australis.apps.linear_road.trial_sheet import sheet
from australis.apps.linear_road.validation import Verdict
from australis.apps.linear_road.validation.verdict import AnswerCounts, Fault
from australis.errors import RunError

pytestmark = pytest.mark.spark


def test_a_trial_is_validated_over_its_part_at_real_time(tmp_path: Path, spark: Any) -> None:
    simulate(tmp_path / "road", seconds=90)
    told: list[str] = []
    made = trial(feed(tmp_path / "road", 4), Span(20, 80, 85), spark=spark, on_progress=told.append)
    kinds = {fault.kind for fault in made.verdict.faults}
    assert kinds <= {"late"}, made.verdict.text()  # a busy machine may be late; nothing may be wrong
    assert made.xways == made.copied == 4
    assert made.verdict.tallies[0].due > 0
    assert all(tally.worst is None or tally.worst > 0 for tally in made.verdict.tallies)
    assert made.memory > 0
    assert any("4 expressways: second" in text for text in told)
    assert json.dumps(made.as_dict())
    assert str(sheet(made).title).startswith("4 expressways: ")


@pytest.mark.parametrize(("bound", "most", "tried"), [(5, 64, [1, 2, 4, 8, 6, 5]), (100, 8, [1, 2, 4, 8]), (0, 8, [1])])
def test_trials_close_in_on_the_rating(
    monkeypatch: pytest.MonkeyPatch, bound: int, most: int, tried: list[int]
) -> None:
    def judged(stream: Feed, *_: Any, **__: Any) -> Trial:
        fault = () if stream.copies <= bound else (Fault(0, "late", ""),)
        verdict = Verdict((AnswerCounts(0, late=len(fault)),), 0, fault)
        return Trial(stream.copies, stream.copies, verdict, 0, 0, 0, 0, 0, 0)

    monkeypatch.setattr(rate, "trial", judged)
    made = ratings(Feed(()), Span(0, 10, 20), 1, most, lambda _: None, spark=None)  # type: ignore[arg-type]
    assert [each.xways for each in made] == tried


def test_a_span_goes_forward() -> None:
    with pytest.raises(RunError, match="give seconds in this order"):
        next(ratings(Feed(()), Span(30, 20, 10), 1, 1, lambda _: None, spark=None))  # type: ignore[arg-type]

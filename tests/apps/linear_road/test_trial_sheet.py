"""The results of a trial, as a table."""

from rich.console import Console

from australis.apps.linear_road.rate import Trial
from australis.apps.linear_road.trial_sheet import sheet
from australis.apps.linear_road.validation.verdict import AnswerCounts, Verdict


def test_each_kind_of_answer_has_a_row() -> None:
    counts = (
        AnswerCounts(0, due=1200, right=1198, wrong=2, median=0.5, p99=1.25, worst=3.0),
        AnswerCounts(4, due=7, unchecked=7),
    )
    trial = Trial(3, 1, Verdict(counts, 0, ()), 12.0, 50_000, 1.5, 2**31, 0.25, 1.0)
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as capture:
        console.print(sheet(trial))
    title, *lines = [line.split() for line in capture.get().splitlines() if line.strip()]
    assert "failed;" in title
    assert ["toll", "notifications", "1,200", "2", "0.50", "1.25", "3.00"] in lines
    assert ["travel", "times", "7", "not", "checked", "-", "-", "-"] in lines

"""The page about a run."""

import re
from pathlib import Path

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.report import report
from australis.apps.linear_road.validation import validate, write_reference
from tests.oracles.linear_road import balance, write
from tests.oracles.linear_road import report as reported


def test_a_page_tells_the_verdict_and_draws_the_answers(tmp_path: Path) -> None:
    rows = [*(reported(30 * turn, vid, 5 + turn) for vid in range(3) for turn in range(6)), balance(100, 1, 7)]
    given, output = feed(write(tmp_path / "feed.arrow", rows)), tmp_path / "answers.csv"
    write_reference(given, output)
    batches = [{"taken": {"sent": 10}, "seconds": 0.5}, {"taken": {"sent": 9}, "seconds": 0.0}]
    text = report(given, output, validate(given, output), 2.0, batches, "at 2-fold speed")
    cells = re.findall(r"<th scope=row>toll notifications</th>(.*)</tr>", text)[0]
    assert re.findall("<td>(.*?)</td>", cells)[:3] == ["18", "18", "0"]
    names = ["responses", "throughput", "lav", "tolls", "speeds-east", "speeds-west"]
    assert re.findall('<figure id="(.*?)">', text) == names
    assert "at 2-fold speed" in text

"""A feed laid out as one file for each expressway."""

from pathlib import Path

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.road_layout import is_laid_out, lay_out
from tests.oracles.linear_road import balance, report, travel, write

ROWS = [report(0, 5, 5, xway=2), report(1, 1, 5), balance(2, 1, 8), report(3, 5, 6, xway=2), travel(4, 1, 9, 1, 2)]


def test_reports_go_by_expressway_and_requests_apart(tmp_path: Path) -> None:
    given, heard = feed(write(tmp_path / "flat.csv", ROWS)), []
    assert not is_laid_out(given)
    made = lay_out(given, tmp_path / "roads", heard.append)
    assert is_laid_out(made)
    assert heard[-1] == 4
    found = {
        file.name: [time for batch in made.read(file) for time in batch["time"].to_pylist()] for file in made.files
    }
    assert found == {"requests.arrow": [2, 4], "xway-000.arrow": [1], "xway-002.arrow": [0, 3]}
    assert (made.xways, made.vehicles, made.queries, made.copies) == (3, 6, 10, 1)

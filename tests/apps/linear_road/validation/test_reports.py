"""Reports: vehicle by vehicle, each with the one before."""

from pathlib import Path

import pytest

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.validation.reports import Reports, read
from australis.errors import RunError
from tests.oracles.linear_road import Row, balance, report, write


def given(folder: Path, rows: list[Row]) -> tuple[Reports, int]:
    file = write(folder / "feed.arrow", rows)
    reports, requests = read(feed(file), file)
    return reports, len(requests)


def test_a_report_follows_the_one_30_seconds_before(tmp_path: Path) -> None:
    rows = [
        report(0, 2, 5), report(1, 1, 5), report(30, 2, 6), report(32, 1, 5), balance(40, 1, 7),
        report(60, 2, 6, way=1), report(62, 1, 5), report(90, 2, 7, way=1), report(120, 2, 8, way=1, xway=3),
    ]  # fmt: skip
    reports, requests = given(tmp_path, rows)
    assert list(zip(reports.vid.tolist(), reports.time.tolist(), strict=True)) == [
        (1, 1), (1, 32), (1, 62), (2, 0), (2, 30), (2, 60), (2, 90), (2, 120),
    ]  # fmt: skip
    assert reports.previous.tolist() == [-1, -1, 1, -1, 3, -1, 5, -1]
    assert reports.place.tolist() == [5, 5, 5, 5, 6, 106, 107, 308]
    assert (reports.places, requests) == (400, 1)
    assert reports.minute.tolist() == [1, 1, 2, 1, 1, 2, 2, 3]
    assert reports.minutes == 5


def test_no_reports_are_none(tmp_path: Path) -> None:
    reports, requests = given(tmp_path, [balance(0, 1, 1)])
    assert (len(reports.vid), reports.places, reports.minutes, requests) == (0, 0, 3, 1)


def test_a_vehicle_is_at_one_place_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="vehicle 1 reports twice at time 3"):
        given(tmp_path, [report(3, 1, 5), report(3, 2, 5), report(3, 1, 5)])

"""Lead: what every partition must know of the objects."""

from australis.boxes.moving import Lead
from australis.testing import Cut, train
from tests.oracles.running import run


def test_lead_tells_of_a_focal_object_when_it_reports_and_when_a_query_comes() -> None:
    reports = train("id int, x double, y double, time int", id=[1, 2, 1], x=[1, 2, 3], y=[0] * 3, time=[5, 6, 4],
                    number=[1, 2, 4])  # fmt: skip
    wanted = train("query int, kind string, radius double, focal int", query=[7], kind=["circle"], radius=[1],
                   focal=[2], number=[3])  # fmt: skip
    found = run(Lead(time="time", timeout=9), [reports, wanted], Cut((2, 3)))[0]
    assert [row for row, _, _ in found] == [(None, None, None, 6), (2, 2.0, 0.0, 6), (None, None, None, 4)]
    assert run(Lead(forgets=True), [reports, wanted], Cut((2, 3)))[0] == []

"""Queries as rows: those that can be read, and those that are refused."""

import pytest

import australis as au
from australis.boxes.moving import Watch
from australis.errors import AustralisError
from australis.testing import train
from tests.boxes.moving.test_watch import BOX, OBJECTS, QUERIES
from tests.oracles.running import run


@pytest.mark.parametrize(("x", "y", "fits"), [(180, 90, True), (181, 0, False), (350, 0, False), (0, 90.5, False)])
def test_queries_on_the_earth_lie_there(x: float, y: float, fits: bool) -> None:
    wanted = train(
        "query int, kind string, x double, y double, radius double",
        query=[1],
        kind=["circle"],
        x=[x],
        y=[y],
        radius=[5],
    )
    reports = train("id int, x double, y double", id=[1], x=[0], y=[0], first=2)
    assert len(run(Watch(earth=True), [reports, wanted])[1]) == (not fits)
    if not fits:
        with pytest.raises(AustralisError, match="the query q does not read"):
            au.stream("o", OBJECTS).moving.ask({"q": {"kind": "knn", "k": 1, "x": x, "y": y}}, earth=True)


def test_rows_that_cannot_be_read_are_refused_and_change_nothing() -> None:
    good = {"query": 1, "kind": "circle", "x": 0, "y": 0, "radius": 2}
    wrong = [
        {"kind": "square"}, {"kind": None}, {"radius": None}, {"radius": -1}, {"x": None}, {"y": float("nan")},
        {"condition": "lorries"}, {"action": "forget"}, {"query": None}, {"kind": "knn", "k": 0}, {"kind": "knn"},
        {"kind": "polygon"}, {"kind": "polygon", "shape": "POLYGON ((0 0"}, {"kind": "polygon", "shape": "POINT (0 0)"},
        {"kind": "polygon", "shape": "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))"}, {"kind": "rectangle", "width": 1},
    ]  # fmt: skip
    rows_ = [good, *({**good, **each} for each in wrong)]
    names = [part.split()[0] for part in QUERIES.split(", ")]
    wanted = train(QUERIES, {name: [row.get(name) for row in rows_] for name in names}, first=2)
    reports = train(OBJECTS, id=[1], x=[1], y=[1], time=[0], type=["car"])
    updates, refused, _ = run(BOX, [reports, wanted])
    assert [row for row, _, _ in updates] == [(1, 1, 1)]
    assert [number for _, _, number in refused] == list(range(3, 3 + len(wrong)))

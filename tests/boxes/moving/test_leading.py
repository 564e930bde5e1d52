"""Focal objects as every partition knows them."""

import numpy as np
import pyarrow as pa

from australis.arrow.schema import schema
from australis.boxes.moving import leading
from australis.boxes.moving.objects import X
from australis.boxes.moving.queries import FOCAL, QUERY
from australis.boxes.moving.regions import LAST
from australis.model.table import Table
from australis.testing import train

NAMES = ("id", "x", "y")


def following(*focals: int | None) -> Table:
    """Queries that follow these objects."""
    fields = [pa.field("bound", pa.bool_(), nullable=False), pa.field(FOCAL, pa.int64(), nullable=False)]
    table = Table(pa.schema([pa.field(QUERY, pa.int64()), *fields]), (QUERY,))
    slots = table.find([pa.array(range(len(focals)))], len(focals))
    table["bound"][slots] = [focal is not None for focal in focals]
    table[FOCAL][slots] = [focal or 0 for focal in focals]
    return table


def known(table: Table) -> dict[int, float]:
    return dict(zip(table["id"][table.slots].tolist(), table[X][table.slots].tolist(), strict=True))


def test_the_last_report_counts_and_who_is_nowhere_goes() -> None:
    leaders = leading.table("id", pa.int64())
    reports = train("id int, x double, y double", id=[7, 8, 7, None, 8], x=[1, 2, 3, 4, None], y=[0] * 5,
                    ts=[9, 5, 4, 3, 2])  # fmt: skip
    stamps = leading.report(leaders, reports, NAMES, None)
    assert known(leaders) == {7: 3.0}
    assert sorted(stamps[stamps < LAST].tolist()) == [2, 4]


def test_only_those_that_a_query_follows_stay() -> None:
    queries = following(7, None, 9, 8)
    for oldest, there in ((None, {7: 1.0}), (5, {7: 1.0}), (6, {})):
        leaders = leading.table("id", pa.int64())
        reports = train("id int, x double, y double, time int", id=[7, 8, 0], x=[1, 2, 3], y=[0] * 3, time=[5, 9, 9])
        leading.report(leaders, reports, NAMES, "time")
        removed = np.zeros(len(queries.alive), bool)
        removed[queries.lookup([pa.array([3])], 1)] = True
        leading.forget(leaders, queries, removed, oldest)
        assert known(leaders) == there


def test_queries_find_their_focal_objects() -> None:
    leaders, queries = leading.table("id", pa.int64()), following(8, None, 6)
    leading.report(leaders, train("id int, x double, y double", id=[7, 8], x=[1, 2], y=[0, 0]), NAMES, None)
    slots = leading.slots(leaders, queries)[queries.lookup([pa.array([0, 1, 2])], 3)]
    assert (slots >= 0).tolist() == [True, False, False]
    assert leaders["id"][slots[0]] == 8
    assert leading.points(leaders).x[slots[0]] == 2.0


def test_what_tells_where_they_are() -> None:
    stream = schema("id int, t timestamp")
    assert leading.schema(stream.field("id"), "x", "y", stream.field("t")).names == ["id", "x", "y", "t"]
    assert leading.schema(stream.field("id"), "x", "y", None).names == ["id", "x", "y"]

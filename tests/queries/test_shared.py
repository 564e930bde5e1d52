"""Spatial clauses of many statements that share a box give what each statement gives alone (SOLE 3.2, 4)."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import australis as au
from australis.api.network import Network
from australis.boxes.moving import Ask
from australis.netfile import netfile
from australis.plan import plan
from australis.queries import Moving, sql, sql_network
from australis.testing import Cut, cuts, rows
from tests.oracles.tuples import stream_of
from tests.planned import Planned, Step
from tests.queries.test_answers import CARS, reports

TABLES = {"cars": CARS}


def asks(net: Network) -> list[Ask]:
    return [node.box for node in net.nodes if isinstance(node.box, Ask)]


@st.composite
def statements(draw: st.DrawFn) -> str:
    """A query with spatial clauses."""
    corner = st.integers(0, 8)
    focal = st.integers(0, 5)
    inside = st.one_of(
        st.builds("INSIDE ({}, {}, {}, {})".format, corner, corner, corner, corner),
        st.builds("INSIDE ('M', {}, {}, {})".format, focal, corner, corner),
    )
    near = st.one_of(
        st.builds("kNN ({}, {}, {})".format, st.integers(1, 3), corner, corner),
        st.builds("kNN ('M', {}, {})".format, st.integers(1, 3), focal),
    )
    clauses = draw(st.one_of(inside, near, st.builds("{} {}".format, inside, near)))
    wanted = ["", "speed > 1", "type = 'car'", "x < 5 AND speed < 3", "speed / 2 = 1"]
    where = draw(st.sampled_from(wanted))
    text = "FROM cars " + (f"WHERE {where} " if where else "") + clauses
    columns = draw(st.sampled_from(["id", "id, type", "id, type, x", "type, x AS at", "*", "DISTINCT type", "GROUP"]))
    return f"SELECT type, count(*) AS n {text} GROUP BY type" if columns == "GROUP" else f"SELECT {columns} {text}"


MOVINGS = [Moving(), Moving(first="inside"), Moving(time="time", timeout=3), Moving(first="selection")]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(statements(), min_size=2, max_size=6), reports(), cuts(), st.sampled_from([1, 2]),
       st.sampled_from(MOVINGS), st.booleans())  # fmt: skip
def test_updates_are_those_of_each_statement_alone(
    texts: list[str], cars: Any, cut: Cut, partitions: int, moving: Moving, restart: bool
) -> None:
    named = {f"o{number}": text for number, text in enumerate(texts)}
    net = sql_network(";".join(f"INSERT INTO {name} {text}" for name, text in named.items()), TABLES, moving=moving)
    assert netfile.loads(netfile.dumps(net)) == net
    alone = {name: au.Local(sql_network(text, TABLES, moving=moving)) for name, text in named.items()}
    run, seen = Planned(net, plan(net), partitions, exact=False, restart=restart), dict.fromkeys(named, 0)
    for (given_,) in cut(stream_of(CARS, cars)):
        run.step(Step({"cars": given_.tuples}))
        for name, text in named.items():
            expected = rows(alone[name].push(cars=given_.tuples)["out"])
            assert Counter(run.found[name][seen[name] :]) == Counter(expected), text
            seen[name] = len(run.found[name])


def many(texts: list[str], **options: Any) -> list[Ask]:
    return asks(sql_network(";".join(f"INSERT INTO o{n} {text}" for n, text in enumerate(texts)), TABLES, **options))


def test_statements_about_the_same_objects_share_a_box() -> None:
    (box,) = many([f"SELECT id, speed FROM cars INSIDE ({n}, 0, {n + 1}, 1)" for n in range(50)])
    assert [name for name, _ in box.queries] == [f"o{n}" for n in range(50)]
    assert (box.only, box.conditions) == (None, ())
    (box,) = many(["SELECT id FROM cars kNN (2, 0, 0)", "SELECT id FROM cars c INSIDE ('M', 3, 1, 1)"])
    assert box.focals == (3,)


def test_selections_become_conditions_of_queries_unless_all_have_the_same() -> None:
    texts = [f"SELECT id FROM cars WHERE type = '{kind}' INSIDE (0, 0, 9, 9)" for kind in ("car", "bus", "car")]
    (box,) = many(texts)
    assert [query.condition for _, query in box.queries] == ["c1", "c2", "c1"]
    assert str(box.only) == "type = 'car' or type = 'bus'"
    (box,) = many([texts[0], texts[2]])
    assert (str(box.only), box.conditions) == ("type = 'car'", ())
    (box,) = many([texts[0], "SELECT id FROM cars INSIDE (0, 0, 9, 9)"])
    assert (box.only, [query.condition for _, query in box.queries]) == (None, ["c1", None])


@pytest.mark.slow
def test_where_there_are_too_many_conditions_there_are_more_boxes() -> None:
    boxes = many([f"SELECT id FROM cars WHERE speed = {n} kNN (3, {n}, 0)" for n in range(130)])
    assert [len(box.conditions) for box in boxes] == [62, 62, 6]


@pytest.mark.parametrize(
    "other",
    [
        "SELECT id, type FROM cars INSIDE (0, 0, 9, 9)",  # would be told of changes of the other's columns
        "SELECT id FROM (SELECT * FROM cars WHERE speed > 3) AS fast INSIDE (0, 0, 9, 9)",
        "SELECT id FROM vans INSIDE (0, 0, 9, 9)",
    ],
)
def test_others_keep_boxes_of_their_own(other: str) -> None:
    text = f"INSERT INTO a SELECT id FROM cars INSIDE (0, 0, 9, 9); INSERT INTO b {other}"
    assert len(asks(sql_network(text, {**TABLES, "vans": CARS}))) == 2


def test_views_and_subqueries_share_too() -> None:
    text = """
        CREATE VIEW fast AS SELECT * FROM cars WHERE speed > 3;
        CREATE VIEW near AS SELECT id, x FROM fast kNN (3, 0, 0);
        SELECT a.id, b.id AS other
        FROM near a JOIN (SELECT id, x FROM fast INSIDE (0, 0, 9, 9)) b ON a.id <> b.id AND a.x = b.x"""
    (box,) = asks(au.network(pairs=sql(text, TABLES)))
    assert [name for name, _ in box.queries] == ["near", "out"]
    (box,) = asks(sql_network("SELECT id FROM cars kNN (1, 0, 0) UNION ALL SELECT id FROM cars kNN (1, 5, 5)", TABLES))
    assert [name for name, _ in box.queries] == ["out", "out_2"]


def test_columns_that_must_be_renamed_do_not_keep_statements_apart() -> None:
    text = (
        "INSERT INTO a SELECT id, k FROM cars INSIDE (0, 0, 9, 9); INSERT INTO b SELECT k, id FROM cars c kNN (1, 0, 0)"
    )
    assert len(asks(sql_network(text, {"cars": "id int, x double, y double, k int"}))) == 1


def test_choices_are_told_once() -> None:
    told: list[str] = []
    sql_network("SELECT id FROM cars WHERE speed > 3 kNN (3, 0, 0)", TABLES, told=told.append)
    assert len(told) == 2

"""Distinct (SOLE 3.3), and aggregates that subtract: what boxes make of negative updates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.boxes.moving import Distinct
from australis.errors import AustralisError
from australis.testing import Cut, cuts, rows
from tests.oracles.running import in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, out, stream_of, streams

SCHEMA = "query int, type string, sign int"
BOX = Distinct(("type",))
SIGNS = st.sampled_from([1, -1, 2, 0, None])
STREAMS = streams(query=st.integers(0, 3), type=st.none() | st.sampled_from("ab"), sign=SIGNS)


def oracle(stream: Stream) -> list[Out]:
    counts: dict[str | None, int] = {}
    made = []
    for each in stream:
        kind = each.row["type"]
        before = counts.get(kind, 0)
        after = counts[kind] = before + (each.row["sign"] or 0)
        if (before > 0) != (after > 0):
            made.append(out([kind, 1 if after > 0 else -1], each.ts, each.number))
    return made


@given(STREAMS, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(stream: Stream, cut: Cut, restart: bool) -> None:
    assert run(BOX, [stream_of(SCHEMA, stream)], cut, restart=restart) == (oracle(stream),)


@given(STREAMS, st.integers(1, 3))
def test_partitions_by_its_columns_change_nothing(stream: Stream, partitions: int) -> None:
    assert partitioned(BOX, [stream_of(SCHEMA, stream)], partitions) == (in_any_order(oracle(stream)),)


@given(STREAMS)
def test_what_it_tells_alternates(stream: Stream) -> None:
    (told,) = run(BOX, [stream_of(SCHEMA, stream)])
    for kind in (None, "a", "b"):
        signs = [sign for (each, sign), _, _ in told if each == kind]
        assert signs == [1, -1] * (len(signs) // 2) + [1] * (len(signs) % 2)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        (Distinct(("kind",)), "`kind`"), (Distinct(("type",), "plus"), "`plus`"), (Distinct(()), "columns"),
        (Distinct(("sign",)), "columns"), (Distinct(("query",), "type"), "`type`.*whole"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(box: Distinct, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(SCHEMA))


def test_counts_and_sums_subtract_what_leaves() -> None:
    """Filter and map pass signs on, a table written under the query counts and sums, distinct waits for the last."""
    ships = au.stream("ships", "id int, x double, y double, type string, tons int")
    queries = au.stream("queries", "query int, kind string, x double, y double, radius double")
    seen = ships.moving.watch(queries, carry=["type", "tons"])
    heavy = seen.filter("tons > 5").map(query="query", sign="sign", kilos="tons * 1000")
    loads = au.table("loads", "query int, ships bigint, kilos bigint", key="query")
    count, total = "coalesce(old.ships, 0) + sign", "coalesce(old.kilos, 0) + sign * tons * 1000"
    added = seen.write(loads, ships=count, kilos=total)
    run = au.Local(au.network(heavy=heavy, added=added, types=seen.moving.distinct("type")))
    run.push(queries=[{"query": each, "kind": "circle", "x": 0, "y": 0, "radius": each} for each in (1, 2)])
    fleet = [(1, "tug", 4), (2, "tug", 9), (3, "ferry", 7)]
    came = run.push(ships=[{"id": i, "x": i / 2, "y": 0, "type": kind, "tons": tons} for i, kind, tons in fleet])
    assert sorted(rows(came["types"])) == [("ferry", 1), ("tug", 1)]
    assert sorted(rows(came["heavy"])) == [(1, 1, 9000), (2, 1, 7000), (2, 1, 9000)]
    went = run.push(ships=[{"id": i, "x": 9, "y": 0, "type": kind, "tons": tons} for i, kind, tons in fleet[1:]])
    assert rows(went["types"]) == [("ferry", -1)]
    assert sorted(rows(went["heavy"])) == [(1, -1, 9000), (2, -1, 7000), (2, -1, 9000)]
    totals = {row["query"]: (row["ships"], row["kilos"]) for row in went["added"].to_pylist()}
    assert totals == {1: (1, 4000), 2: (1, 4000)}

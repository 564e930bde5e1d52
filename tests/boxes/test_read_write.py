"""Write and Read: a keyed table that one box writes and others see as of each tuple's arrival."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.read import Read
from australis.boxes.write import Write
from australis.errors import AustralisError, SchemaError
from australis.expressions import expr
from australis.model.box import Moment
from australis.model.table import Keyed
from australis.testing import Cut, cuts, train
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, emitted, out, stream_of, streams

TABLE = Keyed("accounts", schema("g string, k int, total bigint, note string, times bigint"), ("g", "k"))
STREAM = "g string, k int, x int, s string"
WRITE = Write(TABLE, (("total", expr("coalesce(old.total, 0) + x")), ("note", expr("s"))))
READ = Read(TABLE, ("note", "total"))
KEYS = {"g": st.none() | st.sampled_from("pq"), "k": st.none() | st.integers(0, 1)}
WRITES = streams(**KEYS, x=st.none() | st.integers(0, 9), s=st.none() | st.sampled_from(["u", "v"]))
READS = streams(**KEYS)

Table = dict[tuple[Any, ...], tuple[Any, ...]]


def written(table: Table, row: dict[str, Any]) -> tuple[Any, ...]:
    """The row of a tuple's key after its write: total, note, times."""
    key = (row["g"], row["k"])
    old = table.get(key, (None, None, None))
    total = None if row["x"] is None else (0 if old[0] is None else old[0]) + row["x"]
    table[key] = (total, row["s"], old[2])
    return table[key]


def writes(stream: Stream) -> list[Out]:
    table: Table = {}
    return [out([*each.row.values(), *written(table, each.row)], each.ts, each.number) for each in stream]


def reads(stream: Stream, reading: Stream) -> list[Out]:
    made = []
    for each in reading:
        table: Table = {}
        for before in stream:
            if before.number <= each.number:
                written(table, before.row)
        total, note, _ = table.get((each.row["g"], each.row["k"]), (None, None, None))
        made.append(out([*each.row.values(), note, total], each.ts, each.number))
    return made


@given(WRITES, cuts())
def test_writing_agrees_with_its_oracle_however_the_stream_is_cut(stream: Stream, cut: Cut) -> None:
    assert run(WRITE, [stream_of(STREAM, stream)], cut) == (writes(stream),)


@given(WRITES, st.just(SINGLY) | cuts())
def test_a_restart_after_any_step_changes_nothing(stream: Stream, cut: Cut) -> None:
    assert run(WRITE, [stream_of(STREAM, stream)], cut, restart=True) == (writes(stream),)


@given(WRITES, st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(stream: Stream, partitions: int) -> None:
    assert partitioned(WRITE, [stream_of(STREAM, stream)], partitions) == (in_any_order(writes(stream)),)


@given(WRITES, READS, cuts())
def test_a_reader_sees_what_arrived_no_later_than_its_tuple(stream: Stream, reading: Stream, cut: Cut) -> None:
    both = [stream_of(STREAM, stream), stream_of("g string, k int", reading)]
    tables = WRITE.tables(both[0].schema)
    got = []
    for writing, asking in cut(*both):
        WRITE.step(tables, (writing,), Moment())
        got += READ.step(tables, (asking,), Moment())
    assert emitted(got) == reads(stream, reading)


@given(WRITES)
def test_a_reader_of_its_own_writes_sees_the_written_row(stream: Stream) -> None:
    whole = stream_of(STREAM, [each._replace(number=number) for number, each in enumerate(stream, 1)])
    tables = WRITE.tables(whole.schema)
    (after,) = WRITE.step(tables, (whole,), Moment())
    (read,) = Read(TABLE, ()).step(tables, (whole,), Moment())
    assert emitted([read]) == emitted([after])


def test_many_keys_outgrow_the_first_table() -> None:
    table = Keyed("t", schema("k int, n bigint"), ("k",))
    box = Write(table, (("n", expr("coalesce(old.n, 0) + 1")),))
    stream = train("k int", k=[number % 500 for number in range(1500)])
    for restart in (False, True):
        (got,) = run(box, [stream], Cut((300, 700, 701)), restart=restart)
        assert [row for row, _, _ in got] == [(number % 500, number // 500 + 1) for number in range(1500)]


@pytest.mark.parametrize(
    ("box", "stream", "message"),
    [
        (Write(TABLE, (("totl", expr("1")),)), STREAM, r"`totl`.*total, note, times"),
        (Write(TABLE, (("k", expr("1")),)), STREAM, r"`k`.*total, note, times"),
        (Write(TABLE, (("total", expr("s")),)), STREAM, r"`s`.*string.*`total`.*int64"),
        (Write(TABLE, (("total", expr("z")),)), STREAM, r"`z`.*g, k, x, s"),
        (Write(TABLE, ()), STREAM, r"nothing is written.*accounts"),
        (Write(TABLE, (("total", expr("1")),)), "g string, x int", r"`k`.*g, x"),
        (Write(TABLE, (("total", expr("1")),)), "g string, k bigint", r"`k`.*int32.*int64"),
        (Write(TABLE, (("total", expr("1")),)), "g string, k int, note int", r"both.*note"),
        (Read(TABLE, ("totl",)), "g string, k int", r"`totl`.*total, note, times"),
        (Read(TABLE, ("total",)), "g string", r"`k`.*g"),
    ],
)
def test_what_does_not_fit_is_refused(box: Read | Write, stream: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(stream))


def test_a_read_of_all_has_every_column_beside_the_key() -> None:
    assert Read(TABLE, ()).outputs(schema("g string, k int"))["out"].names == ["g", "k", "total", "note", "times"]
    with pytest.raises(SchemaError, match="both"):
        Read(TABLE, ()).outputs(schema("g string, k int, times int"))


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 9)), min_size=1, max_size=30))
def test_a_table_that_nobody_reads_is_written_the_same(pairs: list[tuple[int, int | None]]) -> None:
    table = Keyed("sums", schema("k int, total bigint, before bigint"), ("k",))
    write = Write(table, (("total", expr("coalesce(old.total, 0) + x")), ("before", expr("old.total"))))
    stream = train("k int, x int", k=[k for k, _ in pairs], x=[x for _, x in pairs])
    results = []
    for watched in (True, False):
        tables = write.tables(stream.schema)
        tables["table"].watched = watched
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("australis.boxes.write._MANY", 0)
            (written,) = write.step(tables, (stream,), Moment())
        assert (tables["table"].versions is not None) == watched
        results.append((written.tuples.to_pydict(), tables["table"].changes().to_pydict()))
    assert results[0] == results[1]


RETURNING = (("was", expr("old.total")), ("first", expr("old.times is null")), ("less", expr("old.total - x")))
RETURNS = Write(
    Keyed("accounts", schema("g string, k int, total bigint, times bigint"), ("g", "k")),
    (("total", expr("coalesce(old.total, 0) + x")), ("times", expr("coalesce(old.times, 0) + 1"))),
    RETURNING,
)


def returns(stream: Stream) -> list[Out]:
    table: Table = {}
    made = []
    for each in stream:
        key, x = (each.row["g"], each.row["k"]), each.row["x"]
        total, times = table.get(key, (None, None))
        less = None if total is None or x is None else total - x
        made.append(out([*each.row.values(), total, times is None, less], each.ts, each.number))
        table[key] = (None if x is None else (total or 0) + x, (times or 0) + 1)
    return made


@given(WRITES, cuts())
def test_what_is_returned_agrees_with_its_oracle(stream: Stream, cut: Cut) -> None:
    assert run(RETURNS, [stream_of(STREAM, stream)], cut) == (returns(stream),)


def test_what_is_returned_is_the_same_compiled() -> None:
    keys, count = 50, 6000
    given = train("g string, k int, x int, s string", g=["p"] * count, k=[n * 7 % keys for n in range(count)],
                  x=list(range(count)), s=["u"] * count)  # fmt: skip
    whole, parts = [], []
    for sizes, made in (([count], whole), ([1000] * 6, parts)):
        tables = RETURNS.tables(given.schema)
        tables["table"].watched = False
        start = 0
        for size in sizes:
            (result,) = RETURNS.step(tables, (given.slice(start, start + size),), Moment())
            made += result.tuples.to_pylist()
            start += size
    assert whole == parts
    assert set(whole[0]) == {"g", "k", "x", "s", "was", "first", "less"}


def test_a_name_that_the_stream_has_cannot_be_returned() -> None:
    clash = Write(RETURNS.table, RETURNS.columns, (("x", expr("old.total")),))
    with pytest.raises(SchemaError, match="the stream has x already: return it under another name"):
        clash.outputs(schema(STREAM))

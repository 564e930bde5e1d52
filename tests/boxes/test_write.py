"""Write: a keyed table that a box writes one tuple at a time, also where many tuples run as a loop."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.read import Read
from australis.boxes.write import Write
from australis.errors import AustralisError, RunError, SchemaError
from australis.expressions import expr
from australis.model.box import Moment
from australis.model.table import Keyed
from australis.testing import Cut, cuts, drive, train
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, out, stream_of, streams

TABLE = Keyed("accounts", schema("g string, k int, total bigint, note string, times bigint"), ("g", "k"))
STREAM = "g string, k int, x int, s string"
WRITE = Write(TABLE, (("total", expr("coalesce(old.total, 0) + x")), ("note", expr("s"))))
KEYS = {"g": st.none() | st.sampled_from("pq"), "k": st.none() | st.integers(0, 1)}
WRITES = streams(**KEYS, x=st.none() | st.integers(0, 9), s=st.none() | st.sampled_from(["u", "v"]))

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


@given(WRITES, cuts())
def test_writing_agrees_with_its_oracle_however_the_stream_is_cut(stream: Stream, cut: Cut) -> None:
    assert run(WRITE, [stream_of(STREAM, stream)], cut) == (writes(stream),)


@given(WRITES, st.just(SINGLY) | cuts())
def test_a_restart_after_any_step_changes_nothing(stream: Stream, cut: Cut) -> None:
    assert run(WRITE, [stream_of(STREAM, stream)], cut, restart=True) == (writes(stream),)


@given(WRITES, st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(stream: Stream, partitions: int) -> None:
    assert partitioned(WRITE, [stream_of(STREAM, stream)], partitions) == (in_any_order(writes(stream)),)


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


NAN, INF = float("nan"), float("inf")


def write(text: str, column: str, stream: str, values: list[Any], step: int) -> list[Any] | str:
    """What the column is after each tuple, with so many tuples a train; or how the error begins."""
    table = Keyed("t", schema(f"k int, m {column}"), ("k",))
    box = Write(table, (("m", expr(text)),))
    whole = train(f"k int, x {stream}", k=[1] * len(values), x=values)
    try:
        (rows,) = drive(box, [whole.slice(at, at + step) for at in range(0, len(values), step)])
    except RunError as error:
        return str(error)
    return [m for _, _, m in rows]


def agreed(text: str, column: str, stream: str, values: list[Any]) -> list[Any] | str:
    """What a write gives, however the tuples are cut."""
    found = {repr(write(text, column, stream, values, step)): step for step in (1, 3, len(values))}
    assert len(found) == 1, found
    return write(text, column, stream, values, len(values))


@pytest.mark.parametrize(("function", "ends"), [("greatest", NAN), ("least", 0.0)])
def test_nan_ranks_highest_however_the_tuples_are_cut(function: str, ends: float) -> None:
    values = agreed(f"{function}(old.m, x)", "double", "double", [NAN, *map(float, range(9))])
    assert repr(values[-1]) == repr(ends)
    assert repr(values[0]) == "nan"


def test_a_zero_stays_that_is_there_already() -> None:
    assert repr(agreed("greatest(old.m, x)", "double", "double", [-0.0] + [0.0] * 12)) == repr([-0.0] * 13)
    assert repr(agreed("least(old.m, x)", "double", "double", [0.0] + [-0.0] * 12)) == repr([0.0] * 13)


LAZY = (
    "case when old.m0 < 1000 then old.m0 * old.m0 else x end",
    "if(old.m0 < 1000 or old.m0 is null, x, x - 1)",
    "case when old.m0 >= 1000 then x when old.m0 * old.m0 >= 0 then 1 else x end",
    "coalesce(x, old.m0 * old.m0)",
    "case when old.m0 < 1000 and old.m0 * old.m0 > 0 or old.m0 is null or old.m0 > 0 or old.m0 * x < 0 then x end",
    "case when old.m0 is null then x else case when x < 5 then -9223372036854775807 - old.m0 else x end end",
)


def test_what_is_not_needed_does_not_fail() -> None:
    """Here the product of two numbers fits in no column."""
    names = [f"m{at}" for at in range(len(LAZY))]
    table = Keyed("t", schema({"k": "int", **dict.fromkeys(names, "bigint")}), ("k",))
    box = Write(table, tuple(zip(names, map(expr, LAZY), strict=True)))
    whole = train("k int, x bigint", k=[1] * 10, x=[10**12] * 10)
    for step in (1, 3, 10):
        (rows,) = drive(box, [whole.slice(at, at + step) for at in range(0, 10, step)])
        first, *others = ([*row[2:]] for row in rows)
        assert first == [10**12] * len(LAZY)
        assert others == [[10**12, 10**12 - 1, *[10**12] * 4]] * 9


def test_what_is_needed_fails_in_one_way() -> None:
    wrong = agreed("coalesce(old.m * x, x)", "bigint", "bigint", [10**6] * 12)
    assert "overflow" in wrong
    narrow = agreed("coalesce(old.m * x, x)", "int", "bigint", [10**6] * 12)
    assert "`m` of the table `t`, which is int32, does not fit" in narrow
    assert agreed("coalesce(old.m // x, -9223372036854775808)", "bigint", "bigint", [1] * 12) == [-(2**63)] * 12
    assert "overflow" in agreed("coalesce(old.m // x, -9223372036854775808)", "bigint", "bigint", [-1] * 12)


def test_a_cast_is_guarded_by_the_row_that_was_there() -> None:
    text = "case when x rlike '^[0-9]+$' and length(x) < 10 then coalesce(old.m, 0) + cast(x as int) else old.m end"
    assert agreed(text, "bigint", "string", ["1", "two", "3", None, "4"] * 3)[-1] == 24
    text = "case when old.m is null then 7 when old.m < 0 then cast(x as int) else old.m end"
    assert agreed(text, "bigint", "string", ["1", "two", "3", None] * 3) == [7] * 12
    text = "case when old.m is null then -7 when old.m < 0 then cast(x as int) else old.m end"
    assert "'two'" in str(agreed(text, "bigint", "string", ["1", "two", "3", None] * 3))


def test_whole_numbers_become_doubles_however_large() -> None:
    assert agreed("greatest(old.m, x)", "double", "bigint", [2**53 + 1] * 12) == [float(2**53)] * 12
    assert agreed("x", "double", "bigint", [2**53 + 1] * 12) == [float(2**53)] * 12


@pytest.mark.parametrize("type_", ["timestamp", "timestamptz", "timestamp[ns, Europe/Paris]", "timestamp[s]"])
def test_the_latest_time_is_kept(type_: str) -> None:
    zone = UTC if "," in type_ or type_ == "timestamptz" else None
    times = [datetime(2026, 1, 1, tzinfo=zone) + timedelta(hours=n * 7 % 10) for n in range(12)]
    latest = [max(times[: n + 1]) for n in range(12)]
    assert agreed("greatest(x, old.m)", type_, type_, times) == latest
    assert agreed("greatest(old.m, x)", type_, type_, times) == latest


WHOLE = st.sampled_from([-(2**63), -(2**63) + 1, -(2**31), -1, 0, 1, 2, 7, 2**31, 3_037_000_500, 2**62, 2**63 - 1])


EXACT = ("coalesce(old.m, x) // x", "coalesce(old.m, x) % x", "case when old.m < x then old.m + x else x end",
         "case when x > 0 then abs(coalesce(old.m, x)) * x else -coalesce(old.m, x) - x end")  # fmt: skip


@pytest.mark.parametrize("text", EXACT)
def test_whole_numbers_at_their_limits_agree(text: str) -> None:
    @given(st.lists(WHOLE, min_size=10, max_size=14))
    def agree(values: list[int]) -> None:
        agreed(text, "bigint", "bigint", values)

    agree()

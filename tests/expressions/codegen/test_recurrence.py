"""Recurrences against the same expressions evaluated one row at a time."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.columns import plain
from australis.expressions import expr
from australis.expressions.codegen.recurrence import recurrence

SCHEMA = pa.schema(
    {
        "v": pa.int32(),
        "x": pa.float64(),
        "s": pa.string(),
        "old.total": pa.int64(),
        "old.n": pa.int32(),
        "old.m": pa.float64(),
        "old.up": pa.bool_(),
        "old.s": pa.string(),
    }
)
STATE = ("old.total", "old.n", "old.m", "old.up")

TOTAL = [
    "coalesce(old.total, 0) + v * 2",
    "v - old.total",
    "old.total * v",
    "-abs(old.total)",
    "greatest(old.total, v)",
]
TOTAL += ["least(v, old.total, 3)", "case when old.total < 4 then v when v is null then 7 end", "length(s) + old.n"]
MEAN = ["x / old.m", "case when old.up then x else old.m end", "old.m / (v - 2)", "if(old.m != old.m, 0.5, x + old.m)"]
UP = ["old.total < v and old.up", "old.m > 1 or not old.up", "old.n is not null and v >= old.n", "x = old.m", "null"]

tuples = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.none() | st.integers(-3, 5),
        st.none() | st.sampled_from([-1.0, 0.0, 0.5, 3.0]),
        st.none() | st.sampled_from(["", "ab"]),
    ),
    max_size=12,
)


def one_by_one(columns: dict[str, str], rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """The oracle: each row's expressions over a batch of one row, the old values from a dictionary."""
    kept: dict[int, dict[str, Any]] = {}
    out = []
    for slot, v, x, s in rows:
        old = kept.get(slot, dict.fromkeys(STATE))
        batch = pa.RecordBatch.from_pylist([{"v": v, "x": x, "s": s, **old}], schema=SCHEMA)
        made = {name: expr(text).bind(SCHEMA).evaluate(batch) for name, text in columns.items()}
        kept[slot] = old | {name: array.cast(SCHEMA.field(name).type)[0].as_py() for name, array in made.items()}
        out.append(kept[slot])
    return out


def down(columns: dict[str, str], rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    named = tuple((name, expr(columns[name]) if name in columns else None) for name in STATE)
    compiled = recurrence(named, SCHEMA)
    assert compiled is not None
    names = ("v", "x", "s")
    batch = pa.RecordBatch.from_pylist([dict(zip(names, row[1:], strict=True)) for row in rows], schema=SCHEMA)
    inputs = []
    for part in compiled.inputs:
        values, valid = plain(part.evaluate(batch))
        inputs.append((values.copy(), np.ones(len(rows), np.bool_) if valid is None else valid))
    state = [(np.zeros(3, SCHEMA.field(name).type.to_pandas_dtype()), np.zeros(3, np.bool_)) for name in STATE]
    slots, failed = np.array([row[0] for row in rows], np.int64), np.zeros(len(rows), np.bool_)
    made, _ = compiled.run(slots, state, inputs, failed, _too_big)
    columns_ = [[value if ok else None for value, ok in zip(v.tolist(), k.tolist(), strict=True)] for v, k in made]
    return [dict(zip(STATE, row, strict=True)) for row in zip(*columns_, strict=True)]


def _too_big(row: int, *_: object) -> None:
    raise OverflowError(row)


@pytest.mark.slow
@pytest.mark.parametrize(("total", "mean", "up"), [(t, MEAN[i % 4], UP[i % 5]) for i, t in enumerate(TOTAL)])
def test_it_agrees_with_a_row_at_a_time(total: str, mean: str, up: str) -> None:
    columns = {"old.total": total, "old.n": "coalesce(old.n, 0) + 1", "old.m": mean, "old.up": up}

    @given(tuples)
    def agrees(rows: list[tuple[Any, ...]]) -> None:
        assert repr(down(columns, rows)) == repr(one_by_one(columns, rows))

    agrees()


@pytest.mark.parametrize("text", ["upper(old.s)", "cast(old.m as bigint)", "round(old.m)"])
def test_what_it_cannot_compile_it_leaves(text: str) -> None:
    name = "old.s" if "old.s" in text else "old.total"
    assert recurrence(((name, expr(text)),) + ((("old.m", None),) if name == "old.total" else ()), SCHEMA) is None


@pytest.mark.parametrize("text", ["old.total + v", "old.total * v", "old.total - 0 - v * -1"])
def test_a_number_that_outgrows_its_column_is_an_error(text: str) -> None:
    columns = {"old.total": f"coalesce({text}, 9223372036854775806)"}
    assert down(columns, [(0, 1, None, None)])[0]["old.total"] == 2**63 - 2
    with pytest.raises(OverflowError):
        down(columns, [(0, 5, None, None), (0, 2, None, None)])


def test_a_number_that_outgrows_a_narrow_column_is_an_error() -> None:
    with pytest.raises(OverflowError):
        down({"old.n": "coalesce(old.n * 1000000, v)"}, [(0, 5, None, None), (0, 0, None, None), (0, 0, None, None)])

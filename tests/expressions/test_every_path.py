"""Every function of the language at the ends of every type, on every path: whole trains, rows, chains, recurrences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

import australis as au
from australis.arrow.schema import schema
from australis.boxes.write import Write
from australis.errors import ExpressionError, RunError
from australis.expressions import Bound, expr
from australis.expressions.codegen.fused import fused
from australis.expressions.codegen.recurrence import recurrence
from australis.expressions.expression import of
from australis.expressions.node import Name, replaced
from australis.kernels import generated
from australis.model.box import Moment
from australis.model.table import Keyed
from australis.model.train import Train
from australis.plan import plan
from australis.plan.chains import chains
from tests.expressions.extremes import INF, NAN, TYPES, expressions, over, same


def by_rows(bound: Bound, batch: pa.RecordBatch) -> list[pa.Array[Any] | None]:
    """The oracle: each row by itself; none where it fails."""
    made: list[pa.Array[Any] | None] = []
    for row in range(batch.num_rows):
        try:
            made.append(bound.evaluate(batch[row : row + 1]))
        except RunError:
            made.append(None)
    return made


def wrong_in(bound: Bound, batch: pa.RecordBatch) -> str | None:
    """How the whole batch differs from its rows."""
    rows = by_rows(bound, batch)
    fine = [row for row, made in enumerate(rows) if made is not None]
    if len(fine) < len(rows):
        try:
            bound.evaluate(batch)
        except RunError:
            pass
        else:
            row = next(row for row, made in enumerate(rows) if made is None)
            return f"{bound.expr}: fails for {batch[row : row + 1].to_pydict()} alone, not in a batch"
    if not fine:
        return None
    whole = bound.evaluate(batch.take(pa.array(fine)))
    wanted = pa.concat_arrays([made for made in rows if made is not None])
    if same(whole, wanted):
        return None
    at = next(at for at in range(len(fine)) if not same(whole[at : at + 1], wanted[at : at + 1]))
    return f"{bound.expr}: {whole[at]} in a batch, {wanted[at]} alone, of {batch.take(pa.array([fine[at]]))}"


# What compiled loops are over, two columns at a time.
LOOPS = {
    "whole": ("bigint", "bigint"),
    "doubles": ("double", "double"),
    "narrow": ("tinyint", "float"),
    "truths": ("boolean", "boolean"),
}
COMPARED = ("{0} = 9007199254740992.0", "{0} < -9223372036854775808.0", "{0} != 1.5", "{0} >= 127", "{0} = 2.0 * 4")
LAZY = (
    "case when {0} > 0 then {0} + {0} when {1} > 0 then {1} * {1} else {0} - {1} end",
    "coalesce(case when {0} > 1 then {1} end, {0} - {1}, 3)",
    "{0} > 0 and {0} * {0} > 5 or {1} > 0 and {1} + {1} < 0 or {0} - {1} > 1",
)


_FEW = 7


def written(names: tuple[str, str], batch: pa.RecordBatch) -> list[Bound]:
    """The expressions over two columns that can be part of a compiled loop."""
    found = expressions(names, batch)
    for form in (*COMPARED, *LAZY):
        try:
            found.append(expr(form.format(*names)).bind(batch.schema))
        except ExpressionError:
            continue
    return [bound for bound in found if fused(batch.schema, ((("made", bound.expr),),)) is not None]


@dataclass(frozen=True)
class Guarded:
    """Expressions over rows, each asked only of the rows for which a column says so.

    So one loop does for all: its compilation is what takes time. `fine` tells the rows that do not fail alone.
    """

    batch: pa.RecordBatch
    bounds: list[Bound]
    made: list[list[pa.Array[Any] | None]]

    @classmethod
    def some(cls, batch: pa.RecordBatch, bounds: list[Bound]) -> Iterator[Guarded]:
        """A few expressions at a time: many in one loop take longer than as many in several."""
        for at in range(0, len(bounds), _FEW):
            few = bounds[at : at + _FEW]
            yield cls(batch, few, [by_rows(bound, batch) for bound in few])

    @property
    def fine(self) -> npt.NDArray[np.bool_]:
        return np.array([[made is not None for made in rows] for rows in self.made])

    def columns(self) -> dict[str, str]:
        return {f"e{at}": f"case when g{at} then {bound.expr} end" for at, bound in enumerate(self.bounds)}

    def asking(self, asked: npt.NDArray[np.bool_], rows: slice = slice(None)) -> pa.RecordBatch:
        """The rows, asked for those expressions."""
        batch = self.batch[rows]
        for at, each in enumerate(asked[:, rows]):
            batch = batch.append_column(f"g{at}", pa.array(each))
        return batch

    def differences(self, made: pa.RecordBatch) -> list[str]:
        """What columns of results have that the rows alone have not."""
        wrong = []
        for at, bound in enumerate(self.bounds):
            none = pa.nulls(1, bound.type)
            wanted = pa.concat_arrays([none if each is None else each for each in self.made[at]])
            got = made.column(f"e{at}")
            wrong += [
                f"{bound.expr}: {got[row]} and not {wanted[row]}, of {self.batch[row : row + 1].to_pydict()}"
                for row in range(len(wanted))
                if not same(got[row : row + 1], wanted[row : row + 1])
            ][:3]
        return wrong

    def failures(self) -> Iterator[tuple[int, int]]:
        """Expressions that fail, each with some rows for which it does."""
        for at, rows in enumerate(self.made):
            yield from ((at, row) for row in [row for row, made in enumerate(rows) if made is None][:8])


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_a_chain_gives_what_its_rows_give(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "WORTH", -1)
    both = over(*LOOPS[name])
    both = both.filter(pa.array(np.all([column.is_valid().to_numpy(False) for column in both.columns], axis=0)))
    bounds = written(("a", "b"), both)
    assert len(bounds) > 5
    for guarded in Guarded.some(both, bounds):
        _check_chain(guarded)


def _check_chain(guarded: Guarded) -> None:
    tuples = guarded.asking(guarded.fine)
    network = au.network(out=au.stream("tuples", tuples.schema).map(**guarded.columns(), a="a").map(
        **{f"e{at}": f"e{at}" for at in range(len(guarded.bounds))}))  # fmt: skip
    (stage,) = plan(network).stages
    (chain,) = chains(network, stage).values()

    def step(batch: pa.RecordBatch) -> Any:
        numbers = np.arange(batch.num_rows)
        while (passed := chain.step(Train(batch, numbers, numbers))) is None:
            compilation = generated._COMPILATIONS[chain.fused.code.key]
            if compilation.kernel is not None:
                return None
            assert compilation.thread is not None
            compilation.thread.join()
        return passed[0].tuples

    rows = [step(tuples[row : row + 1]) for row in range(tuples.num_rows)]
    # A row may be left to the boxes by the loop's careful measure, but few are.
    careful = [row for row, made in enumerate(rows) if made is None]
    assert len(careful) <= len(rows) // 3
    boxes = pa.concat_batches([
        pa.RecordBatch.from_arrays(
            [pa.nulls(1, bound.type) if made[row] is None else made[row]
             for bound, made in zip(guarded.bounds, guarded.made, strict=True)],
            schema=chain.schema,
        ) if rows[row] is None else rows[row]
        for row in range(len(rows))
    ])  # fmt: skip
    assert guarded.differences(boxes) == []
    asked = np.zeros_like(guarded.fine)
    for at, row in guarded.failures():
        asked[at, row] = True
        assert step(guarded.asking(asked, slice(row, row + 1))) is None, f"{guarded.bounds[at].expr} in row {row}"
        asked[at, row] = False


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_a_recurrence_gives_what_its_rows_give(name: str) -> None:
    """The second column is what the tuple before has left in the table, under one key for all."""
    one, two = LOOPS[name]
    names = ("a", "old.b")
    both = over(one, two, names)
    for guarded in Guarded.some(both, written(names, both)):
        _check_recurrence(guarded, two)


def _check_recurrence(guarded: Guarded, two: str) -> None:
    both = guarded.batch
    table = Keyed("t", schema(f"k int, b {two}"), ("k",))
    box = Write(table, (("b", expr("b")),), tuple((made, expr(text)) for made, text in guarded.columns().items()))

    def step(asked: npt.NDArray[np.bool_]) -> pa.RecordBatch:
        tuples = guarded.asking(asked).drop_columns(["old.b"])
        after = both.column("old.b")
        last = pa.concat_arrays([after[1:], after[:1]])  # what the next row finds
        tuples = tuples.append_column("b", last).append_column("k", pa.repeat(pa.scalar(1, pa.int32()), len(last)))
        tables, numbers = box.tables(tuples.schema), np.arange(len(last))
        first = tuples.slice(len(last) - 1)  # leaves what the first row finds
        first = first.set_column(first.schema.get_field_index("b"), "b", after[:1])
        nobody = pa.RecordBatch.from_arrays(
            [pa.repeat(False, 1) if name.startswith("g") else column
             for name, column in zip(first.schema.names, first.columns, strict=True)], schema=first.schema,
        )  # fmt: skip
        box.step(tables, (Train(nobody, numbers[:1], numbers[:1]),), Moment())
        return box.step(tables, (Train(tuples, numbers, numbers),), Moment())[0].tuples

    stream = guarded.asking(guarded.fine).drop_columns(["old.b"]).schema
    seen = stream.append(both.schema.field("old.b"))
    assert recurrence((("old.b", None),), seen, tuple(value for _, value in box.returning)) is not None
    assert guarded.differences(step(guarded.fine)) == []
    asked = np.zeros_like(guarded.fine)
    for at, row in list(guarded.failures())[::5]:
        asked[at, row] = True
        with pytest.raises(RunError):
            step(asked)
        asked[at, row] = False


PAIRS = [(text, text) for text in TYPES] + [
    ("tinyint", "bigint"), ("bigint", "double"), ("float", "double"), ("uint64", "bigint"),
    ("bigint", "decimal(38, 6)"), ("interval", "double"), ("timestamp", "interval"), ("date", "timestamp"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_a_batch_gives_what_its_rows_give(one: str, two: str) -> None:
    batch = over(one, two)
    found = expressions(("a", "b"), batch)
    assert len(found) > 2
    assert [wrong for bound in found if (wrong := wrong_in(bound, batch))] == []


def constant(value: Any, text: str) -> str:
    """A value as an expression without columns."""
    return "cast(null as " + text + ")" if value is None else f"cast('{value}' as {text})"


@pytest.mark.slow
@pytest.mark.parametrize("text", ["tinyint", "double", "string", "decimal(38, 6)"])
def test_a_constant_gives_what_a_column_gives(text: str) -> None:
    batch, wrong = over(text, text), []
    values = batch.column("b").to_pylist()
    for bound in expressions(("a", "b"), batch):
        if "b" not in bound.expr.columns or "in (" in str(bound.expr):
            continue
        rows = by_rows(bound, batch)
        for value in dict.fromkeys(map(repr, values)):
            some = [row for row, each in enumerate(values) if repr(each) == value]
            other = expr(constant(values[some[0]], text)).node
            told = of(replaced(bound.expr.node, lambda part, other=other: other if part == Name("b") else None))
            for row in some:
                try:
                    got = expr(told).bind(batch.schema).evaluate(batch[row : row + 1])
                except (RunError, ExpressionError):
                    got = None
                wanted = rows[row]
                if (got is None) != (wanted is None) or (got is not None and not same(got, wanted)):
                    wrong.append(f"{told}: {got} and not {wanted}, of {batch[row : row + 1].to_pydict()}")
    assert wrong == []


NUMBERS = [NAN, 0.0, -0.0, 1.5, INF, -2.0, None]


@pytest.mark.parametrize("listed", [[NAN, 0.0], [-0.0, NAN, 1.5], [0.0, None], [INF, NAN]])
def test_long_lists_find_what_short_ones_find(listed: list[float | None]) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(NUMBERS)], names=["a"])
    short = ", ".join(constant(each, "double") for each in listed)
    long = ", ".join([short, *(f"{at}.25" for at in range(20))])
    one, two = (expr(f"a in ({each})").bind(batch.schema).evaluate(batch) for each in (short, long))
    assert one.equals(two)
    finite = [each for each in listed if each is not None]
    assert one.to_pylist() == [
        None if each is None else True if each in [x for x in finite if x == x] else None if None in listed else False
        for each in NUMBERS
    ]

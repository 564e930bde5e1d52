"""Predicates and maps in a row, as one loop."""

import numpy as np
import pyarrow as pa

from australis.arrow.schema import schema
from australis.expressions import expr
from australis.expressions.codegen.fused import Fused, Step, fused

SCHEMA = schema("a bigint, x double, s string")


def steps(*written: str | dict[str, str]) -> tuple[Step, ...]:
    return tuple(
        expr(each) if isinstance(each, str) else tuple((name, expr(text)) for name, text in each.items())
        for each in written
    )


def run(loop: Fused, kept: list[bool], counts: list[int], *arrays: object) -> int:
    """Run the code as Python, and return what it returns."""
    names: dict[str, object] = {}
    exec(loop.code.text, names)
    return names["loop"](kept, counts, *arrays)  # type: ignore[operator, no-any-return]


def test_rows_that_fall_out_are_computed_no_further() -> None:
    loop = fused(SCHEMA, steps("a > 0", {"twice": "a * 2", "s": "s", "half": "x / a"}, "twice < 10"))
    assert loop is not None
    assert loop.reads == ("a", "x")
    assert loop.columns == ((pa.int64(), False), "s", (pa.float64(), True))
    kept, counts = [False] * 4, [0, 0, 0]
    twice, half, valid = np.zeros(4, np.int64), np.zeros(4), np.zeros(4, bool)
    columns = np.array([3, -1, 50, 1]), np.array([6.0, 1.0, 1.0, -0.0])
    assert run(loop, kept, counts, *columns, twice, half, valid) == -1
    assert kept == [True, False, False, True]
    assert counts == [3, 3, 2]
    assert (twice[:2].tolist(), half[:2].tolist(), valid[:2].tolist()) == ([6, 2], [2.0, -0.0], [True, True])


def test_a_number_that_does_not_fit_is_told_by_its_row_if_the_row_got_there() -> None:
    loop = fused(SCHEMA, steps("a > 0", {"twice": "a * 2"}))
    assert loop is not None
    for values, row in (([1, 2**62], 1), ([-(2**62) - 1, 1], -1), ([], -1)):
        made = np.zeros(len(values), np.int64)
        assert run(loop, [False] * len(values), [0, 0], np.array(values, np.int64), made) == row


def test_what_cannot_be_written_is_none() -> None:
    assert fused(SCHEMA, steps("s = 'a'")) is None
    assert fused(SCHEMA, steps({"y": "sqrt(x)"})) is None
    assert fused(SCHEMA, steps("a > 0", {"s": "s"})) is not None

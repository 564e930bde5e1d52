"""Expressions written as lines of a loop."""

import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.expressions import expr
from australis.expressions.codegen.writer import CodeWriter, NotWrittenError, both, either, read
from australis.expressions.node import Literal, Name, Node

LEAST, MOST = -(2**63), 2**63 - 1


class Locals(CodeWriter):
    """Reads columns from variables of their names, which may be None."""

    def leaf(self, node: Node) -> tuple[str, str] | None:
        if isinstance(node, Name):
            return node.name, f"({node.name} is not None)"
        return (repr(node.value), str(node.value is not None)) if isinstance(node, Literal) else None


def run(text: str, **row: int | float | None) -> object:
    """The value of an expression for a row, None if it is null; "left" if the loop was left."""
    writer = Locals(schema("a bigint, b bigint"))
    value, valid = writer.write(expr(text).node)
    lines = "\n    ".join([*writer.lines, f"return {value} if {valid} else None"])
    names: dict[str, object] = {}
    exec(f"def loop(a, b, row='left'):\n    {lines}", names)
    return names["loop"](**row)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "a", "b", "value"),
    [
        ("a + b", MOST, 0, MOST),
        ("a + b", MOST, 1, "left"),
        ("a - b", LEAST, 1, "left"),
        ("a * b", LEAST, -1, "left"),
        ("a * b", 2**32, 2**31, "left"),
        ("a * b", 2**32, -(2**30), -(2**62)),
        ("a // b", -7, 2, -3),
        ("a % b", -7, 2, -1),
        ("a % b", 7, -2, 1),
        ("a // b", 1, 0, None),
        ("a // b", LEAST, -1, "left"),
        ("abs(a)", -MOST, 0, MOST),
        ("-a", LEAST, 0, "left"),
        ("a > b and b > 0", 1, 0, False),
        ("case when b = 0 then 1 else a * a end", MOST, 0, 1),
        ("case when b = 1 then 1 else a * a end", MOST, 0, "left"),
    ],
)
def test_whole_numbers_leave_the_loop_where_they_overflow(text: str, a: int, b: int, value: object) -> None:
    assert run(text, a=a, b=b) == value


def test_code_for_conditions() -> None:
    assert (both("True", "True"), both("x", "True"), both("x", "x"), both("x", "y")) == ("True", "x", "x", "x and y")
    assert both("x", "False") == "False"
    assert (either("x", "True"), either("x", "y")) == ("True", "(x or y)")
    assert (read("p", pa.int64()), read("p", pa.int8()), read("p", pa.float32())) == ("p", "(p + 0)", "(p * 1.0)")


@pytest.mark.parametrize("text", ["upper('a')", "round(a)", "a / 2.0 % b", "cast(a as string)"])
def test_what_is_not_written(text: str) -> None:
    with pytest.raises(NotWrittenError):
        Locals(schema("a bigint, b bigint")).write(expr(text).node)

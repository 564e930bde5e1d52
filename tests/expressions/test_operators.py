"""The operators: what they take, and what they give."""

import pytest

from australis.arrow.schema import data_type
from australis.expressions.operand import MisfitError, Operand
from australis.expressions.operators import OPERATORS
from australis.expressions.render import OPERATORS as WRITTEN


def operand(type_: str) -> Operand:
    def never(batch: object) -> object:
        raise AssertionError(batch)

    return Operand(data_type(type_), never, type_)


@pytest.mark.parametrize(
    ("operator", "takes", "converted", "gives"),
    [
        ("+", ("tinyint", "uint8"), ("bigint", "bigint"), "bigint"),
        ("*", ("float", "int"), ("double", "double"), "double"),
        ("-", ("timestamp", "interval"), ("timestamp", "interval"), "timestamp"),
        ("-", ("date", "date"), ("date", "date"), "interval"),
        ("/", ("int", "int"), ("double", "double"), "double"),
        ("/", ("interval", "int"), ("interval", "bigint"), "interval"),
        ("//", ("int", "null"), ("bigint", "bigint"), "bigint"),
        ("%", ("int", "float"), ("double", "double"), "double"),
        ("neg", ("smallint",), ("bigint",), "bigint"),
        ("neg", ("float",), ("double",), "double"),
        ("neg", ("interval",), ("interval",), "interval"),
        ("=", ("null", "null"), ("boolean", "boolean"), "boolean"),
        ("between", ("tinyint", "int", "bigint"), ("bigint",) * 3, "boolean"),
        ("is null", ("array<int>",), ("array<int>",), "boolean"),
        ("||", ("int", "large_string"), ("large_string", "large_string"), "large_string"),
        ("like", ("null", "string"), ("string", "string"), "boolean"),
    ],
)
def test_types(operator: str, takes: tuple[str, ...], converted: tuple[str, ...], gives: str) -> None:
    signature = OPERATORS[operator].rule(tuple(map(operand, takes)))
    assert signature.takes == tuple(map(data_type, converted))
    assert signature.gives == data_type(gives)


@pytest.mark.parametrize(
    ("operator", "takes", "message"),
    [
        ("+", ("int", "string"), "write || to join texts"),
        ("+", ("timestamp", "int"), "a time moves by an interval"),
        ("+", ("boolean", "boolean"), "numbers are needed"),
        ("<", ("boolean", "boolean"), "booleans have no order"),
        ("=", ("array<int>", "array<int>"), "cannot be compared"),
        ("and", ("boolean", "int"), "`int` is int, and a boolean is needed"),
        ("neg", ("string",), "a number or an interval is needed"),
        ("||", ("string", "interval"), "a value with a text is needed"),
        ("like", ("int", "string"), "a string is needed"),
    ],
)
def test_types_that_do_not_fit(operator: str, takes: tuple[str, ...], message: str) -> None:
    with pytest.raises(MisfitError) as told:
        OPERATORS[operator].rule(tuple(map(operand, takes)))
    assert message in str(told.value)


def test_every_operator_can_be_written() -> None:
    assert OPERATORS.keys() <= WRITTEN

"""Signatures: the types that an operator or a function takes and gives."""

import pyarrow as pa
import pytest

from australis.arrow.compute import scalar
from australis.arrow.schema import data_type
from australis.expressions import signature
from australis.expressions.operand import MisfitError, Operand, constant
from australis.expressions.signature import Builtin, Rule, Signature


def operand(type_: str) -> Operand:
    return Operand(data_type(type_), lambda batch: None, type_)


def types(*texts: str) -> tuple[pa.DataType, ...]:
    return tuple(map(data_type, texts))


@pytest.mark.parametrize(
    ("rule", "given", "takes", "gives"),
    [
        (signature.doubles, ("tinyint", "null"), ("double", "double"), "double"),
        (signature.same_number, ("float16",), ("float",), "float"),
        (signature.same_number, ("null", "int"), ("double", "bigint"), "double"),
        (signature.truths, ("boolean", "null"), ("boolean", "boolean"), "boolean"),
        (signature.alike, ("int", "float"), ("double", "double"), "double"),
        (signature.ranked, ("float16", "float16"), ("float", "float"), "float"),
        (signature.nullable, ("int", "bigint"), ("bigint", "bigint"), "bigint"),
        (signature.texts, ("int", "boolean"), ("string", "string"), "string"),
        (
            signature.text(pa.int64()),
            ("large_string", "int", "int"),
            ("large_string", "bigint", "bigint"),
            "large_string",
        ),
        (signature.text(gives=pa.int32()), ("null",), ("string",), "int"),
        (signature.moment(pa.int64()), ("date",), ("date",), "bigint"),
        (signature.moment(pa.null()), ("string", "timestamptz"), ("string", "timestamptz"), "timestamptz"),
    ],
)
def test_rules(rule: Rule, given: tuple[str, ...], takes: tuple[str, ...], gives: str) -> None:
    assert rule(tuple(map(operand, given))) == Signature(types(*takes), data_type(gives))


def test_a_decimal_is_rounded_to_fewer_digits() -> None:
    whole = signature.rounding((operand("decimal(9, 4)"),)).gives
    one = signature.rounding((operand("decimal(9, 4)"), constant(scalar(1), "1"))).gives
    assert (whole.scale, one.scale) == (0, 1)  # type: ignore[attr-defined]
    assert signature.rounding((operand("double"),)) == Signature((pa.float64(),), pa.float64())


def test_a_literal_text_is_read_as_a_timestamp_and_a_column_of_texts_is_not() -> None:
    rule = signature.moment(pa.int64())
    assert rule((constant(scalar("2026-01-01"), "'2026-01-01'"),)).takes == (pa.timestamp("us"),)
    with pytest.raises(MisfitError, match="`string` is string, and a date or a timestamp is needed"):
        rule((operand("string"),))


@pytest.mark.parametrize(
    ("rule", "given", "message"),
    [
        (signature.doubles, ("string",), "a number is needed"),
        (signature.ranked, ("boolean", "boolean"), "such values have no order"),
        (signature.ranked, ("array<int>", "array<int>"), "such values have no order"),
        (signature.text(pa.int64()), ("string", "double"), "an integer is needed"),
        (signature.same_number, ("int", "double"), "an integer is needed"),
        (signature.texts, ("array<int>",), "a value with a text is needed"),
    ],
)
def test_what_does_not_fit(rule: Rule, given: tuple[str, ...], message: str) -> None:
    with pytest.raises(MisfitError, match=message):
        rule(tuple(map(operand, given)))


def test_the_names_of_a_function() -> None:
    ceil = Builtin("ceil(x)", "", signature.doubles, lambda x: x, aliases=("ceiling",))
    assert ceil.names == ("ceil", "ceiling")

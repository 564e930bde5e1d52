"""Every built-in function, on a row with a value and on a row of nulls."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import data_type, schema
from australis.errors import ExpressionError
from australis.expressions import FUNCTIONS, expr
from australis.expressions.functions import BUILTINS, REFUSED
from australis.expressions.node import FunctionCall, walk

SCHEMA = schema(
    "i int, x double, f float, m decimal(10, 2), s string, t timestamp, z timestamp[ms, Europe/Paris], d date, "
    "c time, v interval, l large_string"
)
AT = dt.datetime(2026, 1, 2, 10, 11, 12, 500_000)
ROW = {
    "i": -7,
    "x": 2.5,
    "f": 0.5,
    "m": "1.25",
    "s": " Hé,llo ",
    "t": AT,
    "z": dt.datetime(2026, 1, 2, 23, 30, tzinfo=dt.UTC),
    "d": dt.date(2026, 1, 2),
    "c": dt.time(1, 2, 3),
    "v": dt.timedelta(seconds=90),
    "l": "large",
}
BATCH = pa.RecordBatch.from_arrays(
    [pa.array([value, None]).cast(SCHEMA.field(name).type) for name, value in ROW.items()], schema=SCHEMA
)

EXAMPLES: list[tuple[str, str, Any]] = [
    ("abs(i)", "int", 7),
    ("abs(x - 5)", "double", 2.5),
    ("sign(i)", "int", -1),
    ("round(x)", "double", 3.0),
    ("round(-x)", "double", -3.0),
    ("round(x * 1.11, 1)", "double", 2.8),
    ("round(i, -1)", "int", -10),
    ("floor(-x)", "double", -3.0),
    ("floor(i)", "int", -7),
    ("ceil(x)", "double", 3.0),
    ("ceiling(f)", "float", 1.0),
    ("trunc(-x)", "double", -2.0),
    ("sqrt(x + 1.5)", "double", 2.0),
    ("exp(x - 2.5)", "double", 1.0),
    ("ln(exp(x))", "double", 2.5),
    ("log10(x * 40)", "double", 2.0),
    ("log2(x * 3.2)", "double", 3.0),
    ("power(i, 2)", "double", 49.0),
    ("pow(2, x)", "double", 2**2.5),
    ("mod(i, 4)", "bigint", -3),
    ("pi() + i * 0", "double", math.pi),
    ("degrees(radians(x))", "double", 2.5),
    ("sin(x)", "double", math.sin(2.5)),
    ("cos(x)", "double", math.cos(2.5)),
    ("tan(x)", "double", math.tan(2.5)),
    ("asin(f)", "double", math.asin(0.5)),
    ("acos(f)", "double", math.acos(0.5)),
    ("atan(f)", "double", math.atan(0.5)),
    ("atan2(x, i)", "double", math.atan2(2.5, -7)),
    ("isnan(x)", "boolean", False),
    ("isnan(sqrt(i))", "boolean", True),
    ("nullif(i, 0)", "int", -7),
    ("nullif(i, -7)", "int", None),
    ("upper(s)", "string", " HÉ,LLO "),
    ("ucase(l)", "large_string", "LARGE"),
    ("lower(s)", "string", " hé,llo "),
    ("length(s)", "int", 8),
    ("char_length(l)", "int", 5),
    ("trim(s)", "string", "Hé,llo"),
    ("trim(s, ' Ho')", "string", "é,ll"),
    ("ltrim(s)", "string", "Hé,llo "),
    ("rtrim(s)", "string", " Hé,llo"),
    ("substr(s, 2, 3)", "string", "Hé,"),
    ("substring(s, -4)", "string", "llo "),
    ("substr(s, -4, 2)", "string", "ll"),
    ("substr(s, -4, 9)", "string", "llo "),
    ("left(s, 3)", "string", " Hé"),
    ("right(s, 2)", "string", "o "),
    ("right(s, 0)", "string", ""),
    ("replace(s, 'l', 'LL')", "string", " Hé,LLLLo "),
    ("starts_with(s, ' H')", "boolean", True),
    ("ends_with(s, 'x')", "boolean", False),
    ("contains(s, 'é')", "boolean", True),
    ("instr(s, 'l')", "int", 5),
    ("strpos(s, 'z')", "int", 0),
    ("instr(s, '')", "int", 1),
    ("position(',' in s)", "int", 4),
    ("split_part(s, ',', 2)", "string", "llo "),
    ("split_part(s, ',', 3)", "string", ""),
    ("lpad(l, 7, '*')", "large_string", "**large"),
    ("rpad(l, 3)", "large_string", "lar"),
    ("reverse(s)", "string", " oll,éH "),
    ("regexp_extract(s, '(l+)(o)')", "string", "ll"),
    ("regexp_extract(s, '(l+)(?P<vowel>o)', 2)", "string", "o"),
    ("regexp_extract(s, '(l+)(?:o)', 0)", "string", "llo"),
    ("regexp_extract(s, '[(,]l')", "string", ",l"),
    ("regexp_extract(s, 'z')", "string", None),
    (r"regexp_replace(s, '(l)l', '\1L')", "string", " Hé,lLo "),
    ("year(t)", "bigint", 2026),
    ("year(d)", "bigint", 2026),
    ("quarter(t)", "bigint", 1),
    ("month(t)", "bigint", 1),
    ("week(t)", "bigint", 1),
    ("day(t)", "bigint", 2),
    ("day(z)", "bigint", 3),
    ("dayofweek(d)", "bigint", 5),
    ("dayofyear(d)", "bigint", 2),
    ("hour(t)", "bigint", 10),
    ("hour(z)", "bigint", 0),
    ("hour(d)", "bigint", 0),
    ("hour(c)", "bigint", 1),
    ("minute(t)", "bigint", 11),
    ("second(t)", "bigint", 12),
    ("extract(second from c)", "bigint", 3),
    ("date_trunc('minute', t)", "timestamp", dt.datetime(2026, 1, 2, 10, 11)),
    ("date_trunc('Month', d)", "date", dt.date(2026, 1, 1)),
    ("date_trunc('week', t)", "timestamp", dt.datetime(2025, 12, 29)),
    ("epoch(t)", "double", AT.replace(tzinfo=dt.UTC).timestamp()),
    ("epoch(d)", "double", 1767312000.0),
    ("epoch(c)", "double", 3723.0),
    ("epoch(v)", "double", 90.0),
    ("to_timestamp(epoch(t))", "timestamp", AT),
    ("to_timestamp(i)", "timestamp", dt.datetime(1969, 12, 31, 23, 59, 53)),
    ("date(t)", "date", dt.date(2026, 1, 2)),
    ("date(z)", "date", dt.date(2026, 1, 3)),
    # Operators on times
    ("t - to_timestamp(0) > interval '1' day", "boolean", True),
    ("t - t", "interval", dt.timedelta(0)),
    ("d - d", "interval", dt.timedelta(0)),
    ("t - interval '10' minute", "timestamp", AT - dt.timedelta(minutes=10)),
    ("interval '1' day + d", "timestamp", dt.datetime(2026, 1, 3)),
    ("c + interval '1' hour", "time", dt.time(2, 2, 3)),
    ("v * 2", "interval", dt.timedelta(minutes=3)),
    ("0.5 * v", "interval", dt.timedelta(seconds=45)),
    ("v / 2", "interval", dt.timedelta(seconds=45)),
    ("v / 0", "interval", None),
    ("v / v", "double", 1.0),
    ("-v", "interval", dt.timedelta(seconds=-90)),
    ("t >= '2026-01-02 10:00'", "boolean", True),
    ("z = '2026-01-03 00:30'", "boolean", True),
    ("z = '2026-01-02T23:30:00Z'", "boolean", True),
    ("d = '2026-01-02'", "boolean", True),
    ("c > '01:02'", "boolean", True),
    ("d < t", "boolean", True),
    # Decimals
    ("m + 1", "decimal(22, 2)", Decimal("2.25")),
    ("m * x", "double", 3.125),
    ("m > 1", "boolean", True),
    ("-m < 0.5", "boolean", True),
    # Texts
    ("s like ' H_,%'", "boolean", True),
    ("s ilike ' h%'", "boolean", True),
    ("s rlike 'l{2}'", "boolean", True),
    ("s || i || x", "string", " Hé,llo -72.5"),
    ("l || s", "large_string", "large Hé,llo "),
]


@pytest.mark.parametrize(("text", "type", "value"), EXAMPLES, ids=[text for text, _, _ in EXAMPLES])
def test_a_function_has_its_type_and_value_and_is_null_on_null(text: str, type: str, value: Any) -> None:
    bound = expr(text).bind(SCHEMA)
    first, second = bound.evaluate(BATCH).to_pylist()
    assert bound.type == data_type(type)
    assert first == (pytest.approx(value) if isinstance(value, float) else value)
    assert second is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("greatest(i, x, 1)", [2.5, 1.0]),
        ("least(s, 'z')", [" Hé,llo ", "z"]),
        ("coalesce(i, 0)", [-7, 0]),
        ("ifnull(s, 'none')", [" Hé,llo ", "none"]),
        ("nvl(x, i, -1)", [2.5, -1.0]),
        ("concat(l, i, '!')", ["large-7!", "!"]),
        ("concat_ws('-', l, i)", ["large--7", ""]),
        ("pi() > 3", [True, True]),
    ],
)
def test_functions_that_pass_over_null(text: str, values: list[Any]) -> None:
    assert expr(text).bind(SCHEMA).evaluate(BATCH).to_pylist() == values


def test_every_function_has_an_example() -> None:
    shown = {name for text, _, _ in EXAMPLES for name in _called(text)}
    shown |= {"greatest", "least", "coalesce", "concat", "concat_ws", "pi"}
    assert [function.usage for function in FUNCTIONS if not shown.intersection(function.names)] == []


def _called(text: str) -> set[str]:
    return {part.function for part in walk(expr(text).node) if isinstance(part, FunctionCall)}


def test_names_are_given_once() -> None:
    assert len(BUILTINS) == sum(len(function.names) for function in FUNCTIONS)
    assert not BUILTINS.keys() & REFUSED.keys()


@given(st.text(max_size=6), st.integers(-8, 8), st.integers(0, 8))
def test_parts_of_texts_count_characters(s: str, start: int, length: int) -> None:
    batch = pa.RecordBatch.from_pydict({"s": [s]})
    begin = start - 1 if start > 0 else max(len(s) + start, 0) if start else 0
    stop = begin + length if start >= 0 else max(len(s) + start + length, 0)
    (part,) = expr(f"substr(s, {start}, {length})").bind(batch.schema).evaluate(batch).to_pylist()
    assert part == s[begin:stop]
    (place,) = expr("instr(s, 'a')").bind(batch.schema).evaluate(batch).to_pylist()
    assert place == s.find("a") + 1


@pytest.mark.parametrize("name", REFUSED)
def test_functions_that_cannot_be_replayed_are_refused(name: str) -> None:
    with pytest.raises(ExpressionError, match=r"a replay must do the same again|its base differs"):
        expr(f"{name}(i)").bind(SCHEMA)


def test_the_clock_is_refused_without_parentheses_too() -> None:
    with pytest.raises(ExpressionError, match="a replay must do the same again"):
        expr("t > current_timestamp").bind(SCHEMA)

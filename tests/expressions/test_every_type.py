"""Every function on every type: refused when it is bound, in words of ours, or computed when it runs."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.arrow import schema as types
from australis.arrow.schema import data_type
from australis.boxes.aggregate.aggregate import Aggregate
from australis.errors import ExpressionError
from australis.expressions import AGGREGATES, FUNCTIONS, aggregation, expr
from australis.expressions.operators import OPERATORS
from australis.expressions.signature import Builtin
from australis.model.order import Order
from australis.model.train import Train
from australis.testing import drive

DAY = dt.date(2026, 1, 2)
AT = dt.datetime(2026, 1, 2, 10, 11, 12)
TEXTS = ("decimal(5, 2)", "decimal(38, 6)", "decimal(38, 38)", "decimal(38, 0)", "decimal32(5, 2)", "decimal64(12, 3)",
         "decimal256(50, 4)", "timestamp[s]", "timestamp[ns]", "timestamp[ms, Europe/Paris]", "array<int>",
         "large_list<double>", "fixed_size_binary[2]", "segment<float32>")  # fmt: skip
TYPES = [*dict.fromkeys([*types._NAMED.values(), *map(data_type, TEXTS)]), pa.dictionary(pa.int32(), pa.string())]
PAIRED = [data_type(text) for text in (
    "tinyint", "bigint", "uint64", "float", "double", "boolean", "string", "large_string", "binary", "date",
    "timestamp", "timestamptz", "timestamp[ns, Europe/Paris]", "time", "interval", "duration[s]", "null",
    "decimal(5, 2)", "decimal(38, 6)", "decimal32(5, 2)", "decimal256(50, 4)", "array<int>",
)]  # fmt: skip
CONSTANTS = ("1", "-1", "'a'", "'day'")
ARROWS_WORDS = ("kernel", "Function '", "NotImplemented", "Unsupported", "pyarrow", "Array", "DataType")


def values(type_: pa.DataType) -> pa.Array[Any]:
    """Some common values of a type, and a null."""
    if pa.types.is_null(type_):
        return pa.nulls(3)
    if pa.types.is_decimal(type_):
        return pa.array([Decimal("0.5") if type_.scale else Decimal(5), Decimal(0), None], type_)
    if pa.types.is_boolean(type_):
        return pa.array([True, False, None])
    if pa.types.is_integer(type_):
        return pa.array([2, 3, None], type_)
    if pa.types.is_floating(type_):
        return pa.array([2.5, 0.0, None], pa.float64()).cast(type_)
    if pa.types.is_date(type_):
        return pa.array([DAY, DAY, None], type_)
    if pa.types.is_timestamp(type_):
        return pa.array([AT, AT, None], pa.timestamp("s")).cast(pa.timestamp(type_.unit)).cast(type_)
    if pa.types.is_time(type_):
        return pa.array([dt.time(1, 2, 3), dt.time(4), None], type_)
    if pa.types.is_duration(type_):
        return pa.array([dt.timedelta(seconds=90), dt.timedelta(hours=1), None], type_)
    if pa.types.is_nested(type_):
        if pa.types.is_struct(type_):
            row = {"start": 0, "rate": 1, "per": 1, "phase": 0, "samples": [1.0]}
            return pa.array([row, row, None], type_)
        return pa.array([[1, 2], [], None], type_)
    if pa.types.is_dictionary(type_):
        return pa.array(["ab", "", None]).dictionary_encode()
    return pa.array(["ab", "cd", None]).cast(pa.binary()).cast(type_)


def calls(builtin: Builtin, arguments: tuple[str, ...]) -> Iterator[str]:
    """A function on columns, with constants where it wants them, with as few and as many arguments as it takes."""
    most = builtin.most if builtin.most is not None else max(builtin.least, len(arguments))
    for count in {builtin.least, most}:
        free = [place for place in range(count) if place not in builtin.options]
        if len(free) < len(arguments) and len(free) not in (0, 1):
            continue
        for constants in itertools.product(CONSTANTS, repeat=count - len(free)):
            given, told = itertools.cycle(arguments), iter(constants)
            yield called(builtin, [next(told) if place in builtin.options else next(given) for place in range(count)])


def called(builtin: Builtin, args: list[str]) -> str:
    name = builtin.usage.partition("(")[0]
    if "(" in builtin.usage:
        return f"{name}({', '.join(args)})"
    match name:
        case "not":
            return f"not ({args[0]})"
        case "neg":
            return f"-({args[0]})"
        case "is null":
            return f"{args[0]} is null"
        case "between":
            return f"{args[0]} between {args[1]} and {args[2]}"
    return f" {name} ".join(args)


OTHERS = ("case when true then {0} else {1} end", "case when {0} is null then {0} else {1} end", "{0} in ({1}, {0})",
          "{0} not in ({1})", "case {0} when {1} then 1 end", "if({0}, {1}, null)")  # fmt: skip
BUILTINS = [*FUNCTIONS, *OPERATORS.values()]


def refused_or_computed(text: str, batch: pa.RecordBatch) -> str | None:
    """What is wrong with an expression over a batch, if anything is."""
    try:
        bound = expr(text).bind(batch.schema)
    except ExpressionError as error:
        words = [word for word in ARROWS_WORDS if word in str(error)]
        return f"{text}: {error}" if words else None
    except Exception as error:
        return f"{text}: {type(error).__name__} when bound: {error}"
    for part in (batch, batch[:0], batch[2:], batch[1:]):
        try:
            made = bound.evaluate(part)
            made.validate(full=True)
        except Exception as error:
            return f"{text}: {bound.type} {type(error).__name__}: {error}"
        if made.type != bound.type or len(made) != len(part):
            return f"{text}: {made.type} and not {bound.type}"
    return None


@pytest.mark.parametrize("builtin", BUILTINS, ids=[builtin.usage for builtin in BUILTINS])
def test_every_function_on_every_type(builtin: Builtin) -> None:
    wrong = []
    for type_ in TYPES:
        batch = pa.RecordBatch.from_arrays([values(type_)], names=["a"])
        wrong += [refused_or_computed(text, batch) for text in calls(builtin, ("a",))]
    if any(place not in builtin.options for place in range(1, builtin.most or 2)):
        for one, two in itertools.product(PAIRED, PAIRED):
            batch = pa.RecordBatch.from_arrays([values(one), values(two)], names=["a", "b"])
            found = [refused_or_computed(text, batch) for text in calls(builtin, ("a", "b"))]
            wrong += [f"{one}, {two}: {each}" for each in found if each]
    assert [each for each in wrong if each is not None] == []


@pytest.mark.parametrize("form", OTHERS)
def test_every_form_on_every_type(form: str) -> None:
    wrong = []
    for one, two in itertools.product(PAIRED, PAIRED):
        batch = pa.RecordBatch.from_arrays([values(one), values(two)], names=["a", "b"])
        if each := refused_or_computed(form.format("a", "b"), batch):
            wrong.append(f"{one}, {two}: {each}")
    assert wrong == []


@pytest.mark.parametrize("function", ["cast", "try_cast"])
def test_every_cast_between_types(function: str) -> None:
    wrong = []
    for one, two in itertools.product(TYPES, TYPES[:-1]):
        text = f"{function}(a as {types.type_text(two)})"
        batch = pa.RecordBatch.from_arrays([values(one)], names=["a"])
        each = refused_or_computed(text, batch)
        if each and not (function == "cast" and " RunError: " in each):  # a value that does not fit, in a type that may
            wrong.append(f"{one}: {each}")
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, own in AGGREGATES.items() if name == own] + ["count(distinct"])
def test_every_aggregate_on_every_type(name: str) -> None:
    wrong = []
    for type_, advance in itertools.product(TYPES, (1000, 500)):
        text = f"{name} a)" if "(" in name else f"{name}(a)"
        box = Aggregate((("made", aggregation(text)),), Order("at"), 1000, advance)
        tuples = pa.RecordBatch.from_arrays([pa.array([0, 1, 2]), values(type_)], names=["at", "a"])
        try:
            box.outputs(tuples.schema)
        except ExpressionError as error:
            wrong += [f"{type_}: {error}"] if any(word in str(error) for word in ARROWS_WORDS) else []
            continue
        except Exception as error:
            wrong.append(f"{type_}: {type(error).__name__} when built: {error}")
            continue
        try:
            drive(box, [Train(tuples, np.arange(3), np.arange(3))])
        except Exception as error:
            wrong.append(f"{type_}: {type(error).__name__}: {error}")
    assert wrong == []

"""Values at the ends of every type, and expressions of every function of the language over them."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.schema import data_type
from australis.errors import ExpressionError
from australis.expressions import FUNCTIONS, Bound, expr
from australis.expressions.operators import OPERATORS
from tests.expressions.test_every_type import calls

NAN, INF = float("nan"), float("inf")
FLOATS = [NAN, INF, -INF, 0.0, -0.0, 5e-324, -5e-324, 1.5, -2.0, 1.7976931348623157e308, 9007199254740993.0, 1e19, None]
SINGLES = [NAN, INF, -INF, 0.0, -0.0, 1e-45, 0.1, 3.4028234663852886e38, -2.0, None]
TEXTS = ["", " ", "a", "Ab", "é", "1", "-0", "nan", "2026-01-02", None]
INTS = "tinyint smallint int bigint uint8 uint16 uint32 uint64".split()
FORMS = (
    "case when {0} is null then {0} else {1} end",
    "case when {0} = {1} then {0} end",
    "{0} in ({1}, {0})",
    "{0} in (" + ", ".join(f"cast('{at}' as T)" for at in (*range(14), "nan", "-0.0")) + ")",
    "cast({0} as tinyint)",
    "cast({0} as bigint)",
    "cast({0} as double)",
    "cast({0} as float)",
    "cast({0} as decimal(20, 3))",
    "cast({0} as string)",
    "cast({0} as timestamp)",
    "try_cast({0} as smallint)",
    "try_cast({0} as uint64)",
    "try_cast({0} as decimal(38, 10))",
    "try_cast({0} as timestamp[ns])",
    "try_cast({0} as date)",
)
BUILTINS = [*FUNCTIONS, *OPERATORS.values()]
TYPES = [
    *INTS, "float", "double", "boolean", "string", "date", "time", "timestamp", "timestamp[ns, Europe/Paris]",
    "interval", "decimal(5, 2)", "decimal(38, 6)",
]  # fmt: skip


def extremes(text: str) -> pa.Array[Any]:
    """The least and the greatest of a type, what lies about zero, what is no number, and null."""
    type_: Any = data_type(text)
    if pa.types.is_integer(type_):
        ends = np.iinfo(type_.to_pandas_dtype())
        found = sorted({ends.min, ends.min + 1, -1, 0, 1, 2, 7, ends.max - 1, ends.max})
        return pa.array([*(each for each in found if each >= ends.min), None], type_)
    if pa.types.is_floating(type_):
        return pa.array(np.array(SINGLES[:-1], np.float32)) if text == "float" else pa.array(FLOATS)
    if pa.types.is_boolean(type_):
        return pa.array([True, False, None])
    if pa.types.is_decimal(type_):
        most = Decimal("9" * type_.precision + f"e-{type_.scale}")
        return pa.array([most, most.copy_negate(), Decimal(0), Decimal("0.5"), Decimal("-0.5"), None], type_)
    if pa.types.is_temporal(type_):
        wide = pa.int32() if type_.bit_width == 32 else pa.int64()
        ends = np.iinfo(wide.to_pandas_dtype())
        day = 86_399_999_999
        found = [0, 1, day] if pa.types.is_time(type_) else [ends.min, ends.min + 1, -1, 0, 1, ends.max - 1, ends.max]
        return pa.array([*found, *([] if pa.types.is_time(type_) else [20_000]), None], wide).view(type_)
    return pa.array(TEXTS, type_)


def over(one: str, two: str, names: tuple[str, str] = ("a", "b")) -> pa.RecordBatch:
    """Every pair of extremes of two types."""
    left, right = extremes(one), extremes(two)
    at = np.array(list(itertools.product(range(len(left)), range(len(right)))))
    return pa.RecordBatch.from_arrays([left.take(at[:, 0]), right.take(at[:, 1])], names=list(names))


def expressions(names: tuple[str, str], batch: pa.RecordBatch) -> list[Bound]:
    """Every function, operator and form on these columns that binds."""
    texts = [text for builtin in BUILTINS for text in calls(builtin, names)]
    kind = str(batch.schema.field(names[0]).type)
    texts += [form.replace(" as T)", f" as {kind})").format(*names) for form in FORMS]
    bound = []
    for text in dict.fromkeys(texts):
        try:
            bound.append(expr(text).bind(batch.schema))
        except ExpressionError:
            continue
    return bound


def same(one: pa.Array[Any], two: pa.Array[Any]) -> bool:
    """Bit for bit, but that one NaN is as good as another."""
    if one.type != two.type or not one.is_valid().equals(two.is_valid()):
        return False
    if not pa.types.is_floating(one.type):
        return bool(one.equals(two))
    left, right = (each.drop_null().to_numpy() for each in (one, two))
    bits = f"i{left.dtype.itemsize}"
    return bool(np.all((left.view(bits) == right.view(bits)) | (np.isnan(left) & np.isnan(right))))

"""The aggregate functions, each by what it makes of one window."""

import math
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from australis.arrow.schema import schema
from australis.boxes.aggregate.aggregate import Aggregate
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from australis.testing import drive, train

NAN = float("nan")


def fold(function: str, type_: str, values: list[Any], panes: bool = False, at: list[int] | None = None) -> Any:
    """What a function makes of a column; with panes, of a window whose tuples lie in several."""
    places = list(range(len(values))) if at is None else at
    box = Aggregate((("made", aggregation(function)),), Order("at", slack=9), 1000, 500 if panes else 1000)
    spread = [place * 90 for place in places] if panes else places
    stream = train(schema({"at": "int", "x": type_}), at=spread, x=values)
    results = dict(drive(box, [stream])[0])
    return results[0]


BOTH = pytest.mark.parametrize("panes", [False, True])


def there(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


@pytest.mark.parametrize(
    ("function", "type_", "values", "made"),
    [
        ("min(x)", "double", [NAN, 2.0, 1.0], 1.0),
        ("max(x)", "double", [1.0, NAN, 2.0], NAN),
        ("min(x)", "timestamp", [datetime(2003, 3, 2), None, datetime(2003, 3, 1)], datetime(2003, 3, 1)),
        ("max(x)", "date", [datetime(2003, 3, 2).date(), None], datetime(2003, 3, 2).date()),
        ("sum(x)", "interval", [timedelta(seconds=1), timedelta(seconds=2)], timedelta(seconds=3)),
        ("sum(x)", "decimal(6, 2)", [Decimal("1.50"), Decimal("-12.00"), None], Decimal("-10.50")),
        ("avg(x)", "decimal32(6, 2)", [Decimal("1.50"), Decimal("0.00"), None], 0.75),
        ("max(x)", "decimal(6, 2)", [Decimal("1.50"), Decimal("12.00"), None], Decimal("12.00")),
        ("sum(x)", "boolean", [True, None, True, False], 2),
        ("max(x)", "uint64", [2**63, 2**64 - 1, 1], 2**64 - 1),
        ("min(x)", "smallint", [-(2**15), 3], -(2**15)),
        ("sum(x)", "int", [2**31 - 1, 2**31 - 1], 2**32 - 2),
        ("sum(x)", "uint64", [2**60 + 1, 2**60 + 2], 2**61 + 3),
        ("first(x)", "string", [None, "a"], None),
        ("last(x)", "boolean", [None, True], True),
        ("count(distinct x)", "double", [0.0, -0.0, NAN, NAN, None, 1.5], 3),
        ("max(x) - min(x)", "int", [3, 9, 5], 6),
        ("coalesce(sum(x), 0)", "int", [None], 0),
    ],
)
def test_other_types(function: str, type_: str, values: list[Any], made: Any) -> None:
    got = fold(function, type_, values)
    assert got == made or (isinstance(made, float) and math.isnan(made) and math.isnan(got))

"""The parameters of a box as people read them, and as files hold them."""

import pytest

from australis.expressions import expr
from australis.model.labels import as_written, parameter
from australis.model.order import Order
from australis.model.parameters import keyed

TABLE = keyed("accounts", "vid int, balance bigint", "vid")


@pytest.mark.parametrize(
    ("name", "value", "lines"),
    [
        ("slack", 0, ["slack 0"]),
        ("text", "", []),
        ("by", (), []),
        ("by", ("vid",), ["by vid"]),
        ("names", ("vid",), ["vid"]),
        ("names", ("vid", "seg"), ["names vid, seg"]),
        ("order", Order("time", 2), [str(Order("time", 2))]),
        ("left", Order("time"), [f"left {Order('time')}"]),
        ("table", TABLE, ["table accounts"]),
        ("columns", (("a", expr("x + 1")), ("b", expr("y"))), ["a = x + 1", "b = y"]),
        ("taps", (0.5, 1, -2.0), ["taps 0.5, 1, -2.0"]),
        ("predicates", (expr("x > 1"), expr("x < 0")), ["1: x > 1", "2: x < 0"]),
        ("predicate", expr("x > 1"), ["predicate x > 1"]),
    ],
)
def test_the_lines_of_a_parameter(name: str, value: object, lines: list[str]) -> None:
    assert list(parameter(name, value)) == lines


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (0, 0),
        ((), []),
        (("vid",), "vid"),
        ((1,), [1]),
        ((expr("x > 1"),), ["x > 1"]),
        ((("a", expr("x + 1")), ("b", ("c", "d"))), {"a": "x + 1", "b": ["c", "d"]}),
        (TABLE, "accounts"),
        (Order("time", 0, ("vid", "seg")), {"on": "time", "by": ["vid", "seg"]}),
    ],
)
def test_a_parameter_in_a_file(value: object, written: object) -> None:
    assert as_written(value) == written

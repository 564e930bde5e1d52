"""Folds of decimals: exact sums, averages and variances as doubles."""

import statistics
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import data_type, schema
from australis.boxes.aggregate.aggregate import Aggregate
from australis.errors import RunError
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from tests.boxes.folds.test_folds import BOTH, fold, there

WIDE, LOW = Decimal("9" * 38), Decimal("-" + "9" * 38)
DECIMALS = st.lists(
    st.none() | st.sampled_from([WIDE, LOW, Decimal(0), Decimal(-1)]) | st.integers(-99, 99).map(Decimal),
    min_size=1,
    max_size=9,
)


@BOTH
@given(DECIMALS)
def test_decimals_are_summed_exactly(panes: bool, values: list[Decimal | None]) -> None:
    left = there(values)
    with localcontext(prec=60):
        scaled = [None if value is None else value.scaleb(-6) for value in values]
        total = sum(there(scaled), Decimal(0)) if left else None
        small = [None if value is None else value % 100 for value in scaled]
        # With panes there are windows beside the one looked at: of the first six tuples, and of those after them.
        windows = [scaled, *([scaled[:6], scaled[6:]] if panes else [])]
        fits = all(abs(sum(there(window), Decimal(0))) <= WIDE.scaleb(-6) for window in windows)
    if not fits:
        with pytest.raises(RunError, match="overflows: it has more than 32 digits before the point"):
            fold("sum(x)", "decimal(38, 6)", scaled, panes)
    else:
        assert fold("sum(x)", "decimal(38, 6)", scaled, panes) == total
    mean = None if total is None else pytest.approx(float(total) / len(left), rel=1e-14)
    assert fold("avg(x)", "decimal(38, 6)", scaled, panes) == mean
    spread = statistics.stdev(map(float, there(small))) if len(left) > 1 else None
    assert fold("stddev(x)", "decimal(38, 6)", small, panes) == (
        None if spread is None else pytest.approx(spread, rel=1e-9, abs=1e-9)
    )


@pytest.mark.parametrize(
    ("given", "function", "made"),
    [
        ("decimal(6, 2)", "sum(a)", "decimal(16, 2)"),
        ("decimal(38, 2)", "sum(a)", "decimal(38, 2)"),
        ("decimal32(6, 2)", "sum(a)", "decimal(16, 2)"),
        ("decimal(6, 2)", "avg(a)", "double"),
        ("decimal(6, 2)", "stddev(a)", "double"),
        ("decimal(6, 2)", "max(a)", "decimal(6, 2)"),
    ],
)
def test_types_of_folds_of_decimals(given: str, function: str, made: str) -> None:
    box = Aggregate((("made", aggregation(function)),), Order("at"), 1, 1)
    assert box.outputs(schema(f"at int, a {given}"))["out"].field("made").type == data_type(made)

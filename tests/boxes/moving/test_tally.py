"""Tally: what is there now, added up exactly, whatever came and went before."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.boxes.moving import Tally
from australis.errors import RunError
from australis.expressions import aggregation
from australis.testing import Cut, apply, cuts, drive, train
from tests.boxes.moving.test_sums import UPDATES
from tests.oracles.running import run

FAR = [2**62, 2**63 - 1, -(2**63), -1, 0, 1, 1_750_000_000_000_000_000]
ODD = [math.nan, math.inf, -math.inf, -0.0, 0.5, 1e3]


def box(*functions: str) -> Tally:
    return Tally((), tuple((f"f{at}", aggregation(each)) for at, each in enumerate(functions)))


def last(made: Any) -> tuple[Any, ...]:
    """What is there in the end."""
    *_, row = made[0]
    assert row[0] == 1
    return tuple(row[1:])


@st.composite
def updates(draw: st.DrawFn, values: Any) -> list[tuple[int, Any]]:
    """Values that come, and some of them that go again."""
    there: list[Any] = []
    made = []
    for _ in range(draw(st.integers(1, 12))):
        if there and draw(st.booleans()):
            made.append((-1, there.pop(draw(st.integers(0, len(there) - 1)))))
        else:
            there.append(draw(values))
            made.append((1, there[-1]))
    return made


def left(made: list[tuple[int, Any]]) -> list[Any]:
    found: list[Any] = []
    for sign, value in made:
        if sign == 1:
            found.append(value)
        else:
            at = next(place for place, each in enumerate(found) if repr(each) == repr(value))
            found.pop(at)
    return found


@given(updates(st.sampled_from(FAR) | st.integers(-9, 9)), cuts())
@example([(1, 2**62)] * 3, Cut(()))
def test_averages_of_whole_numbers_are_exact(made: list[tuple[int, int]], cut: Cut) -> None:
    given_ = train("sign int, x bigint", sign=[s for s, _ in made], x=[x for _, x in made])
    (mean, count) = last(drive(box("avg(x)", "count(x)"), cut(given_)))
    there = left(made)
    assert count == len(there)
    assert mean == pytest.approx(float(Fraction(sum(there), len(there))), rel=1e-15) if there else mean is None


@given(updates(st.sampled_from(FAR) | st.integers(-9, 9)))
@example([(1, 2**63 - 1), (1, 1), (1, -1)])
def test_a_sum_is_exact_or_an_error(made: list[tuple[int, int]]) -> None:
    there = left(made)
    given_ = train("sign int, x bigint", sign=[s for s, _ in made], x=[x for _, x in made])
    if -(2**63) <= sum(there) < 2**63:
        assert last(drive(box("sum(x)"), [given_])) == (sum(there) if there else None,)
    else:
        with pytest.raises(RunError, match=r"`sum\(x\)`: overflow; the result does not fit in 64 bits"):
            apply(box("sum(x)"), given_)


def test_unsigned_numbers_are_added_too() -> None:
    some = train("sign int, x uint64", sign=[1, 1, 1, -1], x=[2**64 - 1, 2**63, 7, 2**63])
    assert last(drive(box("avg(x)"), [some])) == (float(2**63 + 3),)
    with pytest.raises(RunError, match="does not fit in 64 bits"):
        apply(box("sum(x)"), some)


@given(updates(st.sampled_from(ODD)), cuts())
@example([(1, math.nan), (1, 2.0), (-1, math.nan)], Cut(()))
@example([(1, math.inf), (1, 2.0), (-1, math.inf)], Cut(()))
def test_no_double_outlives_its_tuple(made: list[tuple[int, float]], cut: Cut) -> None:
    given_ = train("sign int, x double", sign=[s for s, _ in made], x=[x for _, x in made])
    total, least, most = last(drive(box("sum(x)", "min(x)", "max(x)"), cut(given_)))
    there = left(made)
    ranked = sorted(there, key=lambda each: (each != each, each))
    whole = sum(there) if any(map(math.isinf, there)) else math.fsum(there)
    expected = (whole, ranked[0], ranked[-1]) if there else (None, None, None)
    for found, wanted in zip((total, least, most), expected, strict=True):
        assert found == wanted if wanted is None else found == pytest.approx(wanted, rel=1e-12, nan_ok=True)


def test_aggregates_may_have_any_names() -> None:
    functions = tuple((name, aggregation("count(*)")) for name in ("count", "told", "n 0", "values 0"))
    updates = train(UPDATES, query=[1] * 2, sign=[1, 1], type=["tug"] * 2, tons=[1.0, 2.0])
    assert [row for row, _, _ in run(Tally(("type",), functions), [updates])[0]] == [("tug", 1, 2, 2, 2, 2)]

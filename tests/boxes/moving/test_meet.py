"""Meet: the join of two answers, beside all pairs of what is there."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.moving import Meet
from australis.errors import AustralisError
from australis.expressions import expr
from australis.testing import Cut, cuts, train
from tests.oracles.answers import Sums
from tests.oracles.running import run
from tests.oracles.tuples import Tuple, stream_of

BOX = Meet(expr("left.k = right.k and a <= b"))
VALUE = st.none() | st.integers(0, 2)


@st.composite
def both(draw: st.DrawFn) -> list[tuple[str, int, Any, Any]]:
    """Rows that come and go, on either side."""
    there: list[tuple[str, Any, Any]] = []
    made = []
    for _ in range(draw(st.integers(0, 14))):
        if there and draw(st.booleans()):
            side, k, value = there.pop(draw(st.integers(0, len(there) - 1)))
            made.append((side, -1, k, value))
        else:
            there.append((draw(st.sampled_from("ab")), draw(VALUE), draw(VALUE)))
            side, k, value = there[-1]
            made.append((side, 1, k, value))
    return made


@given(both(), cuts(), st.booleans())
def test_pairs_are_those_of_what_is_there(rows: Any, cut: Cut, restart: bool) -> None:
    streams = [
        stream_of(f"sign int, k int, {name} int", [
            Tuple({"sign": sign, "k": k, name: value}, 0, number)
            for number, (side, sign, k, value) in enumerate(rows, 1) if side == name
        ])
        for name in "ab"
    ]  # fmt: skip
    sums = Sums()
    sums.add(row for row, _, _ in run(BOX, streams, cut, restart=restart)[0])
    here = {name: Counter() for name in "ab"}
    for side, sign, k, value in rows:
        here[side][k, value] += sign
    expected = Counter()
    for (k, a), many in here["a"].items():
        for (j, b), more in here["b"].items():
            if None not in (k, j, a, b) and k == j and a <= b:
                expected[k, a, j, b] += many * more
    assert sums.rows() == +expected


@pytest.mark.parametrize(("left", "right"), [("int", "bigint"), ("uint8", "int"), ("bigint", "int8")])
def test_whole_numbers_of_different_width_meet(left: str, right: str) -> None:
    values = {"bigint": [2**40, -(2**63), 1], "int": [-1, 2**31 - 1, 1], "uint8": [255, 0, 1], "int8": [-128, 127, 1]}
    one = train(schema({"sign": "int", "k": left}), sign=[1] * 3, k=values[left])
    other = train(schema({"sign": "int", "j": right}), sign=[1] * 3, j=values[right], first=4)
    assert [row for row, _, _ in run(Meet(expr("k = j")), [one, other])[0]] == [(1, 1, 1)]


def test_a_pair_entered_when_the_update_did_that_made_it() -> None:
    one = train("sign int, k int", sign=[1, 1], k=[1, 2], ts=[50, 30])
    other = train("sign int, j int", sign=[1, 1], j=[1, 2], ts=[40, 60], first=3)
    found = run(Meet(expr("k = j")), [one, other], Cut((2,)))[0]
    assert {row[1]: ts for row, ts, _ in found} == {1: 40, 2: 60}


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ("k int", "`sign` is no column of whole numbers"),
        ("sign string, k int", "`sign` is no column of whole numbers"),
        ("sign int, k array<int>", "cannot be told apart"),
    ],
)
def test_what_does_not_fit_is_refused(stream: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        Meet().outputs(schema(stream), schema("sign int, j int"))

"""Correlate: where one segment is like another."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.boxes.signals.correlate import Correlate
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.errors import AustralisError
from australis.model.train import Train
from australis.testing import Cut, apply, cuts, rows
from australis.testing.signals import signal
from tests.oracles.running import run

BASES = (timebase(8), timebase(8, "1/3"), timebase(9))
SCHEMA = "a segment<int16>, b segment<float64>"
SAMPLES = st.none() | st.lists(st.integers(-50, 50), max_size=9)
PAIRS = st.lists(st.tuples(SAMPLES, SAMPLES, st.sampled_from([0, 0, 0, 1, 2])), max_size=8)
Pair = tuple[list[int] | None, list[int] | None, int]


def train_of(pairs: list[Pair]) -> Train:
    a = [None if one is None else segment(one, BASES[0], 5, dtype="int16") for one, *_ in pairs]
    b = [None if two is None else segment(two, BASES[base], 1, dtype="float64") for _, two, base in pairs]
    return signal(SCHEMA, a=a, b=b)


def oracle(one: list[int], two: list[int], normalize: bool) -> list[float]:
    """The sum of products at each lag, one product at a time."""
    energy = math.sqrt(sum(x * x for x in one) * sum(y * y for y in two)) if normalize else 1.0
    return [
        sum(one[at + lag] * y for at, y in enumerate(two) if 0 <= at + lag < len(one)) / (energy or 1.0)
        for lag in range(1 - len(two), len(one))
    ]


@given(PAIRS, st.booleans())
def test_it_agrees_with_its_oracle(pairs: list[Pair], normalize: bool) -> None:
    (out,) = apply(Correlate("b", into="c", normalize=normalize), train_of(pairs))
    found = segments(out["c"]).values()
    for (one, two, base), (*_, peak, lag, _), whole in zip(pairs, rows(out), found, strict=True):
        if not one or not two or base == 2:
            assert (peak, lag, whole) == (None, None, None)
            continue
        wanted = oracle(one, two, normalize)
        assert whole is not None
        assert (whole.start, whole.stop, whole.timebase) == (1 - len(two), len(one), timebase(8))
        np.testing.assert_allclose(np.asarray(whole), wanted, rtol=1e-6, atol=1e-6)
        sizes = [abs(round(each, 7)) for each in wanted]
        assert lag == sizes.index(max(sizes)) + 1 - len(two)
        np.testing.assert_allclose(peak, wanted[lag + len(two) - 1], rtol=1e-9, atol=1e-8)


@given(PAIRS, cuts())
def test_cuts_change_nothing(pairs: list[Pair], cut: Cut) -> None:
    box, whole = Correlate("b"), train_of(pairs)
    assert run(box, [whole], cut) == run(box, [whole])


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=9), PAIRS)
def test_a_template_is_another_segment_that_never_changes(template: list[int], pairs: list[Pair]) -> None:
    beside = [(one, template, 0) for one, *_ in pairs]
    (directly,) = apply(Correlate("b", into="c"), train_of(beside))
    (out,) = apply(Correlate(template=tuple(map(float, template)), column="a", into="c"), train_of(beside))
    assert rows(out) == rows(directly)


def test_it_is_scipys() -> None:
    rng = np.random.default_rng(2)
    one, two = rng.normal(size=5000), rng.normal(size=700)
    given_ = signal("a segment<float64>", a=[segment(one, timebase(8))])
    (whole,) = segments(apply(Correlate(template=tuple(two), into="c"), given_)[0]["c"]).values()
    wanted = scipy.signal.correlate(one, two, "full")
    np.testing.assert_allclose(np.asarray(whole), wanted, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 400), st.integers(-300, 300))
def test_a_copy_is_found_where_it_was_moved_to_and_back(seed: int, moved: int) -> None:
    noise = np.random.default_rng(seed).normal(size=1000)
    one, two = segment(noise[400:600], timebase(8)), segment(noise[400 + moved // 2 : 600 + moved // 2], timebase(8))
    out, back = (
        rows(apply(Correlate("b", normalize=True), signal("a segment<float64>, b segment<float64>", a=[x], b=[y]))[0])
        for x, y in ((one, two), (two, one))
    )
    if abs(moved // 2) < 100:
        assert out[0][3] == moved // 2
    assert out[0][2] == pytest.approx(back[0][2])
    assert out[0][3] == -back[0][3]


@pytest.mark.parametrize(
    ("box", "stream", "message"),
    [
        (Correlate(), SCHEMA, "`other` segment, or a `template`"),
        (Correlate("b", (1.0,)), SCHEMA, "`other` segment, or a `template`"),
        (Correlate("c"), SCHEMA, "`c` is no column of segments.*a, b"),
        (Correlate(template=(float("inf"),), column="a"), SCHEMA, "finite"),
        (Correlate(template=(1.0,)), SCHEMA, "say which `column`"),
        (Correlate("b"), "a segment<complex64>, b segment<int16>", "complex"),
        (Correlate("b"), f"{SCHEMA}, lag int", "`lag` already"),
    ],
)
def test_what_does_not_fit_is_refused(box: Any, stream: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(stream))

"""Histograms of worth: keeping the part of the tuples that are worth most keeps more than that part of the worth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import RunError
from australis.model.qos import WorthHistogram

COUNTS = st.lists(st.sampled_from([0, 1, 2, 7, 1e-300, 1e12]), min_size=1, max_size=32)


def histogram(counts: list[float]) -> WorthHistogram:
    """Of tuples that are worth the middle of their bins."""
    middles = (np.arange(len(counts)) + 0.5) / len(counts)
    return WorthHistogram(tuple(counts), tuple((np.array(counts) * middles).tolist()))


@given(COUNTS, st.floats(0, 1))
def test_the_curve_is_what_is_kept_of_the_best(counts, part):
    each = histogram(counts)
    if not sum(counts):
        assert each.curve.utility(part) == 1
        return
    left, kept = part * sum(counts), 0.0
    for count, worth in list(zip(each.counts, each.worths, strict=True))[::-1]:
        taken = min(count, left)
        kept += worth * (taken / count) if count else 0.0
        left -= taken
    assert each.curve.utility(part) == pytest.approx(kept / sum(each.worths), abs=1e-6)
    assert each.curve.concave
    assert each.curve.never_falls
    assert each.curve.utility(part) >= part - 1e-9
    assert (each.curve.utility(0), each.curve.utility(1)) == (0, 1)


def test_where_nothing_is_worth_anything_nothing_is_lost():
    assert WorthHistogram((5.0, 0.0), (0.0, 0.0)).curve.utility(0.1) == 1


@pytest.mark.parametrize(
    ("counts", "worths"), [((1,), (1, 2)), ((-1,), (0,)), ((1,), (float("nan"),)), ((True,), (1,)), (("1",), (1,))]
)
def test_what_is_no_histogram_is_refused(counts, worths):
    with pytest.raises(RunError):
        WorthHistogram(counts, worths)

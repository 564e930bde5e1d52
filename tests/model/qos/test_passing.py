"""Which filters tuples pass, held against counting tuples one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import RunError
from australis.model.qos import Costs, JointPasses

NAMES = ("a", "b", "c", "d")


@given(st.lists(st.sets(st.sampled_from(NAMES)), min_size=1), st.sets(st.sampled_from((*NAMES, "other"))))
def test_parts_are_those_of_the_tuples(passed, wanted):
    counts = [0] * 16
    for filters in passed:
        counts[sum(1 << NAMES.index(name) for name in filters)] += 1
    expected = sum(wanted - {"other"} <= filters for filters in passed) / len(passed)
    assert JointPasses(NAMES, tuple(counts)).part(wanted) == pytest.approx(expected)


def test_of_no_tuples_nothing_is_known():
    assert JointPasses(("a",), (0, 0)).part({"a"}) == 1


@pytest.mark.parametrize(
    ("filters", "counts"),
    [(("a", "b"), (1, 2)), (("a",), (1, -1)), (("a",), (1, float("nan"))), (tuple("abcdefg"), (1,) * 128)],
)
def test_mistakes_are_told(filters, counts):
    with pytest.raises(RunError, match="filters a"):
        JointPasses(filters, counts)


def test_costs_keep_them():
    costs = Costs(passes=(JointPasses(("a", "b"), (1.0, 2.0, 3.0, 4.0)),))
    assert Costs.parse(costs.render()) == costs
    with pytest.raises(RunError, match=r"no costs.*counts"):
        Costs.parse('{"passes": [{"filters": ["a"]}]}')

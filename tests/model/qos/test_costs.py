"""Costs: a value that JSON holds, checked however it was made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import RunError
from australis.model.qos import BoxCost, Costs, WorthHistogram, read_costs

SECONDS = st.floats(0, 1e300)
NAMES = st.text(max_size=5)


@given(
    st.dictionaries(NAMES, st.builds(BoxCost, SECONDS, st.dictionaries(NAMES, SECONDS, max_size=2)), max_size=3),
    st.dictionaries(NAMES, SECONDS, max_size=3),
    SECONDS,
    st.dictionaries(NAMES, st.lists(SECONDS, max_size=3).map(tuple).map(lambda each: WorthHistogram(each, each))),
)
def test_what_is_written_is_read(boxes, others, batch, worth):
    costs = Costs(boxes, others, others, others, batch, worth)
    assert Costs.parse(costs.render()) == costs


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no costs"),
        ("[]", "no costs"),
        ('{"boxes": {"f": {"second": 1}}}', "second"),
        ('{"boxes": {"f": {"seconds": -1}}}', "seconds.*-1"),
        ('{"boxes": {"f": {"seconds": "1"}}}', "seconds.*'1'"),
        ('{"boxes": {"f": {"seconds": 1, "selectivity": {"out": NaN}}}}', "port out.*nan"),
        ('{"sources": {"a": Infinity}}', "sources: a.*inf"),
        ('{"batch": true}', "batch.*True"),
        ('{"bach": 1}', "bach"),
        ('{"worth": {"a": {"counts": [1]}}}', "no costs.*worths"),
        ('{"worth": {"a": {"counts": [1], "worths": []}}}', "1 counts of tuples have 0 sums"),
    ],
)
def test_mistakes_are_told(text, told):
    with pytest.raises(RunError, match=told):
        Costs.parse(text)


def test_a_file_is_named_where_it_does_not_read(tmp_path):
    with pytest.raises(RunError, match=r"missing\.json"):
        read_costs(tmp_path / "missing.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(RunError, match=r"bad\.json: these are no costs"):
        read_costs(tmp_path / "bad.json")

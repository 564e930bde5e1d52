"""A filler: panes and windows one by one give the same, also of what goes on without being aggregated."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.aggregate.aggregate import Aggregate
from australis.boxes.aggregate.filler import Filler
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from australis.testing import rows, train

STREAM = pa.schema({"t": pa.int32(), "v": pa.int32()})


def filler(*functions: str, advance: int = 4) -> Filler:
    named = tuple((f"f{place}", aggregation(text)) for place, text in enumerate(functions))
    return Aggregate(named, Order("t"), 8, advance, shed="sample")._filler(STREAM)


@given(
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from([-3, -1, 1, 2, 9])), min_size=1, max_size=40),
    st.sampled_from([4, 8, 12]),
)
def test_panes_and_windows_one_by_one_give_the_same(tuples, advance):
    shared, alone = filler("sum(v)", advance=advance), filler("sum(v)", "count(distinct v)", advance=advance)
    assert shared.panes is not None
    assert alone.panes is None
    tuples.sort()
    times, weights = np.array(tuples).T
    came = train(STREAM, t=times, v=np.arange(len(times))).weighted(weights)
    found = []
    for each in (shared, alone):
        tables, late = each.tables(STREAM, pa.int64()), np.zeros(len(came), np.bool_)
        results = [*each.fill(tables, came, late), each.flush(tables, 99)]
        assert not late.any()
        found.append([(row[0], row[1], row[-1]) for train in results for row in rows(train)])
    assert {row[0]: row for row in found[0]} == {row[0]: row for row in found[1]}
    for begin, total, seen in found[0]:
        inside = [place for place, time in enumerate(times) if begin <= time < begin + 8]
        sample = [place for place in inside if weights[place] > 0]
        assert total == (sum(sample) if sample else None)
        assert seen == len(sample) / sum(abs(int(weights[place])) for place in inside)

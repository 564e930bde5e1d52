"""Queues: whole tuples that a box holds on to, and goes by slot or by row of the train."""

import numpy as np
import pytest

from australis.arrow.schema import schema
from australis.boxes.queues import ROW, gather, gather_ts, hold, queue
from australis.model.table import Table
from australis.testing import train

LEAST, MOST = -(2**63), 2**63 - 1
FIRST = train("x bigint, s string", x=[LEAST, None, MOST], s=["a", "", None], ts=[LEAST, 0, MOST])
SECOND = train("x bigint, s string", x=[0, 1], s=["b", "c"], ts=[7, 8])


@pytest.fixture
def held() -> Table:
    """A queue that holds rows 2 and 0 of the first train in its first two slots."""
    table = queue(schema("x bigint, s string"))
    slots = table.insert(2)
    table[ROW][slots] = [3, 1]
    hold(table, FIRST, slots)
    return table


def test_what_is_held_is_of_no_train_any_more(held: Table) -> None:
    assert held[ROW][:2].tolist() == [0, 0]
    hold(held, SECOND, np.empty(0, np.int64))
    assert gather_ts(held, SECOND, np.array([0, 1])).tolist() == [MOST, LEAST]


@pytest.mark.parametrize("ids", [[], [0], [-1], [1, 0], [-2, -1], [-1, 1, -2, 0, 0], [0, -1, 1]])
def test_tuples_are_found_by_slot_or_by_the_complement_of_their_row(held: Table, ids: list[int]) -> None:
    tuples = {0: (MOST, None, MOST), 1: (LEAST, "a", LEAST), -1: (0, "b", 7), -2: (1, "c", 8)}
    wanted = np.array(ids, np.int64)
    columns = [column.to_pylist() for column in gather(held, SECOND, wanted, ["x", "s"])]
    found = list(zip(*columns, gather_ts(held, SECOND, wanted).tolist(), strict=True))
    assert found == [tuples[each] for each in ids]

"""Boxes beside libraries: both give the same, and trains hold all tuples."""

import numpy as np
import pyarrow as pa
import pytest

from australis.bench.boxes import cases, main, run, trains
from australis.errors import RunError


def test_boxes_answer_as_libraries_do() -> None:
    for case in cases(2000):
        steps = list(trains(case.inputs, 300))
        assert case.answer(run(case.box, steps)) == case.peer(), f"{case.name} beside {case.library}"


@pytest.mark.parametrize("length", [1, 3, 7, 100])
def test_trains_hold_all_tuples_and_inputs_advance_together(length: int) -> None:
    tables = (pa.table({"a": range(10)}), pa.table({"b": range(5)}), pa.table({"c": pa.array([], pa.int64())}))
    steps = list(trains(tables, length))
    for place, table in enumerate(tables):
        assert pa.Table.from_batches([step[place].tuples for step in steps]).equals(table)
    assert [len(step[0]) for step in steps] == [min(length, 10 - start) for start in range(0, 10, length)]
    for place in range(2):
        numbers = np.concatenate([step[place].number for step in steps])
        assert (np.diff(numbers) > 0).all()
        assert numbers[-1] >= 8


def test_a_box_that_there_is_not_is_told() -> None:
    with pytest.raises(RunError, match="no box is named sort: there are filter, map"):
        main(only="sort")

"""Answers are the sums of updates, and accuracies the part of the true ones, as an oracle counts them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.bench.overload_answers import Accuracies, Answers

QUERIES, OBJECTS = 3, 4
PAIRS = st.sets(st.tuples(st.integers(0, QUERIES - 1), st.integers(0, OBJECTS - 1)))


def updates(before: set[tuple[int, int]], after: set[tuple[int, int]]) -> pa.RecordBatch:
    """What leaves and enters from one moment to the next."""
    rows = [(*pair, -1) for pair in before - after] + [(*pair, 1) for pair in after - before]
    query, id_, sign = zip(*rows, strict=True) if rows else ((), (), ())
    columns = {"query": pa.array(query, pa.int64()), "sign": pa.array(sign, pa.int8()), "id": pa.array(id_, pa.int64())}
    return pa.RecordBatch.from_pydict(columns)


def answers(pairs: set[tuple[int, int]]) -> Answers:
    made = Answers(QUERIES, OBJECTS)
    made.add(updates(set(), pairs))
    return made


@given(st.lists(PAIRS, max_size=4))
def test_the_sum_of_updates_is_who_is_there(moments: list[set[tuple[int, int]]]) -> None:
    found, before = Answers(QUERIES, OBJECTS), set[tuple[int, int]]()
    for after in moments:
        found.add(pa.Table.from_batches([updates(before, after)]))
        assert set(zip(*map(np.ndarray.tolist, np.nonzero(found.members)), strict=True)) == after
        before = after


@given(st.lists(st.tuples(PAIRS, PAIRS), min_size=1, max_size=4))
def test_accuracies_are_those_of_an_oracle(moments: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]) -> None:
    asked = np.array([0.25, 0.5, 1.0])
    found, least, had, whole = Accuracies(asked), [1.0] * QUERIES, 0, 0
    for told, true in moments:
        part, ratio = found.see(answers(told), answers(true))
        accuracy = []
        for query in range(QUERIES):
            full = {pair for pair in true if pair[0] == query}
            accuracy.append(len(told & full) / len(full) if full else 1.0)
        least = [min(pair) for pair in zip(least, accuracy, strict=True)]
        had, whole = had + len(told & true), whole + len(true)
        assert part == (len(told & true) / len(true) if true else 1.0)
        assert ratio == min(accuracy[query] / asked[query] for query in range(QUERIES))
    figures = found.figures()
    assert found.least.tolist() == least
    assert figures["told"] == (had / whole if whole else 1.0)
    assert figures["kept"] == sum(least[query] >= asked[query] for query in range(QUERIES))
    assert figures["strangers"] == sum(len(told - true) for told, true in moments)


def test_figures_are_told_by_the_accuracy_asked_for() -> None:
    found = Accuracies(np.array([0.5, 0.5, 1.0]))
    found.see(answers({(0, 0), (2, 0)}), answers({(0, 0), (0, 1), (1, 0), (2, 0)}), counts=False)
    found.see(answers({(1, 0), (2, 0)}), answers({(1, 0), (2, 0)}))
    figures = found.figures()
    assert (figures["queries"], figures["kept"], figures["moments"], figures["ratio"]) == (3, 2, 2, 0.0)
    assert figures["told"] == 1.0
    assert figures["asked"] == [
        {"accuracy": 0.5, "queries": 2, "kept": 1, "least": 0.0, "mean": 1.0},
        {"accuracy": 1.0, "queries": 1, "kept": 1, "least": 1.0, "mean": 1.0},
    ]


def test_an_accuracy_is_kept_but_for_rounding() -> None:
    found = Accuracies(np.array([2 / 3 + 1e-12, 1 / 3, 1.0]))
    found.see(answers({(0, 0), (0, 1), (1, 2)}), answers({(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)}))
    assert found.figures()["kept"] == 3
    assert found.ratio == pytest.approx(1)

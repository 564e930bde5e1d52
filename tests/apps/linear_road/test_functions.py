"""The functions that look up the history."""

import pickle

import pyarrow as pa

from australis.apps.linear_road import functions
from australis.apps.linear_road.functions import JourneyLookup, define_functions
from australis.expressions import expr
from tests.oracles.linear_road import Past

WAY = Past(lav={(1, 1, 0, 5): 60.0, (1, 1, 0, 6): 30.0}, cnt={(1, 1, 0, 6): 53.0}, paid={(4, 3, 0): 70})
COLUMNS = ("xway", "sinit", "send", "dow", "tod")


def batch(*rows: tuple[int, ...]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(values) for values in zip(*rows, strict=True)], names=[*COLUMNS])


def evaluated(text: str, tuples: pa.RecordBatch) -> list[int]:
    found: list[int] = expr(text).bind(tuples.schema).evaluate(tuples).to_pylist()
    return found


def test_expressions_ask_the_history_that_was_given_last() -> None:
    asked = batch((0, 5, 6, 1, 1), (0, 6, 7, 1, 1), (0, 7, 8, 1, 1))
    text = f"({', '.join(COLUMNS)})"
    for past, seconds, tolls in ((WAY, [60, 120, -1], [0, 18, 0]), (None, [-1, -1, -1], [0, 0, 0])):
        define_functions(past)
        assert evaluated(f"lr_seconds{text}", asked) == seconds
        assert evaluated(f"lr_tolls{text}", asked) == tolls
    spent = pa.record_batch({"vid": [4, 4], "day": [3, 4], "xway": [0, 0]})
    assert evaluated("lr_spent(vid, day, xway)", spent) == [0, 0]
    define_functions(WAY)
    assert evaluated("lr_spent(vid, day, xway)", spent) == [70, 0]


def test_a_journey_is_computed_once_for_both_of_its_values(monkeypatch) -> None:
    computed: list[int] = []
    plain = functions.estimates

    def counted(*given):
        computed.append(len(given[1]))
        return plain(*given)

    monkeypatch.setattr(functions, "estimates", counted)
    define_functions(WAY)
    text = f"({', '.join(COLUMNS)})"
    for asked in (batch((0, 5, 6, 1, 1), (0, 6, 7, 1, 1)), batch((0, 6, 7, 1, 1), (0, 5, 6, 1, 1))):
        seconds, tolls = evaluated(f"lr_seconds{text}", asked), evaluated(f"lr_tolls{text}", asked)
        assert sorted(zip(seconds, tolls, strict=True)) == [(60, 0), (120, 18)]
    assert computed == [2, 2]


def test_what_was_computed_does_not_travel() -> None:
    lookup = JourneyLookup(WAY)
    lookup(*batch((0, 5, 6, 1, 1)).columns)
    assert pickle.loads(pickle.dumps(JourneyLookup(None))) == JourneyLookup(None)
    assert lookup != JourneyLookup(None)

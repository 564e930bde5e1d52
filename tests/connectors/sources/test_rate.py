"""A source that makes up tuples at a rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis import RunError, SchemaError
from australis.arrow.schema import schema
from australis.connectors.source import Source
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.uri import source
from australis.testing import rows
from tests.connectors.sources.test_replay import Clock, stamps

SCHEMA = schema("time int, vid int")
SECOND = 1_000_000


def between(given: Source, start, end, count: int = 1):
    return [row for split in given.splits(start, end, count) for part in given.read(split) for row in rows(part.tuples)]


def test_a_rate_gives_so_many_a_second_and_the_same_again():
    clock = Clock()
    wanted = schema("time timestamptz, vid int, name string, odd boolean, tiny tinyint, half double")
    rate = Rate(wanted, 10, (("vid", "n % 3"), ("half", "n / 2.0")), limit=1000, clock=clock)
    start = rate.start()
    assert start == {"began": clock.now, "n": 0}
    clock.now += SECOND
    end = rate.latest(start, 100)
    found = between(rate, start, end)
    assert len(found) == 11
    assert rate.backlog(start) == 11
    assert found[5][1:] == (2, "5", True, 5, 2.5)
    assert (found[5][0] - found[0][0]).total_seconds() == 0.5
    assert rate.latest(start, 4)["n"] == 4
    clock.now += 1000 * SECOND
    assert between(rate, start, end, 4) == found
    assert rate.finished(rate.latest(end, 10_000))
    numbers = [n for split in rate.splits(start, end, 3) for part in rate.read(split) for n in part.number.tolist()]
    assert numbers == list(range(1, 12))
    assert rows(next(iter(rate.read(rate.splits({**end, "n": 200}, {**end, "n": 201}, 1)[0]))).tuples)[0][4] == 72


def test_mistakes_in_a_rate_are_told():
    for error, told, spec, text in (
        (RunError, "rate: 0.0 tuples a second; give a rate above zero", "vid int", "rate:0"),
        (RunError, "rate:x: the rate is a number, not `x`", "vid int", "rate:x"),
        (RunError, r"rate:1\?v=n: there is no option v; there are vid, limit, began", "vid int", "rate:1?v=n"),
        (SchemaError, "rate: column vid is int32, but `'a'` is string", "vid int", "rate:1?vid='a'"),
        (RunError, "rate: column l is list<.*not made of a counter; give an expression", "l array<int>", "rate:1"),
    ):
        with pytest.raises(error, match=told):
            source(text, spec)


@given(st.integers(1, 50), st.sampled_from([0.3, 7, 1000]), st.integers(1, 4), st.lists(st.integers(1, 9), max_size=5))
def test_tuples_of_a_rate_came_when_they_were_due_however_they_are_cut(count, a_second, splits, cuts):
    clock = Clock()
    rate = Rate(SCHEMA, a_second, (("vid", "n"), ("time", "n")), limit=count, began=clock.now, clock=clock)
    clock.now += 1000 * SECOND
    assert stamps(rate, [*cuts, 100], splits) == [rate.began + int(n * (1e6 / a_second)) for n in range(count)]
    for n in range(count):
        assert rate.arrived({"began": rate.began, "n": n}) == rate.began + int(n * (1e6 / a_second))
    assert rate.arrived({"began": rate.began, "n": count}) is None

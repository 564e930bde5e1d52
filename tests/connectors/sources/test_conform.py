"""Rows that are brought to the types of a schema."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.connectors.sources.conform import conform
from australis.testing import rows

INTS = st.none() | st.integers(-9, 9) | st.integers(-(2**63), 2**63 - 1)
FLOATS = st.none() | st.integers(-9, 9).map(float) | st.floats()


@given(st.lists(INTS, min_size=1, max_size=60), st.data(), st.booleans())
def test_a_row_fits_if_it_does_by_itself(ints, data, coded):
    floats = data.draw(st.lists(FLOATS, min_size=len(ints), max_size=len(ints)))
    columns = [pa.array(ints, pa.int64()), pa.array(floats, pa.float64())]
    columns[0] = columns[0].dictionary_encode() if coded else columns[0]
    wanted = schema("a int, b bigint")
    found = conform("a.arrow", wanted, columns, 5)
    alone = [conform("a.arrow", wanted, [column[i : i + 1] for column in columns], 5 + i) for i in range(len(ints))]
    assert rows(found.tuples) == [row for one in alone for row in rows(one.tuples)]
    assert found.position.tolist() == [place for one in alone for place in one.position.tolist()]
    assert found.letters == tuple(letter for one in alone for letter in one.letters)
    good = [a is None or -(2**31) <= a < 2**31 for a in ints]
    assert all(5 + i not in found.position for i, fits in enumerate(good) if not fits)


@pytest.mark.parametrize("bad", [4096, 64, 1])
def test_bad_rows_are_found_in_few_casts(bad, monkeypatch):
    casts, cast = [], pc.cast

    def counted(column, *wanted, **options):
        casts.append(len(column))
        return cast(column, *wanted, **options)

    monkeypatch.setattr(pc, "cast", counted)  # which arrays call too
    column = pa.array([1, 2**40] * bad + [1] * (8192 - 2 * bad))
    found = conform("a.arrow", schema("a int"), [column], 0)
    assert [letter.position for letter in found.letters] == list(range(1, 2 * bad, 2))
    assert bad < len(casts) <= bad + 5
    assert sum(casts) <= bad + 5 * 8192


def test_a_cast_that_there_is_not_makes_letters_of_all_rows_and_of_none():
    wanted = pa.schema({"d": pa.date32()})
    found = conform("a.arrow", wanted, [pa.array([], pa.time32("s"))], 0)
    assert (found.tuples.num_rows, found.tuples.schema, found.letters) == (0, wanted, ())
    found = conform("a.arrow", wanted, [pa.array([5, None, 7], pa.time32("s"))], 0)
    assert found.tuples.num_rows == 0
    assert [letter.position for letter in found.letters] == [0, 1, 2]

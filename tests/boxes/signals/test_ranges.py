"""Ranges as boxes give them to `sync`."""

import numpy as np
import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.boxes.signals.ranges import check_score, joined, put_range, ranges, ranges_schema, room
from australis.errors import SchemaError
from australis.model.table import Table
from australis.testing import rows

LEAST, MOST = -(2**63), 2**63 - 1
STREAM = schema("site string, score double, note string")


def test_ranges_are_put_one_after_the_other() -> None:
    found = room(3)
    count = put_range(found, 0, 4, LEAST, MOST, True, 7)
    count = put_range(found, count, 5, 0, 0, False, LEAST)
    assert count == 2
    assert [each.tolist() for each in found.cut(count)] == [[4, 5], [LEAST, 0], [MOST, 0], [True, False], [7, LEAST]]
    assert [len(each) for each in joined([found.cut(1), room(0), found.cut(2)])] == [3] * 5
    assert joined([found.cut(2), found.cut(1)]).row.tolist() == [4, 5, 4]
    assert [len(each) for each in joined([])] == [0] * 5


def test_ranges_have_the_columns_of_their_key() -> None:
    keys = Table(pa.schema([STREAM.field("site")]), ("site",))
    slots = keys.find([pa.array(["a", None])], 2)
    ones, flags = np.ones(2, np.int64), np.array([True, False])
    made = ranges(STREAM, ("site",), keys, slots[::-1], np.array([LEAST, 0]), np.array([0, MOST]), flags, ones, ones)
    assert made.schema.names == ["site", "start", "end", "keep"]
    assert rows(made) == [(None, LEAST, 0, True), ("a", 0, MOST, False)]


def test_what_does_not_fit_is_refused() -> None:
    check_score(STREAM, "score")
    with pytest.raises(SchemaError, match="the score `note` is no number; there are score"):
        check_score(STREAM, "note")
    with pytest.raises(SchemaError, match="the score `scor` is no number; did you mean `score`"):
        check_score(STREAM, "scor")
    with pytest.raises(SchemaError, match="the key `end` has the name of a column of ranges"):
        ranges_schema(schema("end int"), ("end",))

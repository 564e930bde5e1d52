"""Sift: lines at fault are singled out, and their neighbours are read."""

from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.connectors.sources.lines import Lines, lines_of
from australis.connectors.sources.sift import BadLines, Faults, check_text, null_reason, nulls, sift


@dataclass
class Numbers:
    """Reads a whole number from each line; `knows` whether it tells which line is at fault."""

    knows: bool = False
    schema: pa.Schema = field(default_factory=lambda: schema("a int"))
    keep_empty: bool = False

    def odd(self, lines: Lines) -> Faults:
        return {row: "odd" for row in range(len(lines)) if lines.line(row) == b"odd"}

    def parse(self, lines: Lines, low: int, high: int) -> tuple[pa.RecordBatch, Faults]:
        values = [lines.line(row) for row in range(low, high)]
        bad = [row for row, value in enumerate(values) if not value.isdigit()]
        if bad:
            raise BadLines("no number", bad[0] if self.knows else None)
        return pa.record_batch([pa.array(map(int, values), pa.int32())], self.schema), {}


@given(st.lists(st.sampled_from([b"1", b"22", b"x", b"odd"])), st.booleans())
def test_a_line_is_a_tuple_if_it_reads_by_itself(values: list[bytes], knows: bool) -> None:
    data = b"\n".join(values)
    lines = lines_of(data, len(data), 50, keep_empty=False)
    found = sift(Numbers(knows), lines, "a.txt")
    places = lines.position.tolist()
    good = [(place, int(value)) for place, value in zip(places, values, strict=True) if value.isdigit()]
    bad = [(place, value) for place, value in zip(places, values, strict=True) if not value.isdigit()]
    assert list(zip(found.position.tolist(), found.tuples["a"].to_pylist(), strict=True)) == good
    assert [(letter.position, letter.raw) for letter in found.letters] == bad
    assert all(letter.reason == ("odd" if letter.raw == b"odd" else "no number") for letter in found.letters)


def test_rows_with_a_null_where_none_may_be() -> None:
    wanted = schema("a int not null, b int, c int not null")
    columns = [pa.array(values, pa.int32()) for values in ([1, None, 3], [None, 2, 3], [1, None, None])]
    tuples = pa.RecordBatch.from_arrays(columns, schema=wanted)
    missing = nulls(tuples)
    assert missing is not None
    assert missing.tolist() == [False, True, True]
    assert null_reason(tuples, 1) == "no value of a, c, which may not be null"
    assert nulls(tuples[:1]) is None


def test_the_first_line_that_is_no_text_is_told() -> None:
    data = "größer\nx\n".encode() + b"\xff\n"
    lines = lines_of(data, len(data), 0, keep_empty=False)
    check_text(lines, 0, 2)
    with pytest.raises(BadLines, match="invalid UTF-8") as told:
        check_text(lines, 1, 3)
    assert told.value.row == 1

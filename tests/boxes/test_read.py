"""Read: what a keyed table holds as of each tuple's arrival."""

import pytest
from hypothesis import given

from australis.arrow.schema import schema
from australis.boxes.read import Read
from australis.errors import SchemaError
from australis.model.box import Moment
from australis.testing import Cut, cuts
from tests.boxes.test_write import KEYS, STREAM, TABLE, WRITE, WRITES, Table, written
from tests.oracles.tuples import Out, Stream, emitted, out, stream_of, streams

READ = Read(TABLE, ("note", "total"))
READS = streams(**KEYS)


def reads(stream: Stream, reading: Stream) -> list[Out]:
    made = []
    for each in reading:
        table: Table = {}
        for before in stream:
            if before.number <= each.number:
                written(table, before.row)
        total, note, _ = table.get((each.row["g"], each.row["k"]), (None, None, None))
        made.append(out([*each.row.values(), note, total], each.ts, each.number))
    return made


@given(WRITES, READS, cuts())
def test_a_reader_sees_what_arrived_no_later_than_its_tuple(stream: Stream, reading: Stream, cut: Cut) -> None:
    both = [stream_of(STREAM, stream), stream_of("g string, k int", reading)]
    tables = WRITE.tables(both[0].schema)
    got = []
    for writing, asking in cut(*both):
        WRITE.step(tables, (writing,), Moment())
        got += READ.step(tables, (asking,), Moment())
    assert emitted(got) == reads(stream, reading)


@given(WRITES)
def test_a_reader_of_its_own_writes_sees_the_written_row(stream: Stream) -> None:
    whole = stream_of(STREAM, [each._replace(number=number) for number, each in enumerate(stream, 1)])
    tables = WRITE.tables(whole.schema)
    (after,) = WRITE.step(tables, (whole,), Moment())
    (read,) = Read(TABLE, ()).step(tables, (whole,), Moment())
    assert emitted([read]) == emitted([after])


def test_a_read_of_all_has_every_column_beside_the_key() -> None:
    assert Read(TABLE, ()).outputs(schema("g string, k int"))["out"].names == ["g", "k", "total", "note", "times"]
    with pytest.raises(SchemaError, match="both"):
        Read(TABLE, ()).outputs(schema("g string, k int, times int"))

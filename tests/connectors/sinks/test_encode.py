"""Tuples as the bytes of a file format."""

import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from australis.connectors.sinks.encode import body, check, head, pack, whole
from australis.errors import RunError

SCHEMA = pa.schema({"n": pa.int64(), "s": pa.string(), "d": pa.date32()})
TRAINS = [
    pa.RecordBatch.from_pylist(rows, SCHEMA)
    for rows in ([{"n": -(2**63), "s": ""}, {"n": 2**63 - 1, "s": 'größer, "ü"\n'}], [], [{"n": None, "s": None}])
]
TABLE = pa.Table.from_batches(TRAINS)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("trains", [TRAINS, [], TRAINS[1:2]])
def test_a_whole_file_reads_back(form: str, trains: list[pa.RecordBatch]) -> None:
    file = io.BytesIO()
    wanted = pa.Table.from_batches(trains, SCHEMA)
    assert whole(form, SCHEMA, trains, file) == wanted.num_rows
    data = pa.BufferReader(file.getvalue())
    found = pq.read_table(data) if form == "parquet" else pa.ipc.open_file(data).read_all()
    assert found.equals(wanted)


def test_an_arrow_stream_grows_train_by_train() -> None:
    data = head("arrow", SCHEMA) + b"".join(body("arrow", train) for train in TRAINS)
    assert pa.ipc.open_stream(data).read_all().equals(TABLE)
    assert pa.ipc.open_stream(head("arrow", SCHEMA)).read_all().num_rows == 0


def test_csv_has_one_head_and_null_is_not_the_empty_text() -> None:
    file = io.BytesIO()
    assert whole("csv", SCHEMA, TRAINS, file) == 3
    assert file.getvalue().decode() == (
        '"n","s","d"\n-9223372036854775808,"",\n9223372036854775807,"größer, ""ü""\n",\n,,\n'
    )
    assert (head("json", SCHEMA), body("json", TRAINS[1])) == (b"", b"")


def test_packed_pieces_are_unpacked_as_one() -> None:
    assert gzip.decompress(pack(b"a", "gzip") + pack(b"", "gzip") + pack(b"b", "gzip")) == b"ab"
    assert pack(b"a", None) == b"a"


def test_what_a_format_does_not_hold_is_told() -> None:
    nested = pa.schema({"a": pa.list_(pa.int64())})
    with pytest.raises(RunError, match=r"out: column a is list<.*>, which CSV does not hold"):
        check("out", "csv", nested)
    check("out", "json", nested)
    with pytest.raises(RunError, match="out: there is no format xml; there are csv, json, parquet, arrow"):
        check("out", "xml", SCHEMA)

"""A file of rows in chunks, Parquet or Arrow."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from australis.arrow.schema import schema
from australis.connectors.sources import chunked
from australis.connectors.sources.arrow import ArrowChunks
from australis.connectors.sources.chunked import Chunked
from australis.connectors.sources.parquet import Parquet

TABLE = pa.table({"other": ["x"] * 10, "a": list(range(10))})
SCHEMA = schema("a int")


@pytest.fixture(params=["parquet", "arrow", "arrows"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Chunked:
    """Ten rows in chunks of 4, 4 and 2."""
    path = tmp_path / f"a.{request.param}"
    if request.param == "parquet":
        pq.write_table(TABLE, path, row_group_size=4)
        return Chunked(str(path), SCHEMA, Parquet())
    with (pa.ipc.new_file if request.param == "arrow" else pa.ipc.new_stream)(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=4)
    return Chunked(str(path), SCHEMA, ArrowChunks())


def test_chunks(file: Chunked) -> None:
    assert file.chunks.lengths(file.path) == [4, 4, 2]
    found = [batch["a"].to_pylist() for batch in file.chunks.batches(file.path, SCHEMA, 1, 3)]
    assert [value for values in found for value in values] == [4, 5, 6, 7, 8, 9]


def test_any_rows_are_read_whatever_chunks_they_are_in(file: Chunked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "BATCH", 3)
    for begin in range(10):
        for stop in range(begin + 1, 11):
            found = list(file.read(begin, stop))
            assert [value for part in found for value in part.tuples["a"].to_pylist()] == list(range(begin, stop))
            assert [place for part in found for place in part.position.tolist()] == list(range(begin, stop))


def test_places_to_cut_are_the_first_rows_of_chunks(file: Chunked) -> None:
    assert [file.snap(position, 10) for position in (0, 1, 4, 5, 9, 10)] == [0, 4, 4, 8, 10, 10]
    assert file.snap(5, 7) == 7
    assert file.end(0, final=False) == 10
    assert [file.reach(3, 10, rows) for rows in (0, 2, 99)] == [4, 5, 10]


def test_a_file_of_another_size_is_lost(file: Chunked) -> None:
    assert file.lost(10, file.size) == ""
    assert file.lost(10, file.size + 1) == f"has {file.size} bytes and had {file.size + 1}"

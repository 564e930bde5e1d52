"""A file of rows in chunks, Parquet or Arrow."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from australis.arrow.schema import schema
from australis.connectors.sources import chunked, parquet
from australis.connectors.sources.arrow import ArrowChunks
from australis.connectors.sources.chunked import Chunked
from australis.connectors.sources.parquet import Parquet
from australis.expressions import expr

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
    found = [rows.batch["a"].to_pylist() for rows in file.chunks.rows(file.path, SCHEMA, 1, 3)]
    assert [value for values in found for value in values] == [4, 5, 6, 7, 8, 9]


def test_any_rows_are_read_whatever_chunks_they_are_in(file: Chunked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "BATCH", 3)
    for begin in range(10):
        for stop in range(begin + 1, 11):
            found = list(file.read(begin, stop))
            assert [value for part in found for value in part.tuples["a"].to_pylist()] == list(range(begin, stop))
            assert [place for part in found for place in part.position.tolist()] == list(range(begin, stop))


@pytest.mark.parametrize("batch", [3, 4, 5, 100])
def test_rows_that_are_not_there_keep_their_places(batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups of 2 with the values 0, 1, 2, 0, 1, ... of which only the 1s are read, cut as all would be."""
    monkeypatch.setattr(chunked, "BATCH", batch)
    monkeypatch.setattr(parquet, "BATCH", batch)
    path, values = str(tmp_path / "a.parquet"), [at // 2 % 3 for at in range(17)]
    pq.write_table(pa.table({"a": pa.array(values, pa.int32())}), path, row_group_size=2)
    whole, some = Chunked(path, SCHEMA, Parquet()), Chunked(path, SCHEMA, Parquet(expr("a = 1")))
    for begin in range(17):
        for stop in range(begin + 1, 18):
            for all_, part in zip(whole.read(begin, stop), some.read(begin, stop), strict=True):
                assert len(all_.tuples) == len(part.tuples) + part.skipped
                ones = [at for at, value in enumerate(all_.tuples["a"].to_pylist()) if value == 1]
                if part.places is None:  # all row groups from the first to the last have ones
                    assert ones == list(range(len(all_.tuples)))
                else:
                    assert part.places.tolist() == ones
                assert part.position.tolist() == [all_.position[at] for at in ones]


def test_a_letter_has_no_place_among_tuples(tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": [1, 2**40, 1, 5, 5, 5, 2**40, 7, 1]}), path, row_group_size=3)
    (found,) = Chunked(path, SCHEMA, Parquet(expr("a < 3"))).read(0, 9)
    assert found.tuples["a"].to_pylist() == [1, 1, 7, 1]
    assert found.position.tolist() == [0, 2, 7, 8]
    assert [letter.position for letter in found.letters] == [1, 6]
    assert found.skipped == 3
    assert found.places is not None
    assert found.places.tolist() == [0, 1, 5, 6]


def test_places_to_cut_are_the_first_rows_of_chunks(file: Chunked) -> None:
    assert [file.snap(position, 10) for position in (0, 1, 4, 5, 9, 10)] == [0, 4, 4, 8, 10, 10]
    assert file.snap(5, 7) == 7
    assert file.end(0, final=False) == 10
    assert [file.reach(3, 10, rows) for rows in (0, 2, 99)] == [4, 5, 10]


def test_a_file_of_another_size_is_lost(file: Chunked) -> None:
    assert file.lost(10, file.size) == ""
    assert file.lost(10, file.size + 1) == f"has {file.size} bytes and had {file.size + 1}"

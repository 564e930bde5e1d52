"""Parquet files, whose chunks are their row groups."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from australis.arrow.schema import schema
from australis.connectors.sources.parquet import Parquet
from australis.errors import RunError


def test_row_groups_and_only_the_columns_wanted(tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"b": ["x"] * 5, "a": [1, 2, 3, None, 5]}), path, row_group_size=2)
    assert Parquet().lengths(path) == [2, 2, 1]
    found = [rows.batch for rows in Parquet().rows(path, schema("a bigint"), 1, 3)]
    assert [value for batch in found for value in batch["a"].to_pylist()] == [3, None, 5]
    assert all(batch.schema.names == ["a"] for batch in found)
    with pytest.raises(RunError, match="no column c"):
        list(Parquet().rows(path, schema("c bigint"), 0, 1))


def test_a_file_without_rows(tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    assert sum(Parquet().lengths(path)) == 0

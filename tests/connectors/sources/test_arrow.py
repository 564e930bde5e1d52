"""Arrow files and streams, whose chunks are their record batches."""

from pathlib import Path

import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.connectors.sources.arrow import ArrowChunks
from australis.errors import RunError


@pytest.mark.parametrize("make", [pa.ipc.new_file, pa.ipc.new_stream])
def test_batches_of_any_length_and_only_the_columns_wanted(make: object, tmp_path: Path) -> None:
    path = str(tmp_path / "a.arrow")
    batches = [pa.record_batch({"b": [str(n)] * n, "a": [n] * n}) for n in (0, 2, 1)]
    with make(path, batches[1].schema) as writer:  # type: ignore[operator]
        for batch in batches:
            writer.write_batch(batch.cast(batches[1].schema))
    assert ArrowChunks().lengths(path) == [0, 2, 1]
    found = [rows.batch for rows in ArrowChunks().rows(path, schema("a bigint"), 1, 3)]
    assert [batch.to_pydict() for batch in found] == [{"a": [2, 2]}, {"a": [1]}]
    with pytest.raises(RunError, match="no column c"):
        list(ArrowChunks().rows(path, schema("c bigint"), 0, 1))


def test_what_is_no_arrow_file(tmp_path: Path) -> None:
    (tmp_path / "a.arrow").write_bytes(b"something else")
    with pytest.raises(pa.ArrowInvalid):
        ArrowChunks().lengths(str(tmp_path / "a.arrow"))

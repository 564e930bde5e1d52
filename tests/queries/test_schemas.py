"""Schemas of sources, read from their files."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from australis.arrow.schema import schema
from australis.errors import RunError
from australis.queries.schemas import first, schema_from

TABLE = pa.table({"time": [1, 2], "name": ["a", None]})


def written(folder: Path, name: str) -> Path:
    """A file of the table."""
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(TABLE, path)
    elif name.endswith(".arrow"):
        with pa.ipc.new_stream(path, TABLE.schema) as writer:
            writer.write_table(TABLE)
    else:
        text = '{"time":1,"name":"a"}\n{"time":2}\n' if name.endswith(".jsonl") else "time,name\n1,a\n2,\n"
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet", "a.arrow"])
def test_a_file_has_its_columns(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    for text in (str(path), f"replay:{path}?speed=2", str(tmp_path), f"{tmp_path}/*"):
        assert schema_from("s", text) == schema("time bigint, name string")


def test_a_column_without_values_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n,\n")
    assert schema_from("s", str(tmp_path)) == schema("a string, b string")


def test_columns_may_be_apart_by_something_else(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    assert schema_from("s", f"{tmp_path}/a.csv?delimiter=%3B") == schema("a bigint, b bigint")


def test_the_first_file_by_name_that_has_tuples(tmp_path: Path) -> None:
    for name in ("c.csv", "b.csv", "a.txt"):
        (tmp_path / name).write_text("a\n1\n")
    (tmp_path / "a.csv").mkdir()
    assert first(f"{tmp_path}?a=1&b") == (tmp_path / "b.csv", {"a": "1", "b": ""})
    assert first(f"{tmp_path}/none")[0] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("none.csv", "there is no such file to tell its columns; correct its name, or give them"),
        ("rate:10", "tells no columns; give them, such as --schema s='time int, mph int'"),
    ],
)
def test_what_has_no_columns(text: str, message: str) -> None:
    with pytest.raises(RunError, match=f"--source s={text}: {message}"):
        schema_from("s", text)


def test_a_file_without_names_or_that_does_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(RunError, match="tells no columns"):
        schema_from("s", f"{tmp_path}/a.csv?header=false")
    (tmp_path / "b.parquet").write_bytes(b"no parquet")
    with pytest.raises(RunError, match=r"b\.parquet does not read"):
        schema_from("s", f"{tmp_path}/b.parquet")

"""Samples of sources."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from australis.arrow.schema import schema
from australis.queries.samples import ROWS, sample

SCHEMA = schema("n int")


def values(path: object) -> list[int] | None:
    found = sample(str(path), SCHEMA)
    if found is None:
        return None
    assert found.schema == SCHEMA
    return [row["n"] for row in found.to_pylist()]


def test_the_beginning_of_every_kind_of_file(tmp_path: Path) -> None:
    table = pa.table({"other": ["a", "b"], "n": [1, None]})
    (tmp_path / "a.csv").write_text("other,n\na,1\nb,\n")
    (tmp_path / "a.jsonl").write_text('{"other":"a","n":1}\n{"other":"b","n":null}\n')
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    for name in ("a.csv", "a.jsonl", "a.parquet", "a.arrow"):
        assert values(tmp_path / name) == [1, None]


def test_a_sample_has_so_many_rows_at_most(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(ROWS + 5)))
    assert values(tmp_path / "a.csv") == list(range(ROWS))


def test_what_cannot_be_sampled_gives_none(tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("n\nfast\n")
    (tmp_path / "columns.csv").write_text("m\n1\n")
    (tmp_path / "broken.parquet").write_bytes(b"")
    (tmp_path / "large.csv").write_text(f"n\n{2**31}\n")
    for name in ("words.csv", "columns.csv", "broken.parquet", "large.csv", "none.csv", "columns.csv?header=false"):
        assert values(tmp_path / name) is None
    assert values("rate:10") is None

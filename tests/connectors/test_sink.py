"""The text forms of sinks."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis import RunError
from australis.connectors import sink

SCHEMA = pa.schema({"i": pa.int32(), "s": pa.string()})


def test_text_forms(tmp_path):
    assert sink.sink("console") == sink.Console()
    assert sink.sink("https://example.org/x") == sink.Http("https://example.org/x")
    assert sink.sink("out.JSONL") == sink.Single("out.JSONL")
    assert sink.sink("out/") == sink.Folder("out", "parquet")
    assert sink.sink("out/*.ndjson") == sink.Folder("out", "json")
    assert sink.sink(tmp_path) == sink.Folder(str(tmp_path), "parquet")
    assert sink.sink(sink.Console(5)) == sink.Console(5)
    for wrong in ("out.txt", "kafka:out", 7):
        with pytest.raises(RunError, match=r"`console`; `-`, .*`http://.*a file that grows .*a folder of files"):
            sink.sink(wrong)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("out.arrows.gz", r"out.arrows.gz: only CSV and JSON lines are written compressed; write .*out.arrows"),
        ("missing/out.csv", r"out.csv: .*No such file.*; choose a file that can be written to"),
        ("file/x/", r"file/x: .*; choose a folder that can be written to"),
    ],
)
def test_sinks_that_cannot_be_opened_are_told(name, told, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=told):
        sink.open(f"{tmp_path}/{name}", SCHEMA)


def test_what_a_format_does_not_hold_is_told_when_it_is_opened(tmp_path):
    lists = pa.schema({"l": pa.list_(pa.int32())})
    for name in ("out.csv", "out/*.csv"):
        with pytest.raises(
            RunError, match=r"column l is list<.*, which CSV does not hold; write JSON lines, Parquet or"
        ):
            sink.open(str(tmp_path / name), lists)
    with pytest.raises(RunError, match="out: there is no format excel; there are csv, json, parquet, arrow"):
        sink.open(sink.Folder("out", "excel"), SCHEMA)

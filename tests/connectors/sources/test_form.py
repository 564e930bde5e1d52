"""The form of a file, told by its name."""

import pytest

from australis.connectors.sources.form import form, grows, packed
from australis.errors import RunError


@pytest.mark.parametrize(
    ("name", "wanted", "growing", "packing"),
    [
        ("a.CSV", "csv", True, None),
        ("a.ndjson.gz", "json", True, "gzip"),
        ("a.b.json.ZST", "json", True, "zstd"),
        ("a.csv.parquet", "parquet", False, None),
        ("a.feather", "arrow", False, None),
        ("a.arrows", "arrow", True, None),
        ("a.WAV", "wav", False, None),
        ("a.pcm", "raw", False, None),
    ],
)
def test_names(name: str, wanted: str, growing: bool, packing: str | None) -> None:
    assert (form(name), grows(name), packed(name)) == (wanted, growing, packing)


@pytest.mark.parametrize("name", ["a", "a.gz", "a.txt", "csv", ".csv", "", "a.mp3"])
def test_names_that_tell_nothing(name: str) -> None:
    with pytest.raises(RunError, match="the format is told by the name"):
        form(name)

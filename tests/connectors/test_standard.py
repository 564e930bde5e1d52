"""Standard input as a source and standard output as a sink."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from australis.connectors.standard import Standard, read
from australis.errors import RunError

BATCH = pa.record_batch({"a": [1, None], "s": ["x", 'y"']})


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Puts bytes on the standard input."""
    return lambda data: monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("-", ".csv", ""),
        ("-?format=jsonl", ".jsonl", ""),
        ("-?null=NA&format=csv&header=false", ".csv", "null=NA&header=false"),
    ],
)
def test_it_is_a_file_until_the_end(given: Callable[[bytes], None], text: str, name: str, options: str) -> None:
    given(b"a\n1\n")
    with read({"r": text, "other": "b.csv"}) as sources:
        path, _, rest = sources["r"].partition("?")
        assert Path(path).suffix == name
        assert Path(path).read_bytes() == b"a\n1\n"
        assert (rest, sources["other"]) == (options, "b.csv")
    assert not Path(path).exists()


def test_sources_that_are_not_it_stay() -> None:
    with read({"r": "-a.csv"}, again="--partitions") as sources:
        assert sources == {"r": "-a.csv"}


@pytest.mark.parametrize(
    ("sources", "again", "message"),
    [
        ({"a": "-", "b": "-"}, "", "--source b=-: the standard input is that of a"),
        ({"a": "-"}, "--checkpoint", "--source a=-: with --checkpoint it would have to be read again"),
        ({"a": "-?format=xml"}, "", "there is no format xml; there are csv, json"),
    ],
)
def test_mistakes_are_told(sources: dict[str, str], again: str, message: str) -> None:
    with pytest.raises(RunError, match=message), read(sources, again):
        pass


def test_tuples_come_after_a_head(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    writer = Standard().open(BATCH.schema)
    for batch in (0, 0):
        writer.write(batch, [BATCH, BATCH[:0]])
    writer.close()
    assert capfdbinary.readouterr().out == b'"a","s"\n' + b'1,"x"\n,"y"""\n' * 2
    Standard("-?format=jsonl").open(BATCH.schema).write(0, [BATCH])
    assert capfdbinary.readouterr().out == b'{"a": 1, "s": "x"}\n{"a": null, "s": "y\\""}\n'


def test_options_that_a_sink_has_not() -> None:
    with pytest.raises(RunError, match=r"sink -\?header=false: there is no option header; there is format"):
        Standard("-?header=false").open(BATCH.schema)

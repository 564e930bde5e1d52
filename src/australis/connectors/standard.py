"""Standard input as a source and standard output as a sink, both written `-`."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.connectors.sinks.encode import body, check, head
from australis.disk.temporary import TemporaryFolder
from australis.errors import RunError, listing

_WRITTEN = re.compile(r"-(?:\?(.*))?", re.DOTALL)
_SUFFIXES = {"csv": ".csv", "json": ".jsonl", "jsonl": ".jsonl", "arrow": ".arrows", "arrows": ".arrows"}
_FORMS = {"csv": "csv", "json": "json", "jsonl": "json", "arrow": "arrow", "arrows": "arrow"}


def standard(text: str) -> bool:
    """Whether a text is the standard input or output.

    >>> standard("-"), standard("-?format=jsonl"), standard("-a.csv")
    (True, True, False)
    """
    return _WRITTEN.fullmatch(text) is not None


@contextmanager
def read(texts: Mapping[str, str], again: str = "") -> Iterator[dict[str, str]]:
    """Sources by name, the standard input among them read to its end, as a file that is there until the end.

    `again` is an option of the run that would have to read it once more, if there is one.
    """
    own = [name for name, text in texts.items() if standard(text)]
    if not own:
        yield dict(texts)
        return
    where = f"--source {own[0]}={texts[own[0]]}"
    if len(own) > 1:
        raise RunError(f"--source {own[1]}=-: the standard input is that of {own[0]}; give a file")
    if again:
        raise RunError(f"{where}: with {again} it would have to be read again elsewhere; write it to a file first")
    kind, others = _format(where, texts[own[0]])
    with TemporaryFolder() as folder:
        path = Path(folder) / f"standard_input{_SUFFIXES[kind]}"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield {**texts, own[0]: f"{path}{'?' if others else ''}{'&'.join(others)}"}


def _format(where: str, text: str) -> tuple[str, list[str]]:
    """The format that the options of a text name, CSV if they do not, and the other options."""
    found = _WRITTEN.fullmatch(text)
    options = [part for part in ((found and found[1]) or "").split("&") if part]
    formats = [part.removeprefix("format=") for part in options if part.startswith("format=")]
    kind = formats[-1] if formats else "csv"
    if kind not in _SUFFIXES:
        raise RunError(f"{where}: there is no format {kind}; there are {listing(_SUFFIXES)}")
    return kind, [part for part in options if not part.startswith("format=")]


@dataclass(frozen=True)
class Standard:
    """At least once: a batch that is run again is written again. `-` is CSV, `-?format=jsonl` and so on another."""

    text: str = "-"

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> StandardWriter:
        kind, others = _format(f"sink {self.text}", self.text)
        if others:
            raise RunError(f"sink {self.text}: there is no option {others[0].partition('=')[0]}; there is format")
        check("the standard output", _FORMS[kind], schema)
        return StandardWriter(_FORMS[kind], schema)


class StandardWriter:
    """The standard output, which begins with a head."""

    def __init__(self, form: str, schema: pa.Schema) -> None:
        self.form = form
        self._write(head(form, schema))

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        for train in tuples:
            self._write(body(self.form, train))

    def close(self) -> None:
        """It stays open."""

    def _write(self, data: bytes) -> None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

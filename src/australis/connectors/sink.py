"""Sinks: where results go, a batch at a time under the batch's id.

| sink | text form | guarantee |
| --- | --- | --- |
| `Single` | `out.csv`, `out.jsonl`, `out.csv.gz`, `out.arrows` | exactly once, in order |
| `Whole` | `out.parquet`, `out.arrow` | exactly once, in order |
| `Folder` | `out/`, `out/*.csv` | exactly once |
| `Wav` | `out.wav` | exactly once, in order |
| `Sounds` | `out/*.wav`, `out/{site}-{start}.flac` | exactly once |
| `MemorySink` | | exactly once while the process lives |
| `Transactional` | | exactly once |
| `Callback` | | at least once, with the batch's id |
| `Http` | `http://...` | at least once, with the batch's id |
| `FrameSink` | | at least once, with the batch's id |
| `Console` | `console` | at least once |
| `Standard` | `-` | at least once |
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa

from australis.connectors.sinks.callback import Callback, Target, Transactional
from australis.connectors.sinks.console import Console
from australis.connectors.sinks.folder import Folder
from australis.connectors.sinks.http import Http
from australis.connectors.sinks.memory import MemorySink
from australis.connectors.sinks.single import Single
from australis.connectors.sinks.sounds import COUNTED, Sounds
from australis.connectors.sinks.wav import Wav
from australis.connectors.sinks.whole import Whole
from australis.connectors.sources.form import FORMATS, form, grows, packed
from australis.connectors.standard import Standard, standard
from australis.disk.paths import place
from australis.errors import RunError

__all__ = ["Agreeing", "Callback", "Console", "Folder", "Http", "MemorySink", "Single", "Sink", "Sounds",
           "Target", "Transactional", "Wav", "Whole", "Writer", "open", "sink"]  # fmt: skip

FORMS = (
    "`console`",
    "`-`, the standard output (`-?format=jsonl`)",
    "`http://...` or `https://...`",
    "a file that grows (`out.csv`, `out.jsonl`, `out.csv.gz`, `out.arrows`)",
    "a file that is there at the end (`out.parquet`, `out.arrow`)",
    "a folder of files (`out/` for Parquet, or `out/*.csv` and so on)",
    "sound (`out.wav`, or a file a tuple: `out/*.wav`, `out/{column}.flac`)",
)


class Writer(Protocol):
    """A sink that is open."""

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        """Take the tuples of a batch, or pass over a batch that is there already. Ids rise."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Parted(Protocol):
    """A writer to which tasks can give their parts of a batch by themselves. It pickles."""

    def make(self, batch_id: int, part: int, tuples: list[pa.RecordBatch]) -> str:
        """Keep a part so that nobody sees it yet; what it is called, or nothing where it cannot be kept."""
        ...

    def take(self, made: list[str]) -> None:
        """Let parts of a batch be seen. The rest of it is written next."""
        ...


@runtime_checkable
class Agreeing(Protocol):
    """A writer that knows which batches it has, and can agree with a checkpoint that has other ones."""

    def agree(self, planned: int, committed: int) -> str:
        """Forget the batches after the last one that was planned, since they come again, and say so.

        Refuse if that cannot be, or if a batch is missing up to the last one that was committed.
        """
        ...


@runtime_checkable
class Sink(Protocol):
    """Where the tuples of an output go."""

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> Writer:
        """Take it up where a run left it; `run` tells runs apart. What another run wrote is refused, or replaced."""
        ...


def sink(given: object) -> Sink:
    """A sink from its text form, from a function of a batch's id and table, or a sink as it is.

    >>> sink("jams.csv"), sink("jams/*.jsonl"), sink("console")
    (Single(path='jams.csv'), Folder(path='jams', form='json'), Console(most=20))
    """
    if isinstance(given, str | Path):
        return _from_text(str(given))
    if isinstance(given, Sink):
        return given
    if hasattr(given, "last_batch") and hasattr(given, "write"):
        return Transactional(given)
    if callable(given):
        return Callback(given)
    raise RunError(f"give a path or a sink: a function, an object with `open`, or a text: {'; '.join(FORMS)}")


def open(given: object, schema: pa.Schema, run: str = "", replace: bool = False) -> Writer:
    """Open a sink, in any form that `sink` takes, for the tuples of an output."""
    return sink(given).open(schema, run, replace)


def _from_text(text: str) -> Sink:
    if text == "console":
        return Console()
    if standard(text):
        return Standard(text)
    if text.startswith(("http://", "https://")):
        return Http(text)
    path = place(text)
    if path.suffix.lower() in (".wav", ".flac"):
        if path.stem == "*" or "{" in path.stem:
            name = COUNTED if path.stem == "*" else path.stem
            return Sounds(str(path.parent), path.suffix.lower()[1:], name)
        return Wav(str(path))
    if path.stem == "*" and path.suffix.lower() in FORMATS:
        return Folder(str(path.parent), form(path))
    try:
        folder = text.endswith("/") or path.is_dir()
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}") from error
    if folder:
        return Folder(str(path))
    named = path.with_suffix("") if packed(path) else path
    if named.suffix.lower() in FORMATS and named.stem != "*":
        return Single(str(path)) if packed(path) or grows(path) else Whole(str(path))
    raise RunError(f"there is no sink `{text}`; a sink is one of: {'; '.join(FORMS)}")

"""Dead letters: input that could not be read, and tuples that boxes refused, kept whole with the reason and place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from australis.arguments import check_arguments
from australis.arrow.schema import schema
from australis.connectors.sinks.folder import Folder, FolderWriter
from australis.connectors.sinks.jsontext import json_lines
from australis.disk.paths import place
from australis.disk.private import private_folder
from australis.errors import RunError
from australis.model.train import Train

_FIRST = 1000
SCHEMA = schema("input string, reason string, file string, position bigint, raw binary, batch bigint")


@dataclass(frozen=True)
class Letter:
    """One line or row that is no tuple. The position is a byte of a text file, or a row of any other source.

    Of a tuple that a box refused it is the arrival number, and there is no file.
    """

    reason: str
    file: str
    position: int
    raw: bytes

    def __str__(self) -> str:
        raw = self.raw if len(self.raw) <= 200 else self.raw[:200] + b"..."
        place = f"{self.file}: at {self.position}: " if self.file else ""
        return f"{place}{self.reason}, in {raw.decode(errors='backslashreplace')}"


@dataclass
class Letters:
    """The dead letters of an input, or of a box that refused tuples: how many there are, and the first thousand."""

    input: str
    count: int = 0
    letters: list[Letter] = field(default_factory=list)

    def add(self, letters: Sequence[Letter]) -> None:
        self.count += len(letters)
        self.letters.extend(letters[: _FIRST - len(self.letters)])

    def add_refused(self, port: str, train: Train) -> None:
        """Add tuples that the box refused by a port."""
        self.count += len(train)
        first = train.slice(0, _FIRST - len(self.letters))
        places = zip(first.number.tolist(), _raw(first), strict=True)
        self.letters.extend(Letter(_refusal(port), "", position, raw) for position, raw in places)


def tell(several: Iterable[Letters]) -> str:
    """How many dead letters there are, and the first, or nothing.

    >>> tell([Letters("cars"), Letters("reports", 1, [Letter("2 values for 3 columns", "a.csv", 40, b"1,2")])])
    '1 dead letter; the first: reports: a.csv: at 40: 2 values for 3 columns, in 1,2'
    """
    some = [each for each in several if each.count]
    if not some:
        return ""
    count = sum(each.count for each in some)
    return f"{count:,} dead letter{'s' * (count > 1)}; the first: {some[0].input}: {some[0].letters[0]}"


def table(input: str, letters: Iterable[Letter], batch: int) -> pa.RecordBatch:
    """The letters of an input in one batch of a run.

    >>> table("reports", [Letter("2 values for 3 columns", "a.csv", 40, b"1,2")], batch=7).to_pylist()
    [{'input': 'reports', 'reason': '2 values for 3 columns', 'file': 'a.csv', 'position': 40, 'raw': b'1,2',
      'batch': 7}]
    """
    rows = [(input, letter.reason, letter.file, letter.position, letter.raw, batch) for letter in letters]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in SCHEMA]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def refused(box: str, port: str, train: Train, batch: int) -> pa.RecordBatch:
    """Tuples that a box refused, and that nothing takes from the port, as JSON.

    >>> from australis.testing import train
    >>> refused("ships", "refused", train("x double", x=[181.5]), batch=7).to_pylist()
    [{'input': 'ships', 'reason': 'refused by the box (its port `refused`)', 'file': '', 'position': 1,
      'raw': b'{"x": 181.5}', 'batch': 7}]
    """
    count = len(train)
    columns: list[pa.Array[Any]] = [
        pa.repeat(box, count), pa.repeat(_refusal(port), count), pa.repeat("", count), pa.array(train.number),
        pa.array(_raw(train), pa.binary()), pa.repeat(pa.scalar(batch, pa.int64()), count),
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _refusal(port: str) -> str:
    return f"refused by the box (its port `{port}`)"


def _raw(train: Train) -> list[bytes]:
    return json_lines(train.tuples).removesuffix(b"\n").split(b"\n") if len(train) else []


def writer(checkpoint: str | Path, run: str = "") -> FolderWriter:
    """What takes the letters of a run, each batch exactly once: a folder beside its state."""
    folder = Path(checkpoint) / "letters"
    private_folder(folder)
    return Folder(str(folder), "parquet").open(SCHEMA, run)


@check_arguments(RunError)
def dead_letters(checkpoint: str | Path) -> pa.Table:
    """All letters of a run, in the order of its batches."""
    folder = place(checkpoint) / "letters"
    try:
        paths = sorted(folder.glob("*.parquet"))
    except OSError as error:
        raise RunError(f"{folder}: {error.strerror}") from error
    return pa.concat_tables([SCHEMA.empty_table(), *(pa.parquet.read_table(path, schema=SCHEMA) for path in paths)])

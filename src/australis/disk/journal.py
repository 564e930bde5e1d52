"""A journal: entries appended to a file, each of them whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

from australis.disk.durable import renamed
from australis.disk.private import private
from australis.errors import RunError

Entry: TypeAlias = dict[str, Any]
"""What JSON can hold."""


_REMEDY = "put the file back as it was, or remove it; then what is sent again is stored again"


class Journal:
    """A file with one line an entry, and its checksum. The first entry sums up what came before.

    One process writes it. `rewrite` comes before the first `append`, and after an `append` that failed.
    """

    def __init__(self, path: Path, remedy: str = _REMEDY) -> None:
        self.path, self.remedy = path, remedy
        self.file: int | None = None
        self.size = 0
        self.torn = False
        """Whether the last line was not whole when it was read."""

    def entries(self) -> list[Entry]:
        """Read the entries. A last line that is not whole was never finished, and is left out."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as lines:
            decoded = [_entry(line) for line in lines]
        self.torn = bool(decoded) and decoded[-1] is None
        if self.torn:
            decoded.pop()
        entries = [entry for entry in decoded if entry is not None]
        if len(entries) < len(decoded):
            raise self.unreadable(decoded.index(None) + 1)
        return entries

    def unreadable(self, line: int) -> RunError:
        return RunError(f"{self.path}: line {line} does not read; {self.remedy}")

    def rewrite(self, entry: Entry) -> None:
        """Replace the journal by one entry."""
        line = _line(entry)
        with renamed(self.path) as file:
            private(file).write(line)
        self.close()
        self.file, self.size = os.open(self.path, os.O_WRONLY | os.O_APPEND), len(line)

    def append(self, entry: Entry) -> int:
        """Write an entry, and return the file descriptor to sync."""
        assert self.file is not None, "rewrite comes first"
        rest = memoryview(_line(entry))
        self.size += len(rest)
        while rest:
            rest = rest[os.write(self.file, rest) :]
        return self.file

    def close(self) -> None:
        if self.file is not None:
            os.close(self.file)
            self.file = None


def _line(entry: Entry) -> bytes:
    text = json.dumps(entry, separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _entry(line: bytes) -> Entry | None:
    """The entry of a line, or None if it is not whole."""
    checksum, _, text = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % crc32(text):
        return None
    entry: Entry = json.loads(text)
    return entry

"""A journal: entries at the end of a file, each of them there whole or not at all."""

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


_REMEDY = "put back the file as it was, or remove it: then what is sent again is stored again"


class Journal:
    """One line an entry, with its checksum. The first sums up what came before.

    It is written by one process. `rewrite` comes before the first `append`, and after one that failed.
    """

    def __init__(self, path: Path, remedy: str = _REMEDY) -> None:
        self.path, self.remedy = path, remedy
        self.file: int | None = None
        self.size = 0
        self.torn = False
        """Whether the last line, when it was read, was not whole."""

    def entries(self) -> list[Entry]:
        """What is in it. A last line that is not whole was never finished."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as lines:
            found = [_entry(line) for line in lines]
        self.torn = bool(found) and found[-1] is None
        if self.torn:
            found.pop()
        entries = [entry for entry in found if entry is not None]
        if len(entries) < len(found):
            raise self.unreadable(found.index(None) + 1)
        return entries

    def unreadable(self, line: int) -> RunError:
        return RunError(f"{self.path}: line {line} does not read; {self.remedy}")

    def rewrite(self, entry: Entry) -> None:
        """Begin anew, with one entry."""
        line = _line(entry)
        with renamed(self.path) as file:
            private(file).write(line)
        self.close()
        self.file, self.size = os.open(self.path, os.O_WRONLY | os.O_APPEND), len(line)

    def append(self, entry: Entry) -> int:
        """Write an entry, and give the handle by which to see to it that it is on the disk."""
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
    """What a line says, or None if it is not whole."""
    checksum, _, text = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % crc32(text):
        return None
    entry: Entry = json.loads(text)
    return entry

"""Push: tuples that programs post to a port of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from australis.connectors.origin import kept_in
from australis.connectors.push.bodies import MOST_ROWS
from australis.connectors.push.endpoint import Endpoint
from australis.connectors.push.spool import LIMIT, Spool, file_after, number_of, release, stored_at, waiting_bytes
from australis.connectors.source import Offset, Part, Split
from australis.connectors.sources.files import Files
from australis.errors import RunError

LARGEST = 1 << 26
LOOPBACK = "127.0.0.1"
_PLACE_BITS = 30


@dataclass(frozen=True)
class Push:
    """What was posted, in order: the files of a spool folder, to which `open` lets programs post over HTTP.

    It holds parameters only, so that any process may read. `limit` is how many bytes may wait to be read, and
    `largest` how many there are in a body. Offsets are those of files. An arrival number is the number of a file in
    the spool, and the position in it. Tuples came when their file was stored.
    """

    host: str
    port: int
    schema: pa.Schema
    spool: str = ""
    limit: int = LIMIT
    largest: int = LARGEST

    def __post_init__(self) -> None:
        if not 0 < self.largest <= MOST_ROWS or self.limit <= 0 or not 0 <= self.port < 1 << 16:
            raise RunError(
                f"push:{self.host}:{self.port}: a port is less than {1 << 16}, `largest` is 1 to {MOST_ROWS} bytes, and"
                f" `limit` at least 1; given are largest={self.largest} and limit={self.limit}"
            )

    def open(self) -> Endpoint:
        """Begin to take posts. One process at a time does so for a spool."""
        folder = Spool(self._files.path, self.limit)
        return Endpoint(self.host or LOOPBACK, self.port, self.schema, folder, min(self.largest, self.limit))

    def origin(self, checkpoint: Path) -> str:
        return f"posts{kept_in(self.spool, checkpoint)}"

    @property
    def finite(self) -> bool:
        return False

    @property
    def timed(self) -> bool:
        return True

    @property
    def urgent(self) -> bool:
        return True

    def placed(self, spool: Path) -> Push:
        return replace(self, spool=str(Path(self.spool).absolute() if self.spool else spool))

    def start(self) -> Offset:
        return self._files.start()

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        return self._files.latest(offset, limit_rows)

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        # Places are counted from this batch on: a spool has more files in its life than a source of files may.
        first = end["before"]
        start, end = ({**offset, "before": offset["before"] - first} for offset in (start, end))
        return self._files.splits(start, end, count)

    def read(self, split: Split) -> Iterator[Part]:
        for piece in split.pieces:
            number = number_of(piece.file) << _PLACE_BITS
            for part in self._files.read(Split((replace(piece, place=0),))):
                yield Part(part.tuples, part.number + number, part.letters, stored_at(piece.file))

    def position(self, offset: Offset) -> tuple[int, ...]:
        return self._files.position(offset)

    def cut(self, end: Offset, sooner: Offset) -> Offset:
        return self._files.cut(end, sooner)

    def filled(self) -> float:
        return waiting_bytes(self._files.path) / self.limit

    def arrived(self, offset: Offset) -> int | None:
        """When the first file was stored that has something after an offset."""
        last = offset["files"][-1][0] if offset["files"] else ""
        waiting = last if offset.get("rest") else file_after(self._files.path, number_of(last) if last else 0)
        return stored_at(waiting) if waiting else None

    def finished(self, offset: Offset) -> bool:
        return False

    def backlog(self, offset: Offset) -> int:
        return self._files.backlog(offset)

    def release(self, offset: Offset) -> None:
        """Remove the files before the one that an offset is in."""
        if offset["files"]:
            release(self._files.path, number_of(offset["files"][-1][0]))

    @property
    def bell(self) -> str:
        return self.spool

    @property
    def _files(self) -> Files:
        if not self.spool:
            raise RunError(
                f"push:{self.host}:{self.port}: say where to keep what is posted, such as"
                f" push:{self.host}:{self.port}?spool=incoming"
            )
        return Files(self.spool, self.schema, follow=True)

"""Files: CSV, JSON lines, Parquet, Arrow and sound, by path, glob or folder, finite or growing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, Protocol

import pyarrow as pa

from australis.arrow.schema import samples_of
from australis.connectors.source import Offset, Part, Split
from australis.connectors.sources import folder, taken
from australis.connectors.sources.arrow import ArrowChunks
from australis.connectors.sources.chunked import Chunked
from australis.connectors.sources.form import KINDS, form, may_be
from australis.connectors.sources.parquet import Parquet
from australis.connectors.sources.sampled import Sampled
from australis.connectors.sources.segmented import Cutting, Segmented
from australis.connectors.sources.sift import SiftedRows
from australis.connectors.sources.text import Text, check
from australis.errors import RunError, listing
from australis.expressions import Expr
from australis.expressions.ranges import decidable

PLACE_BITS = 40
"""An arrival number is the file's place in the order, and in so many bits the position in the file."""
_MOST_FILES = 10_000  # in one batch: the offset names them


class FileReader(Protocol):
    """One file. Positions rise along it: bytes of a text, rows of any other."""

    @property
    def whole(self) -> bool:
        """Whether it can be read only from its beginning to its end."""
        ...

    @property
    def size(self) -> int:
        """Its bytes."""
        ...

    def end(self, begin: int, final: bool) -> int:
        """The position after its last tuple; before a last line that has no line end yet, unless that is final."""
        ...

    def rows(self, begin: int, stop: int) -> int:
        """About how many tuples lie between two positions."""
        ...

    def reach(self, begin: int, stop: int, rows: int) -> int:
        """The position about so many tuples after another."""
        ...

    def snap(self, position: int, stop: int) -> int:
        """A good place to cut, at a position or after it."""
        ...

    def lost(self, stop: int, size: int) -> str:
        """Why what lay before a position of a file of so many bytes is not what it was, or nothing."""
        ...

    def read(self, begin: int, stop: int) -> Iterator[SiftedRows]: ...


@dataclass(frozen=True)
class FileSlice:
    """A stretch of a file, which is at a place in the order of the files, had a size, and so many samples before it."""

    file: str
    place: int
    begin: int
    stop: int
    size: int
    frames: int = 0


@dataclass(frozen=True)
class Files:
    """The tuples of files in the order of their names, or of the `time` when they were last changed.

    A source that follows waits for files that come later in the order, and for whole lines at the end of the last
    CSV or JSON lines file; another is finished at the end of the files there are. Columns are found by name; without
    a `header` those of a CSV file are the schema's, in its order. What does not read becomes a letter, or with
    `strict` an error. Files of samples, and CSV where the schema has segments, are signals, each of its own, or joined.

    An offset names the files of its batch, each as `[file, position after the batch, bytes, time]`, and counts those
    before them, and the `frames` of those if they are joined; `rest` tells whether more of the last one was there.
    Of those before them that are still there it has marks (`taken`), so that what has come since is told from them.
    """

    path: str
    schema: pa.Schema
    follow: bool = False
    order: folder.Order = "name"
    strict: bool = False
    header: bool = True
    delimiter: str = ","
    nulls: tuple[str, ...] = ("",)
    cutting: Cutting = Cutting()
    predicate: Expr | None = None
    """What tuples must satisfy to matter to anybody, as far as row groups of Parquet files can tell."""

    def origin(self, checkpoint: Path) -> str:
        return f"files {self.spelled}"

    @property
    def spelled(self) -> str:
        """Which they are, and in which order."""
        return (self.path.rstrip("/") or "/") + (" in the order of their times" if self.order == "time" else "")

    @property
    def finite(self) -> bool:
        return not self.follow

    @property
    def timed(self) -> bool:
        return self.follow

    def placed(self, spool: Path) -> Files:
        return replace(self, path=str(Path(self.path).absolute()) + ("/" if self.path.endswith("/") else ""))

    def usable(self, predicate: Expr) -> Expr | None:
        """The part that statistics can tell of, unless no file is of Parquet."""
        names = [name for _, name in folder.files(self.path, self.order, self._segments)] or [self.path]
        return decidable(predicate, self.schema) if any(may_be("parquet", name) for name in names) else None

    def where(self, predicate: Expr) -> Files:
        return replace(self, predicate=predicate)

    def start(self) -> Offset:
        return {"before": 0, "files": []}

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        (known, waiting), files, found = self._waiting(offset), [], 0
        left, rest = limit_rows, False
        for index, (key, begin, there) in enumerate(waiting[:_MOST_FILES]):
            if not there:
                files.append(offset["files"][-1])
                continue
            if left <= 0:
                break
            with told(key[1]):
                reader = self._reader(key[1], _place(offset) + index)
                end = reader.end(begin, final=not self.follow or index < len(waiting) - 1)
                stop = reader.reach(begin, end, left) if begin < end else begin
                rows = reader.rows(begin, stop)
                if found and reader.whole and rows > left:
                    break
                files.append([key[1], stop, reader.size, key[0]])
                if stop > begin:
                    found, left, rest = len(files), left - rows, stop < reader.end(begin, final=True)
            if stop < end:
                break
        # Files at the end that gave nothing are not passed over yet: they may still grow.
        more = {"frames": _frames(offset)} if self.cutting.joined else {}
        if not found:
            return offset
        return {"before": _place(offset), "taken": known, "files": files[:found], "rest": rest, **more}

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        if start == end:
            return []
        if _place(start) != end["before"]:
            raise RunError(f"{self.path}: the offset {end} does not follow {start}; give the one that latest() gave")
        pieces, frames = [], end.get("frames", 0)
        begin = start["files"][-1][1] if start["files"] else 0
        for place, (file, stop, size, _) in enumerate(end["files"], end["before"]):
            if stop >> PLACE_BITS or place >> 63 - PLACE_BITS:
                raise RunError(
                    f"{file}: file {place} at {stop} is beyond what arrival numbers count; a source has at most"
                    f" {1 << 63 - PLACE_BITS} files of {1 << PLACE_BITS} bytes"
                )
            if begin < stop:
                pieces.append(FileSlice(file, place, begin, stop, size, frames))
            begin, frames = 0, frames + stop * self.cutting.joined
        return [Split(tuple(part)) for part in self._cut(pieces, count)]

    def read(self, split: Split) -> Iterator[Part]:
        for piece in split.pieces:
            with told(piece.file):
                reader = self._reader(piece.file, piece.place, piece.frames)
                _check(piece, reader)
                for rows in reader.read(piece.begin, piece.stop):
                    if self.strict and rows.letters:
                        raise RunError(f"{rows.letters[0]}; correct it, or read without `strict` to leave it out")
                    number = rows.position
                    number += (piece.place << PLACE_BITS) + 1
                    yield Part(rows.tuples, number, rows.letters, None, rows.skipped, rows.places)

    def position(self, offset: Offset) -> tuple[int, ...]:
        """The place of the file that an offset is in, and the position there."""
        return _place(offset), int(offset["files"][-1][1]) if offset["files"] else 0

    def cut(self, end: Offset, sooner: Offset) -> Offset:
        files = end["files"][: _place(sooner) - end["before"]]
        return {**end, "files": [*files, sooner["files"][-1]], "rest": sooner.get("rest", False)}

    def finished(self, offset: Offset) -> bool:
        return not self.follow and self.latest(offset, 1) == offset

    def backlog(self, offset: Offset) -> int:
        """Counted in the first files, and told from the bytes of the others."""
        rows, counted, size = 0, 0, 0
        for index, (key, begin, there) in enumerate(self._waiting(offset)[1]):
            with told(key[1]):
                if there and index < 2:
                    reader = self._reader(key[1], _place(offset) + index)
                    end = reader.end(begin, not self.follow)
                    rows += reader.rows(begin, end)
                    counted += reader.size * max(end - begin, 0) // max(end, 1)
                elif there:
                    size += Path(key[1]).stat().st_size
        return rows + int(size * rows / counted) if counted else rows

    def _waiting(self, offset: Offset) -> tuple[str, list[tuple[folder.Key, int, bool]]]:
        """The file that an offset is in and those after it, with where to begin in each, and whether it is there.

        Before them, the marks of the files that were taken before that one, and are still there.
        """
        there = folder.files(self.path, self.order, self._segments)
        if not offset["files"]:
            if not there and not self.follow:
                raise RunError(
                    f"no file matches {self.path}; names end in one of {listing(KINDS)}, and to wait for files the"
                    " source must follow (follow=true)"
                )
            return "", [(key, 0, True) for key in there]
        name, stop, _, changed = offset["files"][-1]
        last = (changed, name)
        before = [key[1] for key in there if key < last and key[1] != name]
        after = [key for key in there if key > last and key[1] != name]
        known = self._known(offset, before, [key[1] for key in after])
        is_there = any(key[1] == name for key in there)
        if not is_there and offset.get("rest"):
            raise RunError(f"{name}: gone, after it was read up to {stop}, which is not its end; put it back")
        return known, [(last, stop, is_there), *((key, 0, True) for key in after)]

    def _known(self, offset: Offset, before: list[str], after: list[str]) -> str:
        """The marks of the files before the one that an offset is in: all of them were taken, and none of those after.

        Anything else is an error. A file that was taken comes after that one where its time has changed.
        """
        marks = taken.marks(before)
        known = taken.cut(offset.get("taken", ""))
        known |= {taken.mark(file, size) for file, _, size, _ in offset["files"][:-1]}
        if strangers := [marks[mark] for mark in marks.keys() - known]:
            self._refuse(offset, strangers, "come or changed that stand")
        names = {taken.name_of(mark) for mark in known} if self.order == "time" else set()
        if names and (changed := [name for name in after if taken.name_of(taken.mark(name, 0)) in names]):
            self._refuse(offset, changed, "changed that stood")
        return taken.joined(marks)

    def _refuse(self, offset: Offset, files: list[str], what: str) -> NoReturn:
        order, last = "names" if self.order == "name" else "times", offset["files"][-1][0]
        raise RunError(
            f"{self.path}: files have {what} before {last} in the order of their {order}, after it was"
            f" read: {listing(sorted(files), most=3)}; see to it that new files come last, and move these away to go on"
            " without them, or start again from a new checkpoint"
        )

    def _reader(self, path: str, place: int, frames: int = 0) -> FileReader:
        match form(path):
            case "parquet":
                check(path)
                return Chunked(path, self.schema, Parquet(self.predicate))
            case "arrow":
                check(path)
                return Chunked(path, self.schema, ArrowChunks())
            case "wav" | "flac" | "raw":
                return Segmented(path, self.schema, self.cutting, place, frames)
            case form_:
                text = Text(path, self.schema, form_, self.header, self.delimiter, self.nulls)
                return Sampled.of(text, self.cutting, place) if form_ == "csv" and self._segments else text

    @property
    def _segments(self) -> bool:
        return any(samples_of(field.type) is not None for field in self.schema)

    def _cut(self, pieces: list[FileSlice], count: int) -> list[list[FileSlice]]:
        """Pieces of about equal weight, by bytes."""
        readers = [self._reader(piece.file, piece.place) for piece in pieces]
        weights: list[float] = []
        for piece, reader in zip(pieces, readers, strict=True):
            with told(piece.file):
                _check(piece, reader)
                share = (piece.stop - piece.begin) / max(reader.end(0, True), 1)
                weights.append(max(1.0, share * piece.size))
        each = sum(weights) / max(count, 1)
        parts: list[list[FileSlice]] = [[]]
        room = each
        for piece, reader, weight in zip(pieces, readers, weights, strict=True):
            begin, density = piece.begin, weight / (piece.stop - piece.begin)
            while len(parts) < count and (piece.stop - begin) * density > room:
                cut = reader.snap(begin + max(1, int(room / density)), piece.stop)
                if cut > begin:
                    parts[-1].append(replace(piece, begin=begin, stop=cut))
                begin, room = cut, each
                parts.append([])
            if begin < piece.stop:
                parts[-1].append(replace(piece, begin=begin))
                room -= (piece.stop - begin) * density
        return [part for part in parts if part]


def _place(offset: Offset) -> int:
    """The place of the file that an offset is in."""
    return int(offset["before"]) + max(len(offset["files"]) - 1, 0)


def _frames(offset: Offset) -> int:
    """The samples of the files before the one that an offset is in, each of which was read to its end."""
    return int(offset.get("frames", 0)) + sum(int(stop) for _, stop, *_ in offset["files"][:-1])


def _check(piece: FileSlice, reader: FileReader) -> None:
    """Refuse a file that is no longer what it was."""
    if why := reader.lost(piece.stop, piece.size):
        raise RunError(f"{piece.file}: {why}; put the file back as it was, or start with an empty checkpoint folder")


@contextmanager
def told(path: str) -> Iterator[None]:
    """Errors name the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise RunError(f"{path}: gone since it was found; put it back") from error
    except (pa.ArrowException, OSError, EOFError) as error:
        raise RunError(f"{path}: {error}") from error

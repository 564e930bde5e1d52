"""Answers: the lines of an output file, type by type (3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from australis.apps.linear_road.record import ALERT, BALANCE, EXPENDITURE, TOLL, TRAVEL
from australis.apps.linear_road.validation.accounts import key
from australis.apps.linear_road.validation.arrays import Floats, Ints, Numbers
from australis.errors import RunError
from australis.kernels.jit import kernel

TYPES = (TOLL, ALERT, BALANCE, EXPENDITURE, TRAVEL)
LINES = {
    TOLL: ("vid", "time", "emit", "first", "second"),
    ALERT: ("time", "emit", "vid", "first"),
    BALANCE: ("time", "emit", "first", "qid", "second"),
    EXPENDITURE: ("time", "emit", "qid", "first"),
    TRAVEL: ("time", "emit", "qid", "first", "second"),
}
"""The fields of a line of each type, after the type itself."""
SHOWN = 10
"""How many lines of a kind are shown."""

_MOST = max(len(names) for names in LINES.values())
_FIELDS = np.array([len(LINES[kind]) for kind in TYPES])
_DECIMAL = np.array(
    [
        [k < len(LINES[kind]) and (LINES[kind][k] == "emit" or (kind == TRAVEL and k >= 3)) for k in range(_MOST)]
        for kind in TYPES
    ]
)
_BROKEN, _EMPTY = -1, -2
_PIECE = 1 << 25
_DIGITS = 18
_LARGEST = (1 << 31) - 1

Text = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class TypedAnswers:
    """Answers of one type in order of their keys, those of one key in the order of their lines."""

    type: int
    key: Ints
    time: Ints
    emit: Floats
    first: Numbers
    second: Numbers
    line: Ints
    """Numbered from 0 through all files."""


@dataclass(frozen=True)
class AnswerFile:
    """The answers that a run wrote."""

    answers: dict[int, TypedAnswers]
    broken: int
    shown: tuple[str, ...]
    """The first broken lines, each with its place."""
    files: tuple[Path, ...]
    lines: tuple[int, ...]
    """How many lines each of the files has."""

    def since(self, second: int) -> AnswerFile:
        """The answers, without those to requests before a second."""
        if not second:
            return self
        return replace(self, answers={kind: _since(some, second) for kind, some in self.answers.items()})

    def after(self, moment: float) -> AnswerFile:
        """The answers, with Emit counted from a moment."""
        if not moment:
            return self
        shifted = {kind: replace(some, emit=some.emit - moment) for kind, some in self.answers.items()}
        return replace(self, answers=shifted)

    def place(self, line: int) -> str:
        """The line, and its file if there are several."""
        ends = np.cumsum(self.lines)
        file = int(np.searchsorted(ends, line, side="right"))
        return _place(self.files, file, line - int(ends[file]) + self.lines[file])


def _since(typed: TypedAnswers, second: int) -> TypedAnswers:
    rows = np.flatnonzero(typed.time >= second)
    return TypedAnswers(
        typed.type,
        typed.key[rows],
        typed.time[rows],
        typed.emit[rows],
        typed.first[rows],
        typed.second[rows],
        typed.line[rows],
    )


def answers(output: Path | Sequence[Path], on_progress: Callable[[float], None] | None = None) -> AnswerFile:
    """Read files of answers. Broken lines are counted, and the first of them kept."""
    files = (Path(output),) if isinstance(output, str | Path) else tuple(map(Path, output))
    parts: dict[int, list[tuple[Numbers, ...]]] = {kind: [] for kind in TYPES}
    broken_lines: list[str] = []
    lines: list[int] = []
    broken, bytes_read, size = 0, 0, sum(map(_size, files))
    for index, file in enumerate(files):
        lines.append(0)
        for text in _pieces(file):
            kinds, fields, starts = _parse_piece(text)
            for kind in TYPES:
                rows = np.flatnonzero(kinds == kind)
                parts[kind].append(_columns(kind, fields[rows], rows + sum(lines)))
            bad = np.flatnonzero(kinds == _BROKEN)
            broken += len(bad)
            for row in bad[: SHOWN - len(broken_lines)]:
                line = text[starts[row] : starts[row + 1]].tobytes().decode(errors="replace").rstrip("\r\n")
                broken_lines.append(f"{_place(files, index, lines[-1] + int(row))}: `{line[:200]}`")
            lines[-1] += len(kinds)
            bytes_read += len(text)
            if on_progress:
                on_progress(bytes_read / size)
    read = {kind: _sort(kind, parts.pop(kind)) for kind in TYPES}
    return AnswerFile(read, broken, tuple(broken_lines), files, tuple(lines))


def answer_line(kind: int, vid: object, time: object, emit: object, qid: object, first: object, second: object) -> str:
    """The line of an answer of a type."""
    values = {"vid": vid, "time": time, "emit": emit, "qid": qid, "first": first, "second": second}
    return ",".join([str(kind), *(str(values[name]) for name in LINES[kind])])


def _place(files: Sequence[Path], file: int, line: int) -> str:
    """The place of a line that is numbered from 0; people count from 1."""
    return f"line {line + 1}" if len(files) == 1 else f"{files[file].name}, line {line + 1}"


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError as error:
        raise RunError(f"{file}: {error.strerror}; give the file that the run wrote its answers to") from None


def _pieces(file: Path) -> Iterator[Text]:
    """The lines of a file, some at a time."""
    with file.open("rb") as opened:
        while text := opened.read(_PIECE):
            yield np.frombuffer(text + opened.readline(), np.uint8)


def _parse_piece(text: Text) -> tuple[Ints, Floats, Ints]:
    """For each line its type, its fields after that, and where it starts."""
    most = int(np.count_nonzero(text == ord("\n"))) + 1
    kinds, fields, starts = np.empty(most, np.int8), np.zeros((most, _MOST)), np.empty(most + 1, np.int64)
    count = _parse(text, _FIELDS, _DECIMAL, kinds, fields, starts)
    return kinds[:count], fields[:count], starts[: count + 1]


def _columns(kind: int, fields: Floats, line: Ints) -> tuple[Numbers, ...]:
    """The columns of `TypedAnswers`, no wider than necessary."""
    names = LINES[kind]
    column = {name: fields[:, number] for number, name in enumerate(names)}
    time = column["time"].astype(np.int32)
    keys = column["qid"].astype(np.int64) if "qid" in names else key(column["vid"].astype(np.int64), time)
    value = np.float64 if kind == TRAVEL else np.int32
    second = column["second"].astype(value) if "second" in names else np.zeros(len(line), value)
    return keys, time, column["emit"].copy(), column["first"].astype(value), second, line.astype(np.int32)


def _sort(kind: int, parts: list[tuple[Numbers, ...]]) -> TypedAnswers:
    if not parts:
        parts = [_columns(kind, np.zeros((0, _MOST)), np.zeros(0, np.int64))]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return TypedAnswers(kind, *(column[order] for column in columns))


@kernel
def _parse(text: Ints, counts: Ints, decimal: Ints, kinds: Ints, fields: Floats, starts: Ints) -> int:
    """Parse lines of numbers between commas. The kind of a malformed line is _BROKEN."""
    line, at = 0, 0
    while at < len(text):
        starts[line] = at
        kind, field, good = 0, -1, True
        while True:
            # One number: a sign, digits, and digits after a point.
            negative = at < len(text) and text[at] == 45
            at += negative
            number, digits, decimals, point = 0, 0, 0, False
            while at < len(text) and (48 <= text[at] <= 57 or (text[at] == 46 and not point)):
                if text[at] == 46:
                    point = True
                elif digits < _DIGITS:
                    number = 10 * number + (text[at] - 48)
                    digits += 1
                    decimals += point
                elif not point:
                    good = False
                at += 1
            good &= digits > 0
            if negative:
                number = -number
            if field < 0:
                kind = number
                good &= 0 <= kind < len(counts) and not point and not negative
            elif good and field < counts[kind]:
                good &= decimal[kind, field] or (not point and abs(number) <= _LARGEST)
                fields[line, field] = number / 10.0**decimals
            field += 1
            if at == len(text) or text[at] != 44:
                break
            at += 1
        if at < len(text) and text[at] == 13:
            at += 1
        good &= at == len(text) or text[at] == 10
        while at < len(text) and text[at] != 10:
            at += 1
        if good and field == counts[kind]:
            kinds[line] = kind
        else:
            empty = at == starts[line] or (at == starts[line] + 1 and text[at - 1] == 13)
            kinds[line] = _EMPTY if empty else _BROKEN
        at += 1
        line += 1
    starts[line] = len(text)
    return line

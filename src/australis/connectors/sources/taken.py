"""Which files were taken: a mark of each, by which it is known again as long as it stays as it was."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

_NAME, _SIZE = 6, 3  # bytes: one new name in 280 million is taken for one of a million old ones
_CHARS = (_NAME + _SIZE) * 4 // 3


def mark(name: str, size: int) -> str:
    """A few letters that stand for a file's name, and some more for its bytes.

    >>> mark("reports/monday.csv", 40)
    'jx6l/bhHQAgg'
    """
    return _letters(name.encode(errors="surrogateescape"), _NAME) + _letters(b"%d" % size, _SIZE)


def name_of(mark: str) -> str:
    """The part of a mark that stands for the name.

    >>> name_of(mark("reports/monday.csv", 40)) == name_of(mark("reports/monday.csv", 50))
    True
    """
    return mark[: _NAME * 4 // 3]


def marks(names: Iterable[str]) -> dict[str, str]:
    """The marks of files that are there, and their names."""
    found = {}
    for name in names:
        with suppress(FileNotFoundError):  # gone since it was listed
            found[mark(name, Path(name).stat().st_size)] = name
    return found


def joined(marks: Iterable[str]) -> str:
    """Marks as one text.

    >>> cut(joined([mark("b.csv", 1), mark("a.csv", 2)])) == {mark("a.csv", 2), mark("b.csv", 1)}
    True
    """
    return "".join(sorted(marks))


def cut(text: str) -> set[str]:
    """The marks that a text joins."""
    return {text[at : at + _CHARS] for at in range(0, len(text), _CHARS)}


def _letters(value: bytes, count: int) -> str:
    return b64encode(blake2b(value, digest_size=count).digest()).decode()

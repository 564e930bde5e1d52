"""Which files were taken: a mark of each, by which it is known again as long as it stays as it was."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from australis.run.sources.folder import Key

_BYTES = 6  # of a mark: one new file in 280 million is taken for one of a million old ones
_CHARS = _BYTES * 4 // 3


def mark(key: Key, size: int) -> str:
    """A few letters that stand for a file's name, its time in the order and its bytes.

    >>> mark((0, "reports/monday.csv"), 40)
    'o5Nl8v+S'
    """
    text = f"{key[0]} {size} {key[1]}".encode(errors="surrogateescape")
    return b64encode(blake2b(text, digest_size=_BYTES).digest()).decode()


def marks(keys: Iterable[Key]) -> dict[str, str]:
    """The marks of files that are there, and their names."""
    found = {}
    for key in keys:
        with suppress(FileNotFoundError):  # gone since it was listed
            found[mark(key, Path(key[1]).stat().st_size)] = key[1]
    return found


def joined(marks: Iterable[str]) -> str:
    """Marks as one text.

    >>> cut(joined(["4v81dptK", "0abcdefg"])) == {"0abcdefg", "4v81dptK"}
    True
    """
    return "".join(sorted(marks))


def cut(text: str) -> set[str]:
    """The marks that a text joins."""
    return {text[at : at + _CHARS] for at in range(0, len(text), _CHARS)}

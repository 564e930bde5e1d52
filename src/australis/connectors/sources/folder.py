"""Which files a path, a glob or a folder stands for, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Container, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Literal, TypeAlias

from australis.connectors.sources.form import FORMATS, KINDS, form
from australis.disk.paths import place
from australis.errors import RunError

Order: TypeAlias = Literal["name", "time"]
Key: TypeAlias = tuple[int, str]
"""What files are ordered by: the time when they were last changed (or nothing), and their names."""


def files(pattern: str, order: Order, sounds: bool = False) -> list[Key]:
    """The files there are; in a folder, those with a name that tells their format, of samples if there are to be.

    Names that begin with `.` or `_` or end with `.tmp` are of files still being written.
    """
    try:
        paths = [path for path in _found(pattern, KINDS if sounds else FORMATS) if not _hidden(path)]
    except OSError as error:  # such as a name that is too long, or a folder that may not be read
        raise RunError(f"{pattern}: {error}; give a file, a glob or a folder that can be read") from error
    if order == "name":
        return sorted((0, str(path)) for path in paths)
    keys = []
    for path in paths:
        try:
            keys.append((path.stat().st_mtime_ns, str(path)))
        except FileNotFoundError:  # gone since it was listed
            continue
    return sorted(keys)


def _hidden(path: Path) -> bool:
    return path.name.startswith((".", "_")) or path.name.endswith(".tmp")


def _found(pattern: str, formats: Container[str]) -> Iterator[Path]:
    folder = place(pattern)
    if folder.is_dir():
        known = (path for path in folder.iterdir() if any(suffix.lower() in formats for suffix in path.suffixes))
        yield from (path for path in known if path.is_file())
        return
    names = glob(pattern, recursive=True) if has_magic(pattern) and not folder.exists() else [pattern]
    for path in map(Path, names):
        if path.is_file():
            if not _hidden(path):
                form(path)  # an error if it does not tell
            yield path

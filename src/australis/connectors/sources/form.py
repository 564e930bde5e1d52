"""The form of a file, told by its name: the format, and whether it is packed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from australis.errors import RunError, listing

FORMATS = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
SOUNDS = {".wav": "wav", ".flac": "flac", ".raw": "raw", ".pcm": "raw"}
"""Files of samples: what they give are segments."""
KINDS = FORMATS | SOUNDS
Packing: TypeAlias = Literal["gzip", "zstd"]
PACKED: dict[str, Packing] = {".gz": "gzip", ".zst": "zstd"}


def form(path: str | Path) -> str:
    """The format that a file's name tells; a compressed file keeps its own suffix before the last.

    >>> form("reports.csv.gz"), packed("reports.csv.gz"), packed("reports.csv")
    ('csv', 'gzip', None)
    """
    for suffix in reversed(Path(path).suffixes):
        if suffix.lower() in KINDS:
            return KINDS[suffix.lower()]
    raise RunError(f"{path}: the format is told by the name, which ends in one of {listing(KINDS)}; convert other"
                   " sounds to FLAC or WAV")  # fmt: skip


def may_be(format: str, path: str | Path) -> bool:
    """Whether a file may be of a format, or one of those that a folder or a glob stands for.

    >>> [may_be("parquet", path) for path in ("reports/*.parquet", "reports", "reports.csv.gz")]
    [True, True, False]
    """
    known = [KINDS[suffix.lower()] for suffix in Path(path).suffixes if suffix.lower() in KINDS]
    return known[-1:] in ([], [format])


def grows(path: str | Path) -> bool:
    """Whether tuples can be added to a file of that name: to CSV, to JSON lines, and to an Arrow stream.

    >>> grows("jams.csv"), grows("jams.arrows"), grows("jams.arrow"), grows("jams.parquet")
    (True, True, False, False)
    """
    return form(path) in ("csv", "json") or Path(path).suffix.lower() == ".arrows"


def packed(path: str | Path) -> Packing | None:
    """How a file is compressed, or None."""
    return PACKED.get(Path(path).suffix.lower())

"""A summary of the state on a checkpoint folder, for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from australis.engine.state.store import DELTA, Store, bases, stores


@dataclass(frozen=True)
class Summary:
    """What a partition has saved: its last version, the oldest one that can be opened, and the rows of each table."""

    stage: str
    partition: int
    version: int
    oldest: int
    network: int
    files: int
    bytes: int
    tables: dict[str, dict[str, int]]

    @property
    def rows(self) -> int:
        return sum(sum(tables.values()) for tables in self.tables.values())


def describe(checkpoint: str | Path) -> list[Summary]:
    """What a checkpoint folder holds, by stage and partition; only the header of each last file is read."""
    return [summary for place in stores(checkpoint) if (summary := _summary(*place))]


def _summary(stage: str, partition: int, place: Store) -> Summary | None:
    files = place.list()
    deltas = [file.version for file in files if file.kind == DELTA and not file.temporary]
    last = place.head(deltas[-1]) if deltas else None
    if last is None:
        return None
    oldest = deltas[0] if deltas[0] in bases(files, 0, deltas[0]) else deltas[0] - 1
    tables: dict[str, dict[str, int]] = {}
    for part in last.parts:
        box, name = part.owner
        tables.setdefault(box, {})[name] = part.rows
    size = sum(file.size for file in files)
    return Summary(stage, partition, last.version, oldest, last.network, len(files), size, tables)

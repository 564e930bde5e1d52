"""Results given to a function or an object of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from australis.errors import RunError


class Target(Protocol):
    """What keeps batches together with the id of the last one, in one transaction: a database, for example.

    Batches are numbered by runs, each from 1 on: the target keeps the run's id too, so that runs do not meet in it.
    """

    def last_batch(self, run: str, /) -> int | None:
        """The id of the last batch that it keeps of a run, or None."""
        ...

    def write(self, run: str, batch_id: int, table: pa.Table, /) -> None:
        """Keep a batch of a run, and its id: both, or neither."""
        ...


@dataclass(frozen=True)
class Callback:
    """At least once: `call(batch_id, table)` for every batch, and once more for a batch that is run again.

    Batches come with the same id and the same tuples again, so that a function that passes over ids that it knows is
    called exactly once. Batches without tuples are given too.
    """

    call: Callable[[int, pa.Table], object]

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> CallbackWriter:
        return CallbackWriter(self.call, schema)


@dataclass(frozen=True)
class CallbackWriter:
    call: Callable[[int, pa.Table], object]
    schema: pa.Schema

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        self.call(batch_id, pa.Table.from_batches(tuples, self.schema))

    def close(self) -> None:
        """Nothing is held open."""


@dataclass(frozen=True)
class Transactional:
    """An object of the user's own as a sink, exactly once if it keeps a batch and its id in one transaction."""

    target: Target

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> TransactionalWriter:
        return TransactionalWriter(self.target, schema, run)


@dataclass(frozen=True)
class TransactionalWriter:
    target: Target
    schema: pa.Schema
    run: str

    def agree(self, planned: int, committed: int) -> str:
        """Refuse a target that is ahead: what is in it cannot be taken back here."""
        last = self.target.last_batch(self.run)
        if last is not None and last > planned:
            raise RunError(
                f"{type(self.target).__name__}: has batches of run {self.run} up to {last}, and the checkpoint knows"
                f" none after {planned}; put back the checkpoint that is as old as it, or remove the batches after"
                f" {planned} from it, and their ids"
            )
        return ""

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        last = self.target.last_batch(self.run)
        if last is None or batch_id > last:
            self.target.write(self.run, batch_id, pa.Table.from_batches(tuples, self.schema))

    def close(self) -> None:
        """The target is its owner's to close."""

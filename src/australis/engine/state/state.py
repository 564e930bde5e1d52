"""State: the tables of a stage's partition at a version, saved on the checkpoint as deltas, warm between batches.

    state = open(checkpoint, stage, partition, version, make_tables, network=number)
    ...                             # a step of every box, on `state.tables`
    state.commit(version + 1)

Until `commit` has written its file, only the copy in this process has changed. If the step fails, it is dropped.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import pyarrow as pa

from australis.engine.spark import alive
from australis.engine.state.delta import REMEDY, Delta, Measures, OwnedTables, Owner, measured, pack, settle, whole
from australis.engine.state.store import DELTA, SNAPSHOT, File, Store, bases, store
from australis.errors import RunError, listing
from australis.model.box import Tables
from australis.model.table import Table

MakeTables = Callable[[], Mapping[str, Mapping[str, Table]]]

WARM = 64
"""How many partitions a process keeps warm."""
DELTAS = 64
"""A snapshot is due after so many deltas: what a cold start has to replay."""
LEAST = 1 << 20
"""Or when the deltas weigh as much as the last snapshot, and so many bytes at least."""
HEAVY, PATIENCE = 1 << 25, 3
"""A snapshot of so many bytes is saved while the next batches run, once the deltas weigh so many times as much."""
RETAIN = 2
"""How many versions before the last can be opened, at least: Spark may run the last batch again."""


@dataclass
class Copy:
    """The tables of a partition at a version, and how much the store holds since its last snapshot."""

    version: int
    id: int = 0
    owned: OwnedTables = field(default_factory=dict)
    saved: frozenset[Owner] = frozenset()
    tables: dict[str, Tables] = field(default_factory=dict)
    network: int | None = None
    new: frozenset[str] = frozenset()
    snapshot: int = 0
    deltas: int = 0
    size: int = 0

    def follow(self, delta: Delta) -> None:
        """Go on to the version of a delta."""
        self.owned = delta.onto(self.owned)
        self.reach(delta.version, delta.id, None, sum(part.size for part in delta.parts))

    def reach(self, version: int, id: int, network: int | None, size: int) -> None:
        """Note that the tables are at a version, whose delta has so many bytes."""
        self.version, self.id, self.network, self.saved = version, id, network, frozenset(self.owned)
        self.new = frozenset()
        self.deltas += 1
        self.size += size

    def count(self, files: list[File]) -> None:
        """Count anew what the store holds since its last snapshot: other processes write snapshots too."""
        saved = [file for file in files if not file.temporary and file.version <= self.version]
        last = max((file for file in saved if file.kind == SNAPSHOT), key=lambda file: file.version, default=None)
        since = [file.size for file in saved if file.kind == DELTA and (not last or file.version > last.version)]
        self.snapshot, self.deltas, self.size = last.size if last else 0, len(since), sum(since)

    @property
    def due(self) -> bool:
        """Whether it is time for a snapshot."""
        return self.deltas >= DELTAS or self.size > max(LEAST, self.snapshot)


class Warm:
    """Copies of the partitions that this process worked on last; the one used longest ago is dropped first.

    A copy that is put with the folder of a run is dropped when that run ends: processes outlive runs.
    """

    def __init__(self) -> None:
        self._copies: OrderedDict[object, tuple[str, Copy]] = OrderedDict()
        self._runs: set[str] = set()
        self._lock = Lock()

    @property
    def keys(self) -> list[object]:
        """The partitions that there are copies of."""
        with self._lock:
            return list(self._copies)

    def take(self, key: object) -> Copy | None:
        """The copy of a partition, which is in the caller's hands from now on."""
        with self._lock:
            return self._copies.pop(key, (None, None))[1]

    def put(self, key: object, copy: Copy, run: str = "") -> None:
        """Keep the copy of a partition, for as long as a run if its folder is given."""
        with self._lock:
            self._copies[key] = (run, copy)
            while len(self._copies) > WARM:
                self._copies.popitem(last=False)
            new = bool(run) and run not in self._runs
            self._runs.add(run)
        if new:
            alive.when_over(run, partial(self.drop, run))

    def drop(self, run: str) -> None:
        """Drop the copies of a run."""
        with self._lock:
            self._runs.discard(run)
            for key in [key for key, (owner, _) in self._copies.items() if owner == run]:
                del self._copies[key]

    def clear(self) -> None:
        with self._lock:
            self._copies.clear()


warm = Warm()


class State:
    """The tables of a partition, opened for one step."""

    def __init__(self, key: object, store: Store, copy: Copy, retain: int, run: str = "") -> None:
        self.version = copy.version
        self.tables = copy.tables
        """The state of each box; the readers of a keyed table share its writer's."""
        self.new = copy.new
        """The boxes that have no state of the version before, in the first step of a network."""
        self._key, self._store, self._retain, self._run = key, store, retain, run
        self._copy: Copy | None = copy

    def commit(self, version: int) -> None:
        """Save what the step changed as the version after the one opened, and keep the tables warm.

        A file of that version from an earlier attempt is replaced, unless it is the same.
        """
        if self._copy is None or version != self.version + 1:
            raise RunError(f"{self._store.folder}: a step from version {self.version} commits {self.version + 1}, once")
        copy, self._copy = self._copy, None
        assert copy.network is not None
        changes = {}
        for owner, table in copy.owned.items():
            changed = table.changes()
            if owner not in copy.saved:
                changes[owner] = whole(table)
            elif changed.num_rows:
                changes[owner] = changed
            settle(table)
        id, pieces = pack(version, copy.network, copy.id, measured(copy.owned), changes)
        self._replace(version, id, pieces)
        copy.reach(version, id, copy.network, _size(pieces))
        if copy.due:
            copy.count(self._store.list())
        if copy.due:
            self._snapshot(copy)
        warm.put(self._key, copy, self._run)

    def _replace(self, version: int, id: int, pieces: list[Any]) -> None:
        try:
            before = self._store.read(version)
        except RunError:  # damaged, and made anew
            before = None
        if before is None or before.id != id:
            # A snapshot of another history must not outlive its delta.
            self._store.remove(self._store.path(version, SNAPSHOT))
            self._store.write(version, DELTA, pieces)

    def _snapshot(self, copy: Copy) -> None:
        """Save all rows, and remove files that no retained version starts from."""
        assert copy.network is not None
        rows = {owner: whole(table) for owner, table in copy.owned.items()}
        size = sum(batch.nbytes for batch in rows.values())
        snapshot = Snapshot(self._store, copy.version, copy.network, copy.id, measured(copy.owned), rows, self._retain)
        if size < HEAVY:
            copy.snapshot, copy.deltas, copy.size = snapshot.save(), 0, 0
        elif saving.take(self._key, snapshot):
            copy.snapshot, copy.deltas, copy.size = PATIENCE * size, 0, 0


@dataclass(frozen=True)
class Snapshot:
    """All rows of a version, to be saved."""

    store: Store
    version: int
    network: int
    id: int
    tables: Mapping[Owner, Measures]
    rows: Mapping[Owner, pa.RecordBatch]
    retain: int

    def save(self) -> int:
        """Write it, and remove the files that it makes needless; returns how many bytes it has."""
        _, pieces = pack(self.version, self.network, 0, self.tables, self.rows, self.id)
        self.store.write(self.version, SNAPSHOT, pieces)
        delta = self.store.head(self.version)
        if delta is None or delta.id != self.id:  # the version was made again meanwhile, and otherwise
            self.store.remove(self.store.path(self.version, SNAPSHOT))
        files = self.store.list()
        base = max(bases(files, 0, self.version - self.retain), default=0)
        for file in files:
            if file.version < base or (file.temporary and file.version < self.version):
                self.store.remove(file.path)
        return _size(pieces)


class Saving:
    """Saves heavy snapshots in threads while the next batches run, one at a time of each partition.

    A version is as safe without its snapshot, since its deltas stay until there is one. One that cannot be saved is
    left out: the next is tried in its place.
    """

    def __init__(self) -> None:
        self._threads: dict[object, Thread] = {}

    def take(self, key: object, snapshot: Snapshot) -> bool:
        """Save a snapshot, unless the one before it is still being saved; returns whether it does."""
        self._threads = {other: thread for other, thread in self._threads.items() if thread.is_alive()}
        if key in self._threads:
            return False
        self._threads[key] = Thread(target=self._save, args=(snapshot,), daemon=True)
        self._threads[key].start()
        return True

    def _save(self, snapshot: Snapshot) -> None:
        with suppress(RunError):
            snapshot.save()

    def wait(self) -> None:
        """Wait until all are saved."""
        for thread in list(self._threads.values()):
            thread.join()


saving = Saving()


def open(
    checkpoint: str | Path,
    stage: str,
    partition: int,
    version: int,
    make_tables: MakeTables,
    *,
    network: int,
    since: int = 0,
    ancestors: Sequence[str] = (),
    retain: int = RETAIN,
    run: str = "",
) -> State:
    """The tables of a partition at exactly a version, for the step to the next.

    `network` numbers the network whose empty tables `make_tables` gives: boxes that it does not have are dropped, and
    those that are new start empty. `since` is the version at which the stage began, without state. `ancestors` are
    other stages that had some of its boxes up to this version: their state is taken over. `run` is the folder by which
    tasks see that their run is under way, if there is one.
    """
    place = store(checkpoint, stage, partition)
    key = (place.files.type_name, place.folder, since)
    copy = warm.take(key)
    if copy is None or not _caught_up(copy, place, version):
        copy = _rebuilt(place, version, since)
    if copy.network != network:
        for ancestor in ancestors:
            there = store(checkpoint, ancestor, partition)
            copy.owned = _rebuilt(there, version, None).owned | copy.owned
        _fit(copy, make_tables(), place.folder)
        copy.network = network
    return State(key, place, copy, retain, run)


def _caught_up(copy: Copy, place: Store, version: int) -> bool:
    """Bring a warm copy to a version; false if that is impossible: the copy is ahead, or of another history."""
    if copy.version == version:
        saved = place.head(version)
        return saved is not None and saved.id == copy.id
    while copy.version < version:
        delta = place.read(copy.version + 1)
        if delta is None or delta.parent != copy.id:
            return False
        copy.follow(delta)
    return copy.version == version


def _rebuilt(place: Store, version: int, since: int | None) -> Copy:
    """A copy made of the newest snapshot up to a version, if there is one, and the deltas that follow."""
    files = place.list()
    if since is None:
        since = min((file.version - 1 for file in files if file.kind == DELTA and not file.temporary), default=0)
    copy = Copy(since)
    base = max(bases(files, since, version), default=since)
    if base > since:
        copy.follow(_read(place, base, SNAPSHOT, files))
        if copy.id != _read(place, base, DELTA, files).id:
            raise _torn(place.path(base, SNAPSHOT))
    for number in range(base + 1, version + 1):
        delta = _read(place, number, DELTA, files)
        if delta.parent != copy.id:
            raise _torn(place.path(number))
        copy.follow(delta)
    if copy.version != version:
        raise RunError(f"{place.folder}: version {version} is from before the stage came to be, at {since}")
    copy.count(files)
    for file in files:
        if file.temporary and file.version <= version:
            place.remove(file.path)
    return copy


def _read(place: Store, version: int, kind: str, files: list[File]) -> Delta:
    """A delta or a snapshot that must be there."""
    delta = place.read(version, kind)
    if delta is None:
        there = sorted({file.version for file in files if not file.temporary})
        held = f"the folder holds versions {there[0]} to {there[-1]}" if there else "the folder holds no state"
        raise RunError(f"{place.path(version, kind)}: the file is missing; {held}; {REMEDY}")
    return delta


def _torn(path: str) -> RunError:
    return RunError(f"{path}: it does not follow from the version before: two runs wrote to this folder; {REMEDY}")


def _size(pieces: list[Any]) -> int:
    return sum(map(len, pieces))


def _fit(copy: Copy, boxes: Mapping[str, Mapping[str, Table]], folder: str) -> None:
    """Fit a copy to the boxes of a network, which come with empty tables.

    A table that boxes share belongs to the first of them.
    """
    owners: dict[int, Owner] = {}
    new: OwnedTables = {}
    for box, tables in boxes.items():
        for name, table in tables.items():
            if owners.setdefault(id(table), (box, name)) == (box, name):
                new[box, name] = table
    saved, wanted = _forms(copy.owned), _forms(new)
    copy.new = frozenset(box for box in boxes if box not in saved)
    for box in boxes:
        if box in saved and saved[box] != wanted.get(box):
            raise RunError(
                f"box {box}: its state in {folder} is {listing(saved[box])}, but it now keeps"
                f" {listing(wanted.get(box, []))}; give the box another name to let it start empty,"
                " or go back to the network that saved the state"
            )
    copy.owned = {owner: copy.owned.get(owner, table) for owner, table in new.items()}
    copy.tables = {
        box: {name: copy.owned[owners[id(table)]] for name, table in tables.items()} for box, tables in boxes.items()
    }


def _forms(owned: OwnedTables) -> dict[str, list[str]]:
    """The tables of each box in words, to compare them."""
    forms: dict[str, list[str]] = {}
    for (box, name), table in sorted(owned.items(), key=lambda each: each[0]):
        columns = ", ".join(f"{f.name} {f.type}{'' if f.nullable else ' not null'}" for f in table.schema)
        key = f" by {', '.join(table.key)}" if table.key else ""
        forms.setdefault(box, []).append(f"{name} ({columns}){key}")
    return forms

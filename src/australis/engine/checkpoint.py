"""The checkpoint: a folder with all that a run needs to go on, whatever happens to it.

run.json        the run's name, how many partitions it has, what its sources are
networks/       the networks that it has run, by number, each there before the first batch that runs it
query/          Spark's own log of offsets and commits
state/          the tables of boxes
letters/        dead letters
measures/       measurements of the last batches, and what was learned of costs
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from australis.connectors.origin import check_origins, origins
from australis.connectors.source import Offset, Source
from australis.disk.durable import renamed
from australis.disk.paths import place
from australis.disk.private import keep_out_others, private, private_folder
from australis.engine.job import Job, Lineage
from australis.engine.log import Log
from australis.engine.state.delta import REMEDY
from australis.errors import AustralisError, RunError
from australis.model.network import Network
from australis.netfile import netfile
from australis.plan.drawn import Drawn
from australis.plan.rules import Firing

FORMAT = 4


@dataclass(frozen=True)
class SavedDrawing:
    """A network as it was drawn, as the checkpoint has it; the fields are as in `Drawn`."""

    text: str
    firings: tuple[Firing, ...] = ()
    altered: tuple[str, ...] = ()


@dataclass(frozen=True)
class SavedNetwork:
    """A network of the run as the checkpoint has it; the fields are as in `Job`."""

    number: int
    text: str
    lineages: tuple[Lineage, ...]
    owners: Mapping[str, str]
    starts: Mapping[str, Offset]
    unchanged: tuple[str, ...] = ()
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    """What the sources were, by input."""
    drawn: SavedDrawing | None = None
    """The network as it was drawn, if rules of the optimizer have changed it."""
    firings: tuple[Firing, ...] = ()
    """The rules that made it of the network before."""

    def network(self) -> Network:
        """The network itself."""
        return self._load(self.text)

    def drawing(self) -> Drawn | None:
        """The network as it was drawn, and what rules have done to it; none if they have done nothing."""
        if self.drawn is None:
            return None
        return Drawn(self._load(self.drawn.text), self.drawn.firings, frozenset(self.drawn.altered))

    def _load(self, text: str) -> Network:
        try:
            return netfile.loads(text, f"network {self.number} of the checkpoint")
        except AustralisError as error:
            failed = RunError.of(error)
            failed.reason += "; functions that it calls must be known before the run goes on"
            raise failed from error


class Checkpoint:
    """A checkpoint folder, opened for a run: a new one if it is empty."""

    def __init__(self, path: str | Path, lasting: bool = True) -> None:
        self.path = place(path).absolute()
        self.log = Log(self.path / "query")
        self.lasting = lasting
        """Whether it is there after the run."""
        try:
            private_folder(self.path)
        except OSError as error:
            raise RunError(f"{self.path}: cannot be a checkpoint folder: {error}") from error
        self._check_writable()
        self.partitions: int | None = None
        """How many the run has; none before it has begun."""
        if not (self.path / "run.json").exists():
            strangers = sorted(entry.name for entry in self.path.iterdir() if not entry.name.startswith("."))
            if strangers:
                raise RunError(
                    f"{self.path}: is no checkpoint: it holds {strangers[0]}, and no run.json; choose an empty folder"
                )
            self.run = uuid.uuid4().hex
            return
        saved = self._read(self.path / "run.json")
        if saved.get("format") != FORMAT:
            raise RunError(
                f"{self.path}: a checkpoint of format {saved.get('format')}, and this Australis reads format {FORMAT};"
                " run the Australis that wrote it, or start again with an empty folder"
            )
        self.run, self.partitions = str(saved["run"]), saved["partitions"]

    @property
    def fresh(self) -> bool:
        """Whether no run has begun on it."""
        return self.partitions is None

    def begin(self) -> IO[bytes]:
        """Make the folder a checkpoint, if it is not one yet. It stays locked until what is returned is closed.

        The run has its id from here on. If it is killed, what it has made since is known to be its own.
        """
        try:
            lock = (self.path / ".lock").open("wb")
            if self.fresh:
                keep_out_others(self.path)
        except OSError as error:
            raise self._unwritable(error.strerror) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            if not isinstance(error, BlockingIOError):
                raise self._unwritable(error.strerror) from error
            raise RunError(f"{self.path}: another run uses it; stop that one, or choose another folder") from error
        if self.fresh:
            self._write_run()
        return lock

    def check(self) -> None:
        """Refuse to go on if it was removed or moved away while the run uses it."""
        if not (self.path / "run.json").exists():
            raise RunError(
                f"{self.path}: the checkpoint was removed, or moved away, while the run used it; put it back and start"
                " the network again, or begin anew with an empty folder and other sinks"
            )

    def divide(self, partitions: int) -> None:
        """Set how many partitions the run has."""
        self.partitions = partitions
        self._write_run()

    def _write_run(self) -> None:
        self._write(self.path / "run.json", {"format": FORMAT, "run": self.run, "partitions": self.partitions})

    def keep(self, job: Job) -> None:
        """Save a job's network, before a batch runs it."""
        saved = SavedNetwork(
            job.number, netfile.dumps(job.network), job.lineages, job.owners, job.starts, tuple(sorted(job.unchanged)),
            job.layouts, origins(job.sources, self.path), _saved(job.drawn), job.firings,
        )  # fmt: skip
        self._write(self._network(job.number), _encode(saved))

    def check_sources(self, sources: Mapping[str, Source]) -> None:
        """Refuse to go on with other sources than those that the last batch was planned from."""
        last = self.log.last()
        if last is not None:
            check_origins(self.network(last.network).origins, origins(sources, self.path), self.path)

    def network(self, number: int) -> SavedNetwork:
        """The network that has a number."""
        return _decode(self._read(self._network(number)))

    def last_number(self) -> int:
        """The greatest number of its networks; 0 if there is none."""
        return max((int(path.stem) for path in (self.path / "networks").glob("*.json")), default=0)

    def sweep(self, *jobs: Job) -> None:
        """Remove all state but that of some jobs."""
        names = {lineage.name for job in jobs for lineage in job.lineages}
        state = self.path / "state"
        for folder in state.iterdir() if state.exists() else ():
            if unquote(folder.name) not in names:
                shutil.rmtree(folder, ignore_errors=True)

    def _check_writable(self) -> None:
        """Refuse a folder that this user cannot write to, or with such a thing in it, before Spark is started."""
        try:
            for path in (self.path, *self.path.iterdir()):
                wanted = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
                if path.exists() and not os.access(path, wanted, effective_ids=True):
                    raise self._unwritable(f"{path.name} is not for this user to read and write")
        except OSError as error:
            raise self._unwritable(error.strerror) from error

    def _unwritable(self, why: str | None) -> RunError:
        return RunError(
            f"{self.path}: cannot be written to: {why}; choose another checkpoint folder, or give this user access"
        )

    def _network(self, number: int) -> Path:
        return self.path / "networks" / f"{number:06}.json"

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            value = json.loads(path.read_text())
            if not isinstance(value, dict):
                raise ValueError("it is no object")
        except (OSError, ValueError) as error:
            raise RunError(f"{path}: the checkpoint is damaged: {error}; {REMEDY}") from error
        return value

    def _write(self, path: Path, value: dict[str, Any]) -> None:
        try:
            path.parent.mkdir(exist_ok=True)
            with renamed(path) as file:
                private(file).write(json.dumps(value, indent=1).encode())
        except OSError as error:
            raise RunError(f"{path}: cannot be written: {error}; make room, or choose another checkpoint") from error


def _encode(saved: SavedNetwork) -> dict[str, Any]:
    """The keys `homes`, `kin` and `given` are format 4's words for lineages, ancestors and what is unchanged."""
    homes = [{"name": each.name, "since": each.since, "kin": each.ancestors} for each in saved.lineages]
    return {
        "number": saved.number, "text": saved.text, "homes": homes, "owners": saved.owners, "starts": saved.starts,
        "given": saved.unchanged, "layouts": saved.layouts, "origins": saved.origins,
        "drawn": None if saved.drawn is None else asdict(saved.drawn),
        "firings": [asdict(firing) for firing in saved.firings],
    }  # fmt: skip


def _decode(value: dict[str, Any]) -> SavedNetwork:
    lineages = tuple(Lineage(home["name"], home["since"], tuple(home["kin"])) for home in value["homes"])
    layouts = {name: tuple(places) for name, places in value.get("layouts", {}).items()}
    return SavedNetwork(
        value["number"], value["text"], lineages, value["owners"], value["starts"], tuple(value.get("given", ())),
        layouts, value.get("origins", {}), _decode_drawing(value.get("drawn")), _firings(value.get("firings", ())),
    )  # fmt: skip


def _saved(drawn: Drawn | None) -> SavedDrawing | None:
    if drawn is None:
        return None
    return SavedDrawing(netfile.dumps(drawn.network), drawn.firings, tuple(sorted(drawn.altered)))


def _decode_drawing(value: dict[str, Any] | None) -> SavedDrawing | None:
    """A checkpoint of a run without an optimizer has none."""
    if value is None:
        return None
    return SavedDrawing(value["text"], _firings(value["firings"]), tuple(value["altered"]))


def _firings(values: Iterable[Mapping[str, Any]]) -> tuple[Firing, ...]:
    return tuple(Firing(each["rule"], tuple(each["boxes"]), each["gain"]) for each in values)

"""Queues: what waits in the sources of a run, for the network as a whole and for each of its branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from australis.connectors.source import Bounded, Offset, Stamped
from australis.engine.batch import Apart
from australis.engine.job import Job
from australis.engine.positions import Positions
from australis.engine.service import BranchWait
from australis.qos.branches import Branch
from australis.qos.priorities import Queue

FULL = 0.5
"""A branch does not wait on in a source that is so full, since it would refuse what comes."""


@dataclass(frozen=True)
class Queues:
    """What waits at some positions and a time in microseconds, in the sources that cannot wait themselves."""

    job: Job
    positions: Positions
    now: int

    def backlog(self) -> dict[str, int]:
        """The tuples that wait in each source, for the branch that is furthest behind."""
        return {name: self._count(name, self._last(name)) for name in self.job.urgent}

    def oldest(self) -> float:
        """For how many seconds the first tuple of any source has waited."""
        return max((self._age(name, self._last(name)) for name in self.job.urgent), default=0.0)

    @cached_property
    def timeless(self) -> frozenset[str]:
        """The sources of which nothing waits that came at a time: it can wait after all, as the lead of a replay."""
        return frozenset(name for name in self.job.urgent if self._came(name, self._last(name)) is None)

    def branches(self) -> dict[str, Queue]:
        """What waits for each branch; nothing if there is no branch that could wait."""
        return {branch.name: self._queue(branch) for branch in self._urgent} if self.job.patient else {}

    def behind(self) -> dict[str, BranchWait]:
        """How far branches are behind that read by themselves."""
        waits = {branch.name: self._queue(branch) for branch in self._urgent if branch.name in self.positions.behind}
        return {name: BranchWait(int(sum(each.tuples.values())), each.oldest) for name, each in waits.items()}

    @property
    def _urgent(self) -> list[Branch]:
        return [branch for branch in self.job.branches if not set(self.job.urgent).isdisjoint(branch.inputs)]

    def _queue(self, branch: Branch) -> Queue:
        offsets = {name: at for name, at in self.positions.at(branch).items() if name in self.job.urgent}
        return Queue(
            {name: float(self._count(name, offset)) for name, offset in offsets.items()},
            max(self._age(name, offset) for name, offset in offsets.items()),
            branch in self.job.patient and self._full.isdisjoint(offsets),
            branch.name in self.positions.behind,
        )

    @cached_property
    def _full(self) -> frozenset[str]:
        """The sources that hardly hold more."""
        bounded = {name: source for name, source in self.job.sources.items() if isinstance(source, Bounded)}
        return frozenset(name for name, source in bounded.items() if source.filled() > FULL)

    def _last(self, name: str) -> Offset:
        return self.positions.last(name, self.job.sources[name])

    @cached_property
    def _counted(self) -> dict[tuple[str, str], int]:
        return {}

    def _count(self, name: str, offset: Offset) -> int:
        """The tuples after an offset; counting may be slow, so that it is done once."""
        place = (name, repr(offset))
        if place not in self._counted:
            self._counted[place] = self.job.sources[name].backlog(offset)
        return self._counted[place]

    def _came(self, name: str, offset: Offset) -> int | None:
        """When the first tuple after an offset came; now if its source does not tell, none if at no time."""
        source = self.job.sources[name]
        return source.arrived(offset) if isinstance(source, Stamped) else self.now

    def _age(self, name: str, offset: Offset) -> float:
        came = self._came(name, offset)
        return 0.0 if came is None else max(self.now - came, 0) / 1e6


def taken_by(
    branches: Sequence[Branch], taken: Mapping[str, float], apart: Sequence[Apart], rows: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, float]]:
    """The tuples that each branch took in a batch: as many as were new, but for those that read by themselves."""
    own: dict[str, dict[str, float]] = {name: {} for each in apart for name in each.branches}
    labels = {each.branches[0]: each.branches for each in apart}
    for row in rows:
        for name in labels.get(row["port"] or "", ()) if row["kind"] == "source" else ():
            own[name][row["name"]] = own[name].get(row["name"], 0.0) + row["given"]
    joint = {branch.name: {name: taken[name] for name in branch.inputs if name in taken} for branch in branches}
    return joint | own

"""Positions: how far the branches of a network have come in its inputs (Aurora's pointers into one queue, 4.2).

Branches are at the front mostly, and what they take is read once for all. One that waits stays behind: it has a
position of its own in its inputs, which stands in the offset of every batch, and reads from there by itself until it
has caught up. There is no other queue: what it still needs is kept where it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from australis.connectors.source import Offset, Positioned, Source, Stamped
from australis.engine.job import Job
from australis.errors import RunError
from australis.qos.branches import Branch, followed_by

Takes = Mapping[str, Mapping[str, int]]
"""About how many tuples branches may take of each of their inputs, by their names; 0 to wait. Others take all."""
Offsets = Mapping[str, Offset]
"""By input."""


@dataclass(frozen=True)
class Positions:
    """Where the branch is that has come furthest, and where those are that are behind it, by their names."""

    front: Offsets = field(default_factory=dict)
    behind: Mapping[str, Offsets] = field(default_factory=dict)

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> Positions:
        """The positions in the offset of a batch."""
        return cls(dict(offset["inputs"]), dict(offset.get("behind", {})))

    def of_job(self, job: Job) -> Positions:
        """The same with all inputs of a job: one that came with a change of the network is at its beginning."""
        front = {input.name: self.front.get(input.name) or job.starts[input.name] for input in job.streams}
        return Positions(front, self.behind)

    def at(self, branch: Branch) -> Offsets:
        """Where a branch is in its inputs."""
        own = self.behind.get(branch.name, {})
        return {name: own.get(name) or self.front[name] for name in branch.inputs}

    def last(self, name: str, source: Source) -> Offset:
        """The position in an input that is furthest behind: what lies before it nobody needs."""
        there = [self.front[name], *(each[name] for each in self.behind.values() if name in each)]
        return there[0] if len(there) == 1 else min(there, key=_positioned(source).position)

    def followed_by(self, before: Job, after: Job) -> Positions | None:
        """The same for the network after a change; none if it joins branches that are at different positions."""
        behind = followed_by(before.branches, after.branches, self.behind)
        return None if behind is None else Positions(self.front, behind)


@dataclass(frozen=True)
class Advance:
    """How far a batch goes: the positions after it, and what branches read that read by themselves."""

    after: Positions
    own: Mapping[str, tuple[Offsets, Offsets]] = field(default_factory=dict)
    """From where to where, by their names."""


def advance(job: Job, before: Positions, limit: int, takes: Takes) -> Advance:
    """How far the next batch goes, which takes about so many tuples of an input at most.

    Something always runs: if nothing would move because branches wait, they do not.
    """
    moved = _advance(job, before, limit, takes)
    return _advance(job, before, limit, {}) if takes and moved.after == before else moved


def _advance(job: Job, before: Positions, limit: int, takes: Takes) -> Advance:
    front = {
        name: _latest(job.sources[name], before.front[name], _most(job, before, name, limit, takes))
        for name in (input.name for input in job.streams)
    }
    behind: dict[str, Offsets] = {}
    own: dict[str, tuple[Offsets, Offsets]] = {}
    for branch in job.branches:
        if branch.name not in before.behind and branch.name not in takes:
            continue
        starts, most = before.at(branch), takes.get(branch.name, {})
        ends = {
            name: _latest_up_to(job.sources[name], start, min(most.get(name, limit), limit), front[name])
            for name, start in starts.items()
        }
        if not all(_same(job.sources[name], end, front[name]) for name, end in ends.items()):
            behind[branch.name] = ends
        if branch.name in before.behind or branch.name in behind:
            own[branch.name] = (starts, ends)
    return Advance(Positions(front, behind), own)


def _most(job: Job, before: Positions, name: str, limit: int, takes: Takes) -> int:
    """How many tuples the front may move on in an input: as many as a branch takes that is there."""
    takers = [branch.name for branch in job.branches if name in branch.inputs]
    leaders = [taker for taker in takers if taker not in before.behind]
    most = (min(takes[leader].get(name, limit), limit) if leader in takes else limit for leader in leaders)
    return max(most, default=0) if takers else limit


def _latest(source: Source, offset: Offset, limit: int) -> Offset:
    return source.latest(offset, limit) if limit > 0 else offset


def _latest_up_to(source: Source, offset: Offset, limit: int, front: Offset) -> Offset:
    """How far a branch goes that must not overtake the front."""
    if limit <= 0:
        return offset
    end, known = _latest(source, offset, limit), _positioned(source)
    return known.cut(end, front) if known.position(end) > known.position(front) else end


def _same(source: Source, one: Offset, other: Offset) -> bool:
    return one == other or _positioned(source).position(one) == _positioned(source).position(other)


def _positioned(source: Source) -> Positioned:
    if not isinstance(source, Positioned):
        raise RunError(f"{type(source).__name__}: a branch cannot wait in a source whose offsets are not compared")
    return source


def readings_apart(job: Job, before: Positions, moved: Advance, clock: int) -> list[dict[str, Any]]:
    """What branches read by themselves, as it stands in an offset: those with the same positions read once.

    Where no branch at the front reads an input, the first of those that go as far does (`first`): it reads what none
    has read before.
    """
    joint = [branch for branch in job.branches if branch.name not in moved.own]
    unread = {name for name in moved.after.front if moved.after.front[name] != before.front[name]}
    unread -= {name for branch in joint for name in branch.inputs}
    apart: list[dict[str, Any]] = []
    for name, (starts, ends) in moved.own.items():
        same = next((each for each in apart if (each["from"], each["to"]) == (starts, ends)), None)
        if same is not None:
            same["branches"].append(name)
            continue
        first = [
            each
            for each in unread.intersection(starts)
            if _same(job.sources[each], starts[each], before.front[each])
            and _same(job.sources[each], ends[each], moved.after.front[each])
        ]
        unread.difference_update(first)
        until = min([clock, *arrived(job, ends)])
        apart.append({"branches": [name], "from": starts, "to": ends, "until": until, "first": sorted(first)})
    return apart


def arrived(job: Job, offsets: Offsets) -> list[int]:
    """The times before which nothing came of what waits in each input."""
    sources = ((job.sources[name], offset) for name, offset in offsets.items())
    times = [source.arrived(offset) for source, offset in sources if isinstance(source, Stamped)]
    return [time for time in times if time is not None]


def backlogs(job: Job, positions: Positions) -> dict[str, int]:
    """About how many tuples wait in each input, for the branch that is furthest behind."""
    known = positions.of_job(job)
    return {i.name: job.sources[i.name].backlog(known.last(i.name, job.sources[i.name])) for i in job.streams}

"""Readings: what branches at one position read in a batch, and the boxes and outputs that it is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from australis.engine.addresses import StageEntry
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.model.box import Moment
from australis.model.network import OUT
from australis.plan import Entry
from australis.qos.branches import Branch


@dataclass(frozen=True)
class Reading:
    """Branches that read the same in a batch. Boxes of others do not step on it."""

    place: int
    """0 for the branches at the front."""
    label: str
    """What measurements call it: the port of an input, or the first of the branches that read by themselves."""
    boxes: frozenset[str]
    outputs: frozenset[str]
    moment: Moment
    """The moment of its last step."""

    def takes(self, entry: Entry) -> bool:
        """Whether an entry feeds any of the boxes."""
        return any(name in self.boxes for name, _ in entry.feeds)


def readings(job: Job, batch: Batch) -> tuple[Reading, ...]:
    """The readings of a batch: that of the branches at the front first, which is the only one if none is behind."""
    known = {branch.name: branch for branch in job.branches}
    apart = [(each, [known[name] for name in each.branches]) for each in batch.apart]
    away = {branch.name for _, several in apart for branch in several}
    front = [branch for branch in job.branches if branch.name not in away]
    return (
        _reading(0, OUT, front, batch.moment),
        *(
            _reading(place, each.branches[0], several, batch.moment_at(each.until))
            for place, (each, several) in enumerate(apart, 1)
        ),
    )


def _reading(place: int, label: str, several: Iterable[Branch], moment: Moment) -> Reading:
    several = list(several)
    boxes = frozenset(name for branch in several for name in branch.boxes)
    return Reading(place, label, boxes, frozenset(name for branch in several for name in branch.outputs), moment)


def address_of(job: Job, stage: int, place: int, reading: Reading) -> int:
    """The address of an entry for a reading."""
    own = StageEntry(stage, place, reading.place)
    return job.places.get(own, job.places[StageEntry(stage, place)])

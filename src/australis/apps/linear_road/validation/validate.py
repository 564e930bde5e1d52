"""Validate: compare the output of a run with its input (3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.validation.answers import TYPES, AnswerFile, answers
from australis.apps.linear_road.validation.compare import AnswerComparison
from australis.apps.linear_road.validation.due import OnProgress, due
from australis.apps.linear_road.validation.history import PastTolls
from australis.apps.linear_road.validation.verdict import BROKEN, FAULTS, Fault, Verdict
from australis.errors import RunError

READING = "reading the answers"


def validate(
    feed: Feed,
    output: Path | Sequence[Path],
    history: PastTolls | None = None,
    on_progress: OnProgress | None = None,
    speed: float = 1.0,
    since: int = 0,
    began: float = 0.0,
    shed: Mapping[int, int | None] | None = None,
) -> Verdict:
    """Compare every answer with what the feed requires, from a second on.

    Emit counts real seconds since the start of the run, and a tuple of time t was there after t / `speed` of them.
    If Emit is the time of day, in seconds since 1970, `began` is the time of day of time 0.
    At infinite speed all of them were there at once, and response times mean nothing: none is late or early.
    `shed` has how many answers of each type the run has left out, or None for some: so many may be missing.
    `on_progress` is called with the name of a stage and how much of it is done, from 0 to 1.
    """
    if not speed > 0:
        raise RunError(f"a run at {speed:g}-fold speed: give a speed above 0")
    read: AnswerFile = (
        answers(output, (lambda share: on_progress(READING, share)) if on_progress else None).since(since).after(began)
    )
    compared = {kind: AnswerComparison(kind, read, speed) for kind in TYPES}
    for each in due(feed, history, on_progress):
        compared[each.type].compare(each.since(since))
    tallies = tuple(replace(compared[kind].finish(), shed=(shed or {}).get(kind, 0)) for kind in TYPES)
    faults = [fault for kind in TYPES for name in FAULTS for fault in compared[kind].faults.get(name, ())]
    return Verdict(tallies, read.broken, (*faults, *(Fault(None, BROKEN, text) for text in read.shown)))

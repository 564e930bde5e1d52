"""Due: every answer that a feed calls for, as its input alone tells (3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import ALERT, BALANCE, EXPENDITURE, INPUT, TOLL, TRAVEL
from australis.apps.linear_road.validation.accounts import Accounts, accounts, key
from australis.apps.linear_road.validation.arrays import Ints, Numbers
from australis.apps.linear_road.validation.history import PastTolls
from australis.apps.linear_road.validation.journeys import journeys
from australis.apps.linear_road.validation.reports import read
from australis.apps.linear_road.validation.tolls import Tolls, tolls
from australis.errors import RunError

Told = Callable[[str, float], None]
RECOMPUTING = "recomputing what was due"


@dataclass(frozen=True)
class Due:
    """Answers of one type that are due, each known by its key: a vehicle at a second, or a query.

    A choice holds the two values that an answer may have: LAV and toll, segment and 0, ResultTime and balance, balance
    and 0, travel time and toll. Any balance that `accounts` allows will do as well. Without a choice nobody knows what
    is right: the answer is in a history that was not given.
    """

    type: int
    key: Ints
    time: Ints
    choices: tuple[tuple[Numbers, Numbers], ...]
    vid: Ints
    accounts: Accounts | None = None

    def since(self, second: int) -> Due:
        """Those that are asked from a second on."""
        if not second:
            return self
        rows = np.flatnonzero(self.time >= second)
        choices = tuple((one[rows], other[rows]) for one, other in self.choices)
        return Due(self.type, self.key[rows], self.time[rows], choices, self.vid[rows], self.accounts)


def due(feed: Feed, history: PastTolls | None = None, told: Told | None = None) -> Iterator[Due]:
    """What is due, file by file; the answers to requests come last, for an account is charged on all expressways."""
    charges: list[Ints] = [np.empty(0, np.int64)]
    amounts: list[Ints] = [np.empty(0, np.int64)]
    requests = []
    for number, file in enumerate(feed.files):
        if told:
            told(RECOMPUTING, number / len(feed.files))
        reports, asked = read(feed, file)
        found = tolls(reports, file)
        del reports
        # Copies differ from each other only in their numbers.
        for copy in range(feed.copies):
            vehicle = copy * feed.vehicles
            yield from _told(found, vehicle)
            vid, time, amount = found.charged
            charges.append(key(vid + np.int64(vehicle), time))
            amounts.append(amount)
            requests += [feed.copied(batch, copy) for batch in asked.to_batches()]
            if told:
                told(RECOMPUTING, (number + (copy + 1) / feed.copies) / len(feed.files))
    held = accounts(np.concatenate(charges), np.concatenate(amounts))
    yield from _answers(pa.Table.from_batches(requests, INPUT), held, history)


def _told(found: Tolls, vehicle: int) -> Iterator[Due]:
    vid, time, lav, toll = found.notified
    vid = vid + np.int64(vehicle)
    yield Due(TOLL, key(vid, time), time, ((lav, toll),), vid)
    vid, time, segment = found.alerted
    vid = vid + np.int64(vehicle)
    yield Due(ALERT, key(vid, time), time, ((segment, np.zeros_like(segment)),), vid)


def _answers(requests: pa.Table, held: Accounts, history: PastTolls | None) -> Iterator[Due]:
    types = requests["type"].to_numpy()
    for kind in (BALANCE, EXPENDITURE, TRAVEL):
        rows = np.flatnonzero(types == kind)
        asked = {name: requests[name].to_numpy()[rows].astype(np.int64) for name in INPUT.names}
        qid, time, vid = asked["qid"], asked["time"], asked["vid"]
        _once(kind, qid)
        if kind == BALANCE:
            yield Due(kind, qid, time, ((time, held.balance(vid, time)),), vid, held)
        elif kind == EXPENDITURE:
            yield Due(kind, qid, time, _spent(asked, history), vid)
        else:
            fields = (asked[name] for name in ("xway", "sinit", "send", "dow", "tod"))
            yield Due(kind, qid, time, () if history is None else journeys(history, *fields), vid)


def _spent(asked: Mapping[str, Ints], history: PastTolls | None) -> tuple[tuple[Ints, Ints], ...]:
    if history is None:
        return ()
    spent = history.tolls(asked["vid"], asked["day"], asked["xway"])
    return ((spent, np.zeros_like(spent)),)


def _once(kind: int, qid: Ints) -> None:
    ordered = np.sort(qid)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise RunError(
            f"query {twice[0]} of type {kind} is asked twice, so its answers cannot be told apart;"
            " give every request a number of its own"
        )

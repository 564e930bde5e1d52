"""Due: every answer that a feed requires, computed from its input alone (3.2)."""

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

OnProgress = Callable[[str, float], None]
RECOMPUTING = "recomputing what was due"


@dataclass(frozen=True)
class DueAnswers:
    """Answers of one type that are due, each known by its key: a vehicle at a second, or a query.

    A choice holds the two values that an answer may have: LAV and toll, segment and 0, ResultTime and balance, balance
    and 0, travel time and toll. Any balance that `accounts` allows is right as well. Without a choice the right answer
    is not known, because it is in a history that was not given.
    """

    type: int
    key: Ints
    time: Ints
    choices: tuple[tuple[Numbers, Numbers], ...]
    vid: Ints
    accounts: Accounts | None = None

    def since(self, second: int) -> DueAnswers:
        """The answers to requests from a second on."""
        if not second:
            return self
        rows = np.flatnonzero(self.time >= second)
        choices = tuple((one[rows], other[rows]) for one, other in self.choices)
        return DueAnswers(self.type, self.key[rows], self.time[rows], choices, self.vid[rows], self.accounts)


def due(feed: Feed, history: PastTolls | None = None, on_progress: OnProgress | None = None) -> Iterator[DueAnswers]:
    """What is due, file by file. The answers to requests come last, since an account is charged on all expressways."""
    charges: list[Ints] = [np.empty(0, np.int64)]
    amounts: list[Ints] = [np.empty(0, np.int64)]
    requests: list[pa.Table] = []
    for number, file in enumerate(feed.files):
        if on_progress:
            on_progress(RECOMPUTING, number / len(feed.files))
        reports, file_requests = read(feed, file)
        file_tolls = tolls(reports, file)
        del reports
        requests.append(file_requests)
        # Copies differ from each other only in their numbers.
        for copy in range(feed.copies):
            vehicle = copy * feed.vehicles
            yield from _notifications(file_tolls, vehicle)
            vid, time, amount = file_tolls.charged
            charges.append(key(vid + np.int64(vehicle), time))
            amounts.append(amount)
            if on_progress:
                on_progress(RECOMPUTING, (number + (copy + 1) / feed.copies) / len(feed.files))
    all_accounts = accounts(np.concatenate(charges), np.concatenate(amounts))
    yield from _request_answers(feed, pa.concat_tables(requests), all_accounts, history)


def _notifications(file_tolls: Tolls, vehicle: int) -> Iterator[DueAnswers]:
    vid, time, lav, toll = file_tolls.notified
    vid = vid + np.int64(vehicle)
    yield DueAnswers(TOLL, key(vid, time), time, ((lav, toll),), vid)
    vid, time, segment = file_tolls.alerted
    vid = vid + np.int64(vehicle)
    yield DueAnswers(ALERT, key(vid, time), time, ((segment, np.zeros_like(segment)),), vid)


def _request_answers(
    feed: Feed, requests: pa.Table, all_accounts: Accounts, history: PastTolls | None
) -> Iterator[DueAnswers]:
    """The answers to the requests of all files, type by type, and copy by copy: there may be very many of them."""
    types = requests["type"].to_numpy()
    for kind in (BALANCE, EXPENDITURE, TRAVEL):
        of_kind = requests.take(np.flatnonzero(types == kind)).combine_chunks()
        _check_unique(kind, feed, of_kind["qid"].to_numpy().astype(np.int64))
        (batch,) = of_kind.to_batches() or [pa.RecordBatch.from_pylist([], schema=INPUT)]
        first: DueAnswers | None = None
        for copy in range(feed.copies):
            copied = feed.as_copy(batch, copy)
            columns = {name: copied[name].to_numpy().astype(np.int64) for name in INPUT.names}
            if first is None or kind != TRAVEL or not _same_weeks(history, columns["xway"], copy * feed.xways):
                answers = _answers(kind, columns, all_accounts, history)
                first = first or answers
            else:
                answers = DueAnswers(kind, columns["qid"], columns["time"], first.choices, columns["vid"])
            yield answers


def _answers(kind: int, columns: Mapping[str, Ints], all_accounts: Accounts, history: PastTolls | None) -> DueAnswers:
    qid, time, vid = columns["qid"], columns["time"], columns["vid"]
    if kind == BALANCE:
        return DueAnswers(kind, qid, time, ((time, all_accounts.balance(vid, time)),), vid, all_accounts)
    if kind == EXPENDITURE:
        return DueAnswers(kind, qid, time, _expenditures(columns, history), vid)
    fields = (columns[name] for name in ("xway", "sinit", "send", "dow", "tod"))
    return DueAnswers(kind, qid, time, () if history is None else journeys(history, *fields), vid)


def _same_weeks(history: PastTolls | None, xway: Ints, higher: int) -> bool:
    """Whether the expressways of a copy have the very weeks of those that they copy."""
    if history is None:
        return True
    for number in np.unique(xway[xway >= 0]).tolist():
        weeks = history.weekly(number - higher), history.weekly(number)
        one, other = ([] if each is None else [column.ctypes.data for column in each] for each in weeks)
        if one != other:
            return False
    return True


def _expenditures(columns: Mapping[str, Ints], history: PastTolls | None) -> tuple[tuple[Ints, Ints], ...]:
    if history is None:
        return ()
    spent = history.tolls(columns["vid"], columns["day"], columns["xway"])
    return ((spent, np.zeros_like(spent)),)


def _check_unique(kind: int, feed: Feed, qid: Ints) -> None:
    if feed.copies > 1 and len(qid) and qid.max() >= feed.queries:  # else the numbers of copies are apart
        qid = (qid + feed.queries * np.arange(feed.copies)[:, None]).ravel()
    ordered = np.sort(qid)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise RunError(
            f"query {twice[0]} of type {kind} is asked twice, so its answers cannot be told apart;"
            " give every request a number of its own"
        )

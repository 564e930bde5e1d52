"""Compare: the answers of one type with those that are due."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from australis.apps.linear_road.record import LIMITS, TRAVEL
from australis.apps.linear_road.validation.accounts import STALE
from australis.apps.linear_road.validation.answers import SHOWN, AnswerFile, TypedAnswers, written
from australis.apps.linear_road.validation.arrays import Bools, Floats, Ints
from australis.apps.linear_road.validation.due import Due
from australis.apps.linear_road.validation.verdict import AnswerCounts, Fault
from australis.errors import RunError

_EXACT = 1e-6
"""Seconds that a double may be off."""


class Comparison:
    """The answers of one type, and how those fared that have been compared so far."""

    def __init__(self, kind: int, output: AnswerFile, speed: float) -> None:
        self.answers: TypedAnswers = output.answers[kind]
        self.output, self.speed = output, speed
        changes = self.answers.key[1:] != self.answers.key[:-1]
        self.firsts = np.flatnonzero(np.concatenate([np.ones(min(1, len(self.answers.key)), np.bool_), changes]))
        self.keys = self.answers.key[self.firsts]
        self.asked = np.zeros(len(self.keys), np.bool_)
        self.tally = AnswerCounts(kind)
        self.responses: list[Floats] = []
        self.faults: dict[str, list[Fault]] = {}

    def compare(self, due: Due) -> None:
        """Judge the first answer to each of these questions."""
        place = np.searchsorted(self.keys, due.key)
        found = np.zeros(len(due.key), np.bool_)
        inside = place < len(self.keys)
        found[inside] = self.keys[place[inside]] == due.key[inside]
        place = place[found]
        if self.asked[place].any():
            row = np.flatnonzero(found)[self.asked[place]][0]
            raise RunError(
                f"vehicle {due.vid[row]} reports from two expressways at time {due.time[row]},"
                " so its answers cannot be told apart; leave one of the reports out"
            )
        self.asked[place] = True
        if not due.choices:
            self.tally = replace(
                self.tally, due=self.tally.due + len(found), unchecked=self.tally.unchecked + len(found)
            )
            return

        rows, asked = self.firsts[place], np.flatnonzero(found)
        right = self._right(due, asked, rows)
        response = self.answers.emit[rows] - due.time[asked] / self.speed
        late = response > LIMITS[due.type] + _EXACT
        # Emit may be cut to milliseconds, a time that is divided by the speed not.
        early = self.answers.emit[rows] + _EXACT < np.floor(1000 * due.time[asked] / self.speed) / 1000
        if np.isinf(self.speed):
            late[:] = False
        self.responses.append(response)
        self.tally = replace(
            self.tally,
            due=self.tally.due + len(found),
            right=self.tally.right + int(right.sum()),
            wrong=self.tally.wrong + int((~right).sum()),
            missing=self.tally.missing + int((~found).sum()),
            late=self.tally.late + int(late.sum()),
            early=self.tally.early + int(early.sum()),
        )
        for kind, hit in (("wrong", ~right), ("late", late), ("early", early)):
            for i in np.flatnonzero(hit)[: self._room(kind)]:
                self._show(kind, f"{self._line(rows[i])}: {self._told(kind, due, int(asked[i]), float(response[i]))}")
        for i in np.flatnonzero(~found)[: self._room("missing")]:
            self._show("missing", f"expected {_expected(due, int(i))}")

    def ended(self) -> AnswerCounts:
        """The tally, after all that was due has been compared."""
        repeated = np.diff(np.append(self.firsts, len(self.answers.key)))
        doubled = 0 if self.tally.unchecked else int((repeated[self.asked] - 1).sum())
        unasked = int(repeated[~self.asked].sum())
        for place in np.flatnonzero(self.asked & (repeated > 1))[: SHOWN if doubled else 0]:
            first = self.firsts[place]
            before = self.output.place(int(self.answers.line[first]))
            for row in range(first + 1, first + min(repeated[place], SHOWN + 1)):
                self._show("doubled", f"{self._line(row)}: answered before on {before}")
        for place in np.flatnonzero(~self.asked)[:SHOWN]:
            for row in self.firsts[place] + np.arange(min(repeated[place], SHOWN)):
                self._show("unasked", f"{self._line(row)}: no such answer is due")
        tally = replace(self.tally, doubled=doubled, unasked=unasked)
        times = np.concatenate([np.empty(0), *self.responses])
        if not len(times):
            return tally
        median, p99 = np.quantile(times, (0.5, 0.99))
        return replace(tally, worst=float(times.max()), median=float(median), p99=float(p99))

    def _right(self, due: Due, asked: Ints, rows: Ints) -> Bools:
        first, second = self.answers.first[rows], self.answers.second[rows]
        right: Bools = np.zeros(len(rows), np.bool_)
        if due.accounts is not None:
            right |= due.accounts.allow(due.vid[asked], due.time[asked], first, second)
        else:
            # Whole numbers are less than 1 apart when they are equal; the others may be rounded either way.
            for one, other in due.choices:
                right |= (np.abs(first - one[asked]) < 1) & (np.abs(second - other[asked]) < 1)
        right &= self.answers.time[rows] == due.time[asked]
        return right

    def _told(self, kind: str, due: Due, row: int, response: float) -> str:
        if kind == "wrong":
            return f"expected {_expected(due, row)}"
        asked = f"answered {response:.3f} s after time {due.time[row]}"
        return f"{asked}; {LIMITS[due.type]:g} s are allowed" if kind == "late" else f"{asked}, before it was asked"

    def _line(self, row: int) -> str:
        """An answer, and where it stands."""
        given = self.answers
        known = int(given.key[row])
        vid, qid = (known - int(given.time[row])) >> 32, known
        emit = np.format_float_positional(given.emit[row], trim="-")
        first, second = (f"{value:.12g}" for value in (given.first[row], given.second[row]))
        text = written(given.type, vid, given.time[row], emit, qid, first, second)
        return f"{self.output.place(int(given.line[row]))}: `{text}`"

    def _room(self, kind: str) -> int:
        return SHOWN - len(self.faults.get(kind, ()))

    def _show(self, kind: str, text: str) -> None:
        if self._room(kind) > 0:
            self.faults.setdefault(kind, []).append(Fault(self.answers.type, kind, text))


def _expected(due: Due, row: int) -> str:
    first, second = due.choices[0][0][row], due.choices[0][1][row]
    time = int(due.time[row])
    text = written(due.type, due.vid[row], time, "Emit", due.key[row], f"{first:.12g}", f"{second:.12g}")
    if due.accounts is not None:
        early = time - STALE
        old = due.accounts.balance(due.vid[[row]], np.array([early]))[0]
        return f"`{text}`, or the balance at a ResultTime from {early} on, when it was {old}"
    return f"`{text}`" + (", rounded or not" if due.type == TRAVEL else "")

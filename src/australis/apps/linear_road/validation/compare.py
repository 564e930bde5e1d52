"""Compare: the answers of one type with those that are due."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from australis.apps.linear_road.record import LIMITS, TRAVEL
from australis.apps.linear_road.validation.accounts import STALE
from australis.apps.linear_road.validation.answers import SHOWN, AnswerFile, TypedAnswers, answer_line
from australis.apps.linear_road.validation.arrays import Bools, Floats, Ints
from australis.apps.linear_road.validation.due import DueAnswers
from australis.apps.linear_road.validation.verdict import AnswerCounts, Fault
from australis.errors import RunError

_EXACT = 1e-6
"""The error of a double, in seconds."""


class AnswerComparison:
    """The answers of one type, and the results of comparing them so far."""

    def __init__(self, kind: int, output: AnswerFile, speed: float) -> None:
        self.answers: TypedAnswers = output.answers[kind]
        self.output, self.speed = output, speed
        changes = self.answers.key[1:] != self.answers.key[:-1]
        self.firsts = np.flatnonzero(np.concatenate([np.ones(min(1, len(self.answers.key)), np.bool_), changes]))
        self.keys = self.answers.key[self.firsts]
        self.expected = np.zeros(len(self.keys), np.bool_)
        self.tally = AnswerCounts(kind)
        self.responses: list[Floats] = []
        self.faults: dict[str, list[Fault]] = {}

    def compare(self, due: DueAnswers) -> None:
        """Compare the first answer to each question with what is due."""
        place = np.searchsorted(self.keys, due.key)
        answered = np.zeros(len(due.key), np.bool_)
        inside = place < len(self.keys)
        answered[inside] = self.keys[place[inside]] == due.key[inside]
        place = place[answered]
        if self.expected[place].any():
            row = np.flatnonzero(answered)[self.expected[place]][0]
            raise RunError(
                f"vehicle {due.vid[row]} reports from two expressways at time {due.time[row]},"
                " so its answers cannot be told apart; leave one of the reports out"
            )
        self.expected[place] = True
        if not due.choices:
            self.tally = replace(
                self.tally, due=self.tally.due + len(answered), unchecked=self.tally.unchecked + len(answered)
            )
            return

        rows, asked_rows = self.firsts[place], np.flatnonzero(answered)
        right = self._right(due, asked_rows, rows)
        response = self.answers.emit[rows] - due.time[asked_rows] / self.speed
        late = response > LIMITS[due.type] + _EXACT
        # Emit may be cut to milliseconds, but a time divided by the speed is not.
        early = self.answers.emit[rows] + _EXACT < np.floor(1000 * due.time[asked_rows] / self.speed) / 1000
        if np.isinf(self.speed):
            late[:] = False
        self.responses.append(response)
        self.tally = replace(
            self.tally,
            due=self.tally.due + len(answered),
            right=self.tally.right + int(right.sum()),
            wrong=self.tally.wrong + int((~right).sum()),
            missing=self.tally.missing + int((~answered).sum()),
            late=self.tally.late + int(late.sum()),
            early=self.tally.early + int(early.sum()),
        )
        for kind, hit in (("wrong", ~right), ("late", late), ("early", early)):
            for i in np.flatnonzero(hit)[: self._room(kind)]:
                self._show(
                    kind, f"{self._line(rows[i])}: {self._explain(kind, due, int(asked_rows[i]), float(response[i]))}"
                )
        for i in np.flatnonzero(~answered)[: self._room("missing")]:
            self._show("missing", f"expected {_expected_line(due, int(i))}")

    def finish(self) -> AnswerCounts:
        """The tally, once all that is due has been compared."""
        repeated = np.diff(np.append(self.firsts, len(self.answers.key)))
        doubled = 0 if self.tally.unchecked else int((repeated[self.expected] - 1).sum())
        unasked = int(repeated[~self.expected].sum())
        for place in np.flatnonzero(self.expected & (repeated > 1))[: SHOWN if doubled else 0]:
            first = self.firsts[place]
            before = self.output.place(int(self.answers.line[first]))
            for row in range(first + 1, first + min(repeated[place], SHOWN + 1)):
                self._show("doubled", f"{self._line(row)}: answered before on {before}")
        for place in np.flatnonzero(~self.expected)[:SHOWN]:
            for row in self.firsts[place] + np.arange(min(repeated[place], SHOWN)):
                self._show("unasked", f"{self._line(row)}: no such answer is due")
        tally = replace(self.tally, doubled=doubled, unasked=unasked)
        times = np.concatenate([np.empty(0), *self.responses])
        if not len(times):
            return tally
        median, p99 = np.quantile(times, (0.5, 0.99))
        return replace(tally, worst=float(times.max()), median=float(median), p99=float(p99))

    def _right(self, due: DueAnswers, asked_rows: Ints, rows: Ints) -> Bools:
        first, second = self.answers.first[rows], self.answers.second[rows]
        right: Bools = np.zeros(len(rows), np.bool_)
        if due.accounts is not None:
            right |= due.accounts.allow(due.vid[asked_rows], due.time[asked_rows], first, second)
        else:
            # Whole numbers are less than 1 apart when they are equal; the others may be rounded either way.
            for one, other in due.choices:
                right |= (np.abs(first - one[asked_rows]) < 1) & (np.abs(second - other[asked_rows]) < 1)
        right &= self.answers.time[rows] == due.time[asked_rows]
        return right

    def _explain(self, kind: str, due: DueAnswers, row: int, response: float) -> str:
        if kind == "wrong":
            return f"expected {_expected_line(due, row)}"
        delay = f"answered {response:.3f} s after time {due.time[row]}"
        return f"{delay}; {LIMITS[due.type]:g} s are allowed" if kind == "late" else f"{delay}, before it was asked"

    def _line(self, row: int) -> str:
        """The line of an answer, with its place."""
        answers = self.answers
        number = int(answers.key[row])
        vid, qid = (number - int(answers.time[row])) >> 32, number
        emit = np.format_float_positional(answers.emit[row], trim="-")
        first, second = (f"{value:.12g}" for value in (answers.first[row], answers.second[row]))
        text = answer_line(answers.type, vid, answers.time[row], emit, qid, first, second)
        return f"{self.output.place(int(answers.line[row]))}: `{text}`"

    def _room(self, kind: str) -> int:
        return SHOWN - len(self.faults.get(kind, ()))

    def _show(self, kind: str, text: str) -> None:
        if self._room(kind) > 0:
            self.faults.setdefault(kind, []).append(Fault(self.answers.type, kind, text))


def _expected_line(due: DueAnswers, row: int) -> str:
    first, second = due.choices[0][0][row], due.choices[0][1][row]
    time = int(due.time[row])
    text = answer_line(due.type, due.vid[row], time, "Emit", due.key[row], f"{first:.12g}", f"{second:.12g}")
    if due.accounts is not None:
        early = time - STALE
        old = due.accounts.balance(due.vid[[row]], np.array([early]))[0]
        return f"`{text}`, or the balance at a ResultTime from {early} on, when it was {old}"
    return f"`{text}`" + (", rounded or not" if due.type == TRAVEL else "")

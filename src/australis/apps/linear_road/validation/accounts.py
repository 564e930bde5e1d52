"""Accounts: the tolls that each vehicle has been charged up to any second (table 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from australis.apps.linear_road.validation.arrays import Bools, Ints

STALE = 60
"""How many seconds before its request a balance may have been true."""


def key(vid: Ints, time: Ints) -> Ints:
    """A vehicle at a second, as one number in order of vehicles and of their times."""
    return (vid.astype(np.int64) << 32) + time


@dataclass(frozen=True)
class Accounts:
    """Charges in order of vehicles and of their times, and their running total, from nothing to all."""

    charges: Ints
    total: Ints

    def balance(self, vid: Ints, time: Ints) -> Ints:
        """What the vehicles have been charged at reports up to and including the times."""
        return self._total(vid, time) - self._total(vid, np.full_like(vid, -1))

    def allow(self, vid: Ints, time: Ints, result_time: Ints, balance: Ints) -> Bools:
        """Whether the balances were true at the result times, and these are recent enough for requests at the times.

        A charge of the very second may be in or not: nothing says which of two tuples of one second comes first.
        """
        after, before = self.balance(vid, result_time), self.balance(vid, result_time - 1)
        right: Bools = (time - STALE <= result_time) & (result_time <= time)
        right &= (balance == after) | (balance == before)
        return right

    def _total(self, vid: Ints, time: Ints) -> Ints:
        return self.total[np.searchsorted(self.charges, key(vid, np.maximum(time, -1)), side="right")]


def accounts(charges: Ints, amounts: Ints) -> Accounts:
    """The accounts after charges (see `key`) in any order."""
    order = np.argsort(charges, kind="stable")
    return Accounts(charges[order], np.concatenate([[0], np.cumsum(amounts[order], dtype=np.int64)]))

"""Accounts: what vehicles have been charged up to any second."""

import numpy as np
import pytest

from australis.apps.linear_road.validation.accounts import accounts, key

VID, TIME, TOLL = np.array([2, 1, 2, 1]), np.array([90, 60, 30, 60]), np.array([5, 7, 3, 1])


def balances(vid: list[int], time: list[int]) -> list[int]:
    return accounts(key(VID, TIME), TOLL).balance(np.array(vid), np.array(time)).tolist()


def test_a_balance_is_what_was_charged_up_to_the_second() -> None:
    for vid in range(4):
        for time in (-60, -1, 0, 29, 30, 60, 89, 90, 2**31 - 1):
            charged = zip(VID, TIME, TOLL, strict=True)
            assert balances([vid], [time]) == [sum(toll for who, at, toll in charged if who == vid and at <= time)]


def test_without_charges_nobody_owes_anything() -> None:
    none = np.empty(0, np.int64)
    assert accounts(none, none).balance(np.array([1]), np.array([99])).tolist() == [0]


@pytest.mark.parametrize(
    ("time", "result_time", "balance", "right"),
    [
        (100, 100, 8, True), (100, 90, 8, True), (100, 90, 3, True), (100, 90, 5, False), (100, 89, 3, True),
        (100, 40, 3, True), (100, 39, 3, False), (100, 101, 8, False), (0, -60, 0, True), (0, -61, 0, False),
    ],
)  # fmt: skip
def test_a_balance_may_be_a_minute_old(time: int, result_time: int, balance: int, right: bool) -> None:
    given = accounts(key(VID, TIME), TOLL)
    found = given.allow(*(np.array([each]) for each in (2, time, result_time, balance)))
    assert found.tolist() == [right]


def test_keys_are_in_order_of_vehicles_and_then_of_times() -> None:
    most = 2**31 - 1
    pairs = [(0, -1), (0, 0), (0, most), (1, 0), (most, most)]
    keys = key(*(np.array(column) for column in zip(*pairs, strict=True))).tolist()
    assert keys == sorted(set(keys))

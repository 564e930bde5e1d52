"""Placements: where each object is from which report to which."""

import math
from typing import Any

import numpy as np
import pyarrow as pa

from australis.boxes.moving import objects
from australis.boxes.moving.placements import Placements, PlaceReports, placements, sequences
from australis.model.table import Table

MOST = 2**63 - 1


def known() -> tuple[Table, Any]:
    """A table with two objects at x = 1 and 2, of the times 0 and 10."""
    table = objects.table(pa.field("id", pa.int64()), (), pa.int64())
    slots = table.find([pa.array([70, 80])], 2)
    assert slots.tolist() == [0, 1]
    table[objects.X][slots], table[objects.TIME][slots] = [1.0, 2.0], [0, 10]
    return table, table.alive.copy()


def reports(*told: tuple[int, int, float | None, int]) -> PlaceReports:
    """Of slots, at moments, with x (none is no place) and times."""
    slots, moments, x, time = (list(each) for each in zip(*told, strict=True)) if told else ([], [], [], [])
    placed = np.array([each is not None for each in x], bool)
    numbers = np.array([math.nan if each is None else each for each in x], float)
    zero = np.zeros(len(told))
    return PlaceReports(
        np.array(slots, np.int64), np.array(moments, np.int64), np.arange(len(told)), numbers, zero,
        zero.astype(np.int64), np.array(time, np.int64), placed,
    )  # fmt: skip


def listed(placed: Placements) -> list[tuple[int, int, int, float | None]]:
    """Slot, from when, until when, and x."""
    x = [None if math.isnan(each) else each for each in placed.points.x]
    return list(zip(placed.slots.tolist(), placed.since.tolist(), placed.until.tolist(), x, strict=True))


def test_an_object_is_where_it_last_reported() -> None:
    table, there = known()
    told = reports((0, 0, 5.0, 1), (0, 0, 6.0, 1), (0, 2, None, 1))
    placed = placements(table, there, told, 3, None, None)
    assert listed(placed) == [(0, -1, 0, 1.0), (0, 0, 2, 6.0), (0, 2, 3, None)]
    assert placed.row.tolist() == [-1, 1, 1]  # who is nowhere carries what it did before
    assert (placed.before.tolist(), placed.after.tolist()) == ([-1, 0, 1], [1, 2, -1])
    assert placed.points.id.tolist() == [70] * 3


def test_who_is_silent_for_too_long_is_nowhere() -> None:
    table, there = known()
    placed = placements(table, there, reports(), 3, np.array([5, 6, 11]), 5)
    assert listed(placed) == [(0, -1, 1, 1.0), (0, 1, 3, None)]  # at 6 the time 0 is past; 10 is not yet at 11
    endless = placements(table, there, reports(), 1, np.array([MOST]), MOST)
    assert listed(endless) == []


def test_who_reports_a_time_that_is_past_is_nowhere_from_then_on() -> None:
    table, there = known()
    placed = placements(table, there, reports((1, 1, 9.0, 2)), 2, np.array([10, 10]), 5)
    assert listed(placed) == [(0, -1, 0, 1.0), (0, 0, 2, None), (1, -1, 1, 2.0), (1, 1, 2, None)]


def test_values_that_are_told_are_placements() -> None:
    held, slots, moments = np.array([2, 4]), np.array([4, 4, 2]), np.array([0, 0, 1])
    placed = sequences(held, np.array([0.5, np.nan]), np.array([20, 40]), slots, moments, np.array([1, 2, 3.0]), 2)
    assert listed(placed) == [(2, -1, 1, 0.5), (2, 1, 2, 3.0), (4, -1, 0, None), (4, 0, 2, 2.0)]
    assert placed.points.id.tolist() == [20, 20, 40, 40]
    assert placed.row.tolist() == [-1, 2, -1, 1]

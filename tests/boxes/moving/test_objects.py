"""Objects as a stream: which reports have a place, a time and an identifier."""

import math
from typing import Any

import numpy as np
import pytest

from australis.arrow.schema import schema
from australis.boxes.moving import objects
from australis.expressions import expr
from australis.testing import train

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("x", "y", "plane", "earth"),
    [
        (0.0, -0.0, True, True),
        (180.0, -90.0, True, True),
        (180.5, 0.0, True, False),
        (0.0, 90.5, True, False),
        (1.7e308, 0.0, True, False),
        (INF, 0.0, False, False),
        (0.0, -INF, False, False),
        (NAN, 0.0, False, False),
        (None, 0.0, True, True),  # no place at all: it goes
        (None, NAN, False, False),
    ],
)
def test_places_that_can_be(x: float | None, y: float, plane: bool, earth: bool) -> None:
    reports = train("x double, y double", x=[0.0, x], y=[0.0, y])
    for on_earth, fits in ((False, plane), (True, earth)):
        found = objects.possible(reports, "x", "y", on_earth)
        assert ([True, True] if found is None else found.tolist()) == [True, fits]


def test_a_report_counts_with_a_place_and_a_time() -> None:
    reports = train("x int, y double, time bigint", x=[1, None, 3, 4], y=[NAN, 1, 1, 1], time=[1, 1, None, -(2**63)])
    columns, placed = objects.columns(reports, "x", "y", "time", ())
    assert placed.tolist() == [False, False, False, True]
    assert objects.columns(reports, "x", "y", None, ())[1].tolist() == [False, False, True, True]
    assert columns[objects.TIME][3] == -(2**63)
    times, timed = objects.times(reports, None)
    assert (times.tolist(), timed.tolist()) == ([0] * 4, [True] * 4)


def test_each_condition_has_a_bit() -> None:
    reports = train("a int", a=[0, 1, 2, None])
    conditions = [expr(text).bind(schema("a int")) for text in ("a > 0", "a > 1", "a is null")]
    assert objects.masks(reports, conditions).tolist() == [0, 1, 3, 4]
    assert objects.masks(reports, []).tolist() == [0] * 4


def test_rows_without_an_identifier_are_nobodys() -> None:
    for ids, rows, wide in (([], [], []), ([7, -1], [0, 1], [7, -1]), ([None, 5, None], [1], [-1, 5, -1])):
        reports = train("id bigint", id=ids)
        assert objects.named(reports, "id").tolist() == rows
        assert objects.identifiers(reports, "id").tolist() == wide


@pytest.mark.parametrize("slots", [[], [3], [1, 1, 1], [2, 0, 2, 1, 0]])
def test_the_last_row_of_each_slot(slots: list[int]) -> None:
    last: dict[Any, int] = {slot: row for row, slot in enumerate(slots)}
    assert sorted(objects.latest(np.array(slots, np.int64), 4).tolist()) == sorted(last.values())


def test_new_slots_have_no_flag() -> None:
    assert objects.padded(np.array([True, False]), 4).tolist() == [True, False, False, False]
    assert objects.padded(np.empty(0, bool), 0).tolist() == []


def test_who_came_within_the_step_leaves_no_trace() -> None:
    table = objects.table(schema("id int").field("id"), (), schema("t bigint").field("t").type)
    stored = table.alive.copy()
    slots = table.find([train("id int", id=[4, 5])["id"]], 2)
    objects.forget(table, slots[:1], stored, np.zeros(len(stored), bool))
    assert len(table) == 1
    assert table.touched[slots].tolist() == [False, True]

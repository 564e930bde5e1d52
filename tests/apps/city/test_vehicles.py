"""The state of objects on the roads."""

import numpy as np
import pytest

from australis.apps.city.vehicles import CLASSES, FASTEST, part, vehicles


def test_none_has_begun() -> None:
    assert vehicles(3).number.tolist() == [-1] * 3
    assert vehicles(3).made.tolist() == [0]
    assert len(vehicles(0).number) == 0


def test_what_changes_in_a_part_changes_in_the_whole() -> None:
    every = vehicles(4)
    some = part(every, 1, 3)
    some.along[:], some.made[0] = [7.0, 8.0], 5
    assert every.along.tolist() == [0.0, 7.0, 8.0, 0.0]
    assert every.made.tolist() == [5]
    assert all(np.shares_memory(mine, whole) for mine, whole in zip(some, every, strict=True))


def test_the_classes_are_all_objects_and_none_is_faster_than_the_fastest() -> None:
    assert sum(each.share for each in CLASSES) == pytest.approx(1)
    assert all(each.speed / 3.6 < FASTEST for each in CLASSES)

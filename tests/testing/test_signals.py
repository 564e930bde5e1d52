"""Trains with columns of segments, from Python values."""

import numpy as np

from australis.arrow.schema import schema
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.testing.signals import signal


def test_tuples_are_numbered_from_the_first_and_stamped_by_their_numbers() -> None:
    sound = segment([0.5, -1.0], timebase(8), dtype="float64")
    train = signal("mic int, sound segment<float64>", first=7, mic=[1, None], sound=[sound, None])
    assert train.tuples.schema == schema("mic int, sound segment<float64>")
    assert train.tuples["mic"].to_pylist() == [1, None]
    assert train.tuples["sound"].is_null().to_pylist() == [False, True]
    assert (train.number.tolist(), train.ts.tolist()) == ([7, 8], [7, 8])


def test_numbers_and_stamps_may_be_given() -> None:
    train = signal("mic int", number=[3, 2**62], ts=[-1, 0], mic=[1, 2])
    assert (train.number.tolist(), train.ts.tolist()) == ([3, 2**62], [-1, 0])
    assert train.ts.dtype == np.int64

"""Which samples of several channels lie at the same times."""

from typing import Any

import numpy as np
import pytest

from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.boxes.signals.zip import Zip
from australis.errors import RunError
from australis.testing import Cut, apply
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, run


@pytest.mark.parametrize("phase", ["1/32", "-1/32", "1/17", 3, "-1000001/16"])
def test_samples_go_with_the_nearest_in_time(phase: Any) -> None:
    one, two = timebase(8), timebase(8, phase)
    a = segment(np.arange(100), one, 0, dtype="int16")
    b = segment(np.arange(30), two, two.first(one.time(20)), dtype="int16")
    out_, *_ = apply(Zip(), signal("a segment<int16>", a=[a]), signal("b segment<int16>", b=[b]))
    ((left, right),) = [(row["a"], row["b"]) for row in out_.tuples.to_pylist()]
    assert len(left["samples"]) == 30
    assert abs(one.time(left["start"]) - two.time(right["start"])) * 8 <= 0.5


def test_signals_that_change_their_rate_together_go_on_and_nothing_is_held_of_the_past() -> None:
    box = Zip()
    slow, fast = timebase(8), timebase(16)
    a = signal("a segment<int16>", a=[segment(np.arange(80), slow, 0, dtype="int16"),
                                      segment(np.arange(40), fast, 160, dtype="int16")])  # fmt: skip
    b = signal("b segment<int16>", b=[segment(np.arange(60), slow, 0, dtype="int16"),
                                      segment(np.arange(32), fast, 160, dtype="int16")])  # fmt: skip
    tables = box.tables(a.schema, b.schema)
    out_, *_ = apply(box, a, b, tables=tables)
    found = [(row["a"]["start"], len(row["a"]["samples"])) for row in out_.tuples.to_pylist()]
    assert found == [(0, 60), (160, 32)]
    sizes = [[len(blob) // 2 for blob in tables[name]["#samples"][tables[name].slots]] for name in ("held_0", "held_1")]
    assert sizes == [[8], []]


@pytest.mark.parametrize("cut", [Cut(()), SINGLY])
def test_signals_of_different_rates_are_told(cut: Cut) -> None:
    a = signal("a segment<int16>", a=[segment(np.arange(80), timebase(8), 0, dtype="int16")])
    b = signal("b segment<int16>", b=[segment(np.arange(100), timebase(12), 0, dtype="int16")])
    with pytest.raises(RunError, match=r"`a` has 8 .* and `b` 12 at the same time: .* rerate\(2, 3\) of `b`.*`by`"):
        run(Zip(), [a, b], cut)

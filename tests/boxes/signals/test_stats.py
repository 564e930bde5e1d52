"""Stats, Transform and Wavelet: each tuple with more of its segment."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.segments import segment
from australis.boxes.signals.stats import Stats
from australis.boxes.signals.timebases import timebase
from australis.boxes.signals.transform import Transform
from australis.boxes.signals.wavelet import Wavelet
from australis.errors import AustralisError
from australis.model.train import Train
from australis.testing import Cut, apply, cuts, rows
from australis.testing.signals import signal
from tests.oracles.running import in_any_order, partitioned, run

BASE = timebase(8)
REAL = ["int16", "int32", "float32", "float64"]
LISTS = st.lists(st.none() | st.lists(st.integers(-1000, 1000), max_size=12), max_size=8)
NAMES = ("mean", "sum", "std", "var", "rms", "energy", "min", "max", "peak", "peak_at", "trimpeak(0.3)", "band(1, 2)")


def train_of(lists: list[list[int] | None], dtype: str = "int16") -> Train:
    made = [None if each is None else segment(each, BASE, 5 + at, dtype=dtype) for at, each in enumerate(lists)]
    return signal(f"audio segment<{dtype}>", audio=made)


def oracle(at: int, values: list[int]) -> list[float | None]:
    if not values:
        return [None] * len(NAMES)
    mean = math.fsum(values) / len(values)
    sizes = [abs(value) for value in values]
    var = math.fsum((value - mean) ** 2 for value in values) / len(values)
    energy = math.fsum(value**2 for value in values)
    trimmed = sorted(sizes)[len(sizes) - 1 - int(0.3 * len(sizes))]
    return [mean, sum(values), math.sqrt(var), var, math.sqrt(energy / len(values)), energy, min(values), max(values),
            max(sizes), 5 + at + sizes.index(max(sizes)), trimmed, sum(sizes[1:3]) if sizes[1:] else None]  # fmt: skip


@given(LISTS, st.sampled_from(REAL))
def test_statistics_agree_with_their_oracle(lists: list[list[int] | None], dtype: str) -> None:
    box = Stats(tuple((f"c{place}", name) for place, name in enumerate(NAMES)))
    got = [row[1:] for row in rows(apply(box, train_of(lists, dtype))[0])]
    for at, (each, row) in enumerate(zip(lists, got, strict=True)):
        for found, wanted in zip(row, oracle(at, each or []), strict=True):
            assert found == (None if wanted is None else pytest.approx(wanted, rel=1e-9, abs=1e-9))


BOXES = [
    Stats((("s", "std"), ("t", "trimpeak"))),
    Transform(("hann", "fft"), into="spectrum"),
    Transform(("center", "abs", "int16")),
    Wavelet(2),
    Wavelet(1, "db2"),
]


@given(LISTS, cuts(), st.sampled_from(BOXES))
def test_cuts_change_nothing(lists: list[list[int] | None], cut: Cut, box: Any) -> None:
    assert run(box, [train_of(lists)], cut) == run(box, [train_of(lists)])


@given(LISTS, st.integers(1, 3), st.sampled_from(BOXES))
def test_any_partitioning_does(lists: list[list[int] | None], partitions: int, box: Any) -> None:
    train = train_of(lists)
    assert box.keys(train.schema) is None
    assert partitioned(box, [train], partitions) == (in_any_order(run(box, [train])[0]),)


@pytest.mark.parametrize(
    ("box", "stream", "message"),
    [
        (Stats(()), "a segment<int16>", "at least one"),
        (Stats((("s", "stdd"),)), "a segment<int16>", "no statistic `stdd`; did you mean `std`"),
        (Stats((("a", "std"),)), "a segment<int16>", "`a` already"),
        (Stats((("s", "band(3)"),)), "a segment<int16>", "1 arguments, not 2"),
        (Stats((("s", "band(x, 3)"),)), "a segment<int16>", "numbers"),
        (Stats((("s", "band(3, 4, 1)"),)), "a segment<int16>", r"band\(3, 4, ...\) has 2 bins and 1 weights"),
        (Stats((("s", "band(3, 4, 1, inf)"),)), "a segment<int16>", "a finite number for each bin"),
        (Stats((("s", "extreme(0)"),)), "a segment<int16>", "from 1 to 1000, in whole numbers, not 0"),
        (Stats((("s", "extreme(1.5)"),)), "a segment<int16>", "in whole numbers, not 1.5"),
        (Stats((("s", "extreme(nan)"),)), "a segment<int16>", "in whole numbers, not nan"),
        (Transform(()), "a segment<int16>", "at least one step"),
        (Transform(("fft", "hann")), "a segment<int16>", "`hann` takes real samples.*complex64"),
        (Transform(("ifft",)), "a segment<int16>", "`ifft` takes complex"),
        (Transform(("kaiser",)), "a segment<int16>", "0 arguments, not 1"),
        (Wavelet(0), "a segment<int16>", "1 to 30"),
        (Wavelet(2, "harr"), "a segment<int16>", "did you mean `haar`"),
        (Wavelet(2), "a segment<complex64>", "real samples"),
        (Wavelet(2), "a segment<int16>, d1 int", "`d1` already"),
    ],
)
def test_what_does_not_fit_is_refused(box: Any, stream: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(stream))


def test_the_count_of_a_segment_without_samples_does_not_depend_on_those_beside_it() -> None:
    box = Stats((("count", "count"), ("start", "start"), ("rate", "rate"), ("seconds", "seconds"), ("end", "end")))
    for beside in ([], [None], [[1]]):
        assert rows(apply(box, train_of([[], *beside]))[0])[0][1:] == (0, 5, 8.0, 0.625, None)

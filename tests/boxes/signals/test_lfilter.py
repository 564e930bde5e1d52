"""Lfilter: the filter of a whole signal, however it is cut."""

import numpy as np
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.boxes.signals.lfilter import Lfilter
from australis.boxes.signals.rewindow import Rewindow
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.errors import NetworkError
from australis.testing import Cut, apply, cuts
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import SCHEMA, Came, in_runs, late, news, outs, signals, train_of

IIR = tuple(map(tuple, scipy.signal.butter(3, 0.2)))
FILTERS = st.sampled_from([((0.25, 0.5, 0.25), (1.0,)), IIR, ((2.0,), (4.0,)), ((1.0,), (2.0, -1.0))])


def oracle(stream: list[Came], b: tuple[float, ...], a: tuple[float, ...]) -> list[list[float] | None]:
    """What scipy makes of each run of samples that are new, cut as they came."""
    filtered: dict[tuple[int | None, int], list[float]] = {}
    for key, samples in news(stream).items():
        for one in in_runs(samples):
            made = scipy.signal.lfilter(b, a, [float(each.value) for each in one])
            for sample, value in zip(one, made.tolist(), strict=True):
                filtered.setdefault((key, sample.number), []).append(value)
    return [None if came.audio is None else filtered.get((came.key, came.number), []) for came in stream]


@given(signals(steps=(1,)), FILTERS, st.just(SINGLY) | cuts(), st.booleans())
def test_it_is_scipys_filter_of_the_whole_signal(
    stream: list[Came], coefficients: tuple[tuple[float, ...], ...], cut: Cut, restart: bool
) -> None:
    box, whole = Lfilter(*coefficients, ("k",)), train_of(stream)
    got, back = run(box, [whole], cut, restart=restart)
    assert (got, back) == run(box, [whole])
    assert back == outs(late(stream))
    kept = [each for each in stream if each not in late(stream)]
    assert [(ts, number) for _, ts, number in got] == [(each.ts, each.number) for each in kept]
    for ((_, audio), *_), wanted in zip(got, oracle(kept, *coefficients), strict=True):
        assert (audio is None) == (wanted is None)
        if audio is not None and wanted is not None:
            np.testing.assert_allclose(audio["samples"], wanted, rtol=1e-5, atol=1e-3)


@given(signals(keys=4), st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(stream: list[Came], partitions: int) -> None:
    box, whole = Lfilter(*IIR, ("k",)), train_of(stream)
    assert partitioned(box, [whole], partitions) == tuple(map(in_any_order, run(box, [whole])))


def test_wide_samples_are_filtered_exactly_as_scipy_does() -> None:
    values = np.random.default_rng(1).normal(size=1000)
    sound = segment(values, timebase(8))
    train = signal("audio segment<float64>", audio=[sound[:100], sound[100:101], sound[101:]])
    got, _ = run(Lfilter(*IIR), [train], SINGLY)
    found = np.concatenate([audio["samples"] for (audio,), *_ in got])
    np.testing.assert_allclose(found, scipy.signal.lfilter(*IIR, values), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("box", "stream", "message"),
    [
        (Lfilter(()), SCHEMA, "coefficients"),
        (Lfilter((1.0,), (0.0, 1.0)), SCHEMA, "not 0"),
        (Lfilter((float("nan"),)), SCHEMA, "finite"),
        (Lfilter((1.0,)), "a segment<complex64>", "real"),
    ],
)
def test_what_does_not_fit_is_refused(box: Lfilter, stream: str, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        box.outputs(schema(stream))


@pytest.mark.parametrize("coefficients", [((0.25, 0.5, 0.25), (1.0,)), IIR])
@pytest.mark.parametrize("overlap", [1, 3])
def test_windows_that_overlap_are_filtered_as_the_signal_they_were_cut_from(
    coefficients: tuple[tuple[float, ...], ...], overlap: int
) -> None:
    values = np.random.default_rng(1).normal(size=100)
    train = signal("audio segment<float64>", audio=[segment(values, timebase(8))])
    windows, _ = apply(Rewindow(4, -overlap), train)
    got, back = run(Lfilter(*coefficients), [windows], SINGLY)
    assert not back
    found = np.concatenate([audio["samples"] for (audio,), *_ in got])
    np.testing.assert_allclose(found, scipy.signal.lfilter(*coefficients, values)[: len(found)], rtol=1e-12, atol=1e-14)
    assert len(found) == segments(windows["audio"]).stop.max()
    assert [audio["start"] for (audio,), *_ in got][:3] == [0, 4, 8 - overlap]

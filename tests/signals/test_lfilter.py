"""Lfilter: the filter of a whole signal, however it is cut."""

import numpy as np
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import NetworkError
from australis.schema import schema
from australis.signals.lfilter import Lfilter
from australis.signals.segment import segment
from australis.signals.testing import signal
from australis.signals.timebase import timebase
from australis.testing import Cut, cuts
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import SCHEMA, Came, signals, train_of

IIR = tuple(map(tuple, scipy.signal.butter(3, 0.2)))
FILTERS = st.sampled_from([((0.25, 0.5, 0.25), (1.0,)), IIR, ((2.0,), (4.0,)), ((1.0,), (2.0, -1.0))])


def oracle(stream: list[Came], b: tuple[float, ...], a: tuple[float, ...]) -> list[list[float] | None]:
    """What scipy makes of each run of segments that go on, cut as they were."""
    made: list[list[float] | None] = []
    past: dict[int | None, list[float]] = {}
    last: dict[int | None, tuple[object, int]] = {}
    for key, audio, *_ in stream:
        if audio is None or not len(audio):
            made.append(None if audio is None else [])
            continue
        if last.get(key) != (audio.timebase, audio.start):
            past[key] = []
        last[key] = (audio.timebase, audio.stop)
        past[key] += np.asarray(audio, np.float64).tolist()
        made.append(scipy.signal.lfilter(b, a, past[key])[-len(audio) :].tolist())
    return made


@given(signals(), FILTERS, st.just(SINGLY) | cuts(), st.booleans())
def test_it_is_scipys_filter_of_the_whole_signal(
    stream: list[Came], coefficients: tuple[tuple[float, ...], ...], cut: Cut, restart: bool
) -> None:
    box, whole = Lfilter(*coefficients, ("k",)), train_of(stream)
    (got,) = run(box, [whole], cut, restart=restart)
    assert got == run(box, [whole])[0]
    assert [(ts, number) for _, ts, number in got] == [(each.ts, each.number) for each in stream]
    for ((_, audio), *_), wanted in zip(got, oracle(stream, *coefficients), strict=True):
        assert (audio is None) == (wanted is None)
        if audio is not None and wanted is not None:
            np.testing.assert_allclose(audio["samples"], wanted, rtol=1e-5, atol=1e-3)


@given(signals(keys=4), st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(stream: list[Came], partitions: int) -> None:
    box, whole = Lfilter(*IIR, ("k",)), train_of(stream)
    assert partitioned(box, [whole], partitions) == (in_any_order(run(box, [whole])[0]),)


def test_wide_samples_are_filtered_exactly_as_scipy_does() -> None:
    values = np.random.default_rng(1).normal(size=1000)
    sound = segment(values, timebase(8))
    train = signal("audio segment<float64>", audio=[sound[:100], sound[100:101], sound[101:]])
    (got,) = run(Lfilter(*IIR), [train], SINGLY)
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

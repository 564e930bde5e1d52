"""Signals among the boxes of Aurora: filters, joins and aggregates beside segments, and spectrograms."""

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.boxes.signals.column import column, segments
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.testing import rows

SITES: dict[str, Any] = {"site": pa.array([1, 2, 3], pa.int32()), "name": ["north", "south", "east"]}


@au.function("double", name="crest")
def crest(volts: Any) -> Any:
    return np.abs(volts).max(axis=1) / np.sqrt(np.square(volts).mean(axis=1))


def mixed() -> au.Network:
    """Readings become windows, whose numbers are filtered, joined and aggregated, and tell what to cut out."""
    readings = au.stream("readings", "site int, at bigint, volts double")
    sites = au.static("sites", "site int, name string")
    windows = readings.signal.window("volts", "at", 8, 100, by="site")
    level = windows.signal.stats("rms", "start", "end").signal.apply(crest="crest(volts)")
    loud = level.filter("rms > 0.5 and site != 2")
    named = loud.join(sites, "left.site = right.site", on=["start", None])
    slower = windows.signal.rerate(1, 2, by="site").map(site="site", slow="volts")
    events = level.signal.trigger(0.8, 0.4, on="rms", by="site", longest=16).signal.sync(windows, by="site")
    return au.network(
        named=named.map(name="name", start="start", crest="round(crest, 9)", volts="volts"),
        levels=loud.aggregate(on="start", size=32, by="site", n="count(*)", level="sum(round(rms, 6))"),
        events=events,
        both=windows.signal.zip(windows.map(site="site", again="volts"), by="site", size=16).signal.correlate(
            "again", "volts"
        ),
        slower=slower.signal.rewindow(4, by="site"),
    )


def readings(count: int) -> pa.RecordBatch:
    """Three sites in turn, each a tone that swells, with a gap."""
    at = [place + (5 if place > count // 2 else 0) for place in range(count)]
    site, when = np.array(list(product((1, 2, 3), at))).reshape(3, -1, 2).transpose(1, 0, 2).reshape(-1, 2).T
    volts = np.sin(when * site) * (1 + np.sin(when / 9))
    return pa.record_batch({"site": pa.array(site.astype(np.int32)), "at": pa.array(when), "volts": pa.array(volts)})


@pytest.mark.slow
@pytest.mark.parametrize("train", [1, 7, 10_000])
def test_filters_joins_and_aggregates_work_beside_segments(train: int) -> None:
    given_ = readings(100)
    found = mixed().run_local(readings=given_, sites=SITES, train=train)
    values: dict[int, dict[int, float]] = {site: {} for site in (1, 2, 3)}
    for site, at, volts in rows(given_):
        values[site][at] = volts
    named: list[Any] = []
    levels: dict[Any, list[float]] = {}
    windows = []
    for site, samples in values.items():
        for run in ([at for at in samples if at <= 50], [at for at in samples if at > 50]):
            cut = [run[low : low + 8] for low in range(0, len(run), 8)]
            windows += [(site, each, [samples[at] for at in each]) for each in cut]
    for site, at, volts in windows:
        rms = float(np.sqrt(np.mean(np.square(volts))))
        if rms > 0.5 and site != 2:
            named.append((SITES["name"][site - 1], at[0], round(max(map(abs, volts)) / rms, 9)))
            level = levels.setdefault((site, at[0] // 32 * 32), [0, 0.0])
            level[0], level[1] = level[0] + 1, level[1] + round(rms, 6)
    assert sorted(row[:3] for row in rows(found["named"])) == sorted(named)
    got = {(row[1], row[0]): row[2:] for row in rows(found["levels"])}
    assert {key: (n, pytest.approx(total)) for key, (n, total) in levels.items()} == got
    assert found["events"].num_rows
    assert all(row[-1] == 0 for row in rows(found["both"]))
    assert found["slower"].num_rows


@given(st.integers(2, 9), st.integers(0, 5), st.sampled_from(["hann", "hamming", ""]), st.integers(0, 60))
def test_a_spectrogram_is_scipys_short_time_fourier_transform(size: int, overlap: int, window: str, count: int) -> None:
    overlap = min(overlap, size - 1)
    values = np.random.default_rng(count).normal(size=count)
    sound = segment(values, timebase(8))
    audio = au.stream("audio", "audio segment<float64>")
    net = au.network(out=audio.signal.spectrogram(size, overlap, window, scale=""))
    out = net.run_local(audio={"audio": column([sound[: count // 3], sound[count // 3 :]], "float64")})["out"]
    found = segments(out.column("spectrum").combine_chunks()).values() if out.num_rows else []
    shape = scipy.signal.get_window(window or "boxcar", size)
    starts = range(0, count - size + 1, size - overlap)
    assert len(found) == len(starts)
    for start, each in zip(starts, found, strict=True):
        assert each is not None
        assert each.timebase.frequency == size / timebase(8).frequency
        wanted = np.fft.rfft(values[start : start + size] * shape)
        np.testing.assert_allclose(np.asarray(each), wanted, rtol=1e-5, atol=1e-5)


def test_a_spectrogram_agrees_with_scipy_on_a_long_signal() -> None:
    values = np.random.default_rng(0).normal(size=10_000)
    audio = au.stream("audio", "audio segment<float64>")
    net = au.network(out=audio.signal.spectrogram(256, 192, scale="power"))
    out = net.run_local(audio={"audio": column([segment(values, timebase(48_000))], "float64")})["out"]
    found = np.stack([np.asarray(each) for each in segments(out.column("spectrum").combine_chunks()).values()])
    shape = scipy.signal.get_window("hann", 256)
    transform = scipy.signal.ShortTimeFFT(shape, 64, 48_000, scale_to=None)
    wanted = np.abs(transform.stft(values, p0=2, p1=2 + len(found))) ** 2
    np.testing.assert_allclose(found, wanted.T, rtol=1e-3, atol=1e-3)


def test_a_segment_shows_itself() -> None:
    sound = segment(np.sin(np.arange(48_000) / 100), timebase(48_000))
    shape, _, told = repr(sound).removeprefix("<segment ").partition(" ")
    assert (len(shape), set(shape)) == (32, {"█", "▇"})
    assert told == "48,000 float64 from 0, 48,000 Hz, 1 s>"
    assert "48,000 Hz, 1 s" in sound._repr_html_()

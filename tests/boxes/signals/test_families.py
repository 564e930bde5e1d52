"""Facts: networks that would mix signals, or look where there is nothing, are refused when they are built."""

from typing import Any

import pytest

import australis as au
from australis.api.stream import Stream
from australis.errors import NetworkError

AUDIO = au.stream("audio", "site int, channel int, audio segment<int16>")
VOLTS = au.stream("volts", "site int, at bigint, volts double")


def told(stream: Stream) -> str:
    with pytest.raises(NetworkError) as error:
        au.network(out=stream)
    return str(error.value)


def test_ranges_of_sites_are_not_cut_out_of_all() -> None:
    assert told(AUDIO.signal.trigger(1005, by="site").signal.sync(AUDIO)) == (
        "sync sync_1: trigger trigger_1 tells signals apart by `site`, and this box was not told of it: they would be"
        ' mixed; give by="site"'
    )


@pytest.mark.parametrize(
    "follow",
    [
        lambda given: given.signal.rewindow(4),
        lambda given: given.signal.lfilter([1.0]),
        lambda given: given.signal.rerate(1, 2),
        lambda given: given.signal.trigger(5),
        lambda given: given.signal.stats("rms").signal.cfar("rms"),
        lambda given: given.signal.spectrogram(4),
        lambda given: given.signal.zip(given.map(other="audio")),
        lambda given: given.map(start="1", end="2").signal.sync(AUDIO),
        lambda given: AUDIO.map(start="1", end="2").signal.sync(given),
        lambda given: given.signal.stats("rms").filter("rms > 5").signal.transform("hann").signal.rewindow(4),
        lambda given: given.union(given).signal.rewindow(4),
    ],
)
def test_every_box_that_follows_signals_is_told_of_their_groups(follow: Any) -> None:
    windows = AUDIO.signal.rewindow(8, by="site")
    assert "tells signals apart by `site`" in told(follow(windows))


def test_the_message_says_what_to_give() -> None:
    windows = AUDIO.signal.rewindow(8, by=["site", "channel"])
    assert 'give by=["site", "channel"]' in told(windows.signal.rewindow(4, by="site"))
    assert 'give by="place"' in told(windows.map(place="site", audio="audio").signal.rewindow(4))
    assert "which was left behind" in told(AUDIO.signal.rewindow(8, by="site").map(audio="audio").signal.rewindow(4))
    numbers = VOLTS.aggregate(on="at", size=60, by="site", mean="avg(volts)")
    assert 'give by="site"' in told(numbers.signal.window("mean", on="at", size=10, rate="1/60"))


@pytest.mark.parametrize(
    "stream",
    [
        AUDIO.signal.rewindow(8, by="site").signal.rewindow(4, by="site"),
        AUDIO.signal.rewindow(8, by="site").filter("site = 3").signal.rewindow(4),
        AUDIO.signal.rewindow(8, by="site").late.signal.rewindow(4),
        AUDIO.map(site="site", a="audio").signal.rewindow(8, by="site").signal.stats("rms").filter("rms > 1")
        .map(site="site", a="a").signal.rewindow(4, by="site"),
        AUDIO.signal.rewindow(8, by="site").signal.stats("rms"),
        AUDIO.signal.trigger(5, by="site").signal.sync(au.stream("other", "audio segment<int16>")),
        VOLTS.aggregate(on="at", size=60, by="site", n="count(*)").aggregate(on="at", size=60, n="sum(n)")
        .signal.window("n", on="at", size=10, rate="1/60"),
    ],
)  # fmt: skip
def test_what_is_told_apart_or_need_not_be_is_taken(stream: Stream) -> None:
    au.network(out=stream)


def test_different_rates_are_refused_where_they_are_known() -> None:
    slow = VOLTS.signal.window("volts", on="at", size=10, rate=10, by="site")
    fast = VOLTS.map(site="site", at="at", other="volts").signal.window("other", on="at", size=10, rate="40", by="site")
    found = told(slow.signal.zip(fast, by="site"))
    assert found.startswith("zip zip_1: `volts` has 10 samples a second and `other` 40")
    assert "rerate(1, 4) of `other`" in found
    windows = fast.signal.rewindow(20, by="site").signal.stats("rms").filter("rms > 1").map(site="site", o="other")
    assert "`o` 40" in told(slow.signal.lfilter([1.0], by="site").signal.zip(windows, by="site"))
    au.network(out=slow.signal.zip(fast.signal.rerate(1, 4, by="site"), by="site"))
    au.network(out=slow.signal.zip(fast.map(site="site", other="other").signal.transform("fft"), by="site"))


@pytest.mark.parametrize(("size", "low", "fits"), [(32, 16, True), (32, 16.5, True), (32, 17, False), (33, 17, False)])
def test_a_band_beyond_the_spectrum_is_refused_where_its_length_is_known(size: int, low: float, fits: bool) -> None:
    made = AUDIO.signal.spectrogram(size, by="site").signal.stats(column="spectrum", score=f"band({low}, 20)")
    if fits:
        au.network(out=made)
    else:
        assert f"`band({low}, 20)` lies beyond `spectrum`, which has 17 samples (bins): 0 to 16" in told(made)

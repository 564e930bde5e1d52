"""Boxes for signals in network files, and as methods of streams."""

import pytest

import australis as au
from australis.boxes import catalog
from australis.boxes.signals import (
    Cfar,
    Correlate,
    Lfilter,
    Rerate,
    Rewindow,
    Stats,
    Sync,
    Transform,
    Trigger,
    Wavelet,
    Window,
    Zip,
)
from australis.errors import NetworkError

HEAD = """australis: 2
inputs:
  audio: site int, audio segment<int16>
  ranges: site int, start int, end int
  second: site int, second segment<int16>
  both: site int, audio segment<int16>, other segment<float32>
boxes:
"""
OUTPUTS = "outputs:\n  out: a\n  r: ranges\n  s: audio\n  t: second\n  u: both\n"


def box(written: str, source: str = "audio") -> object:
    return au.loads(f"{HEAD}  a:\n    {written}\n    from: {source}\n{OUTPUTS}").named["a"].box


@pytest.mark.parametrize(
    ("written", "source", "wanted"),
    [
        ("rewindow: 64", "audio", Rewindow(64)),
        ("rewindow: {size: 64, gap: -8, by: site}", "audio", Rewindow(64, -8, ("site",))),
        ("sync: {by: [site]}", "[ranges, audio]", Sync(1, ("site",))),
        ("stats: {std: std, loud: peak}", "audio", Stats((("std", "std"), ("loud", "peak")))),
        ("transform: [hann, fft]", "audio", Transform(("hann", "fft"))),
        ("transform: {steps: [fft], into: s}", "audio", Transform(("fft",), into="s")),
        ("wavelet: 3", "audio", Wavelet(3)),
        ("lfilter: [1, 0.5]", "audio", Lfilter((1.0, 0.5))),
        ("cfar: {on: site, threshold: 3}", "audio", Cfar("site", threshold=3.0)),
        ("trigger: 9", "audio", Trigger(9.0)),
        ("trigger: {high: 9, low: 2.5, on: site, by: site}", "audio", Trigger(9.0, 2.5, "site", ("site",))),
        ("window: {value: start, on: site, size: 9, rate: 48000}", "ranges", Window("start", "site", 9, 48_000)),
        (
            "window: {value: start, on: end, size: 9, rate: 30/7, by: site}",
            "ranges",
            Window("start", "end", 9, "30/7", ("site",)),
        ),
        ("rerate: {up: 2, down: 3, by: site}", "audio", Rerate(2, 3, (), ("site",))),
        ("rerate: {up: 2, down: 1, taps: [0.5, 1, 0.5]}", "audio", Rerate(2, 1, (0.5, 1.0, 0.5))),
        ("correlate: {other: [1, 0.5], into: c}", "audio", Correlate(template=(1.0, 0.5), into="c")),
        ("correlate: other", "both", Correlate("other")),
        ("zip: {by: [site], size: 4}", "[audio, second]", Zip(1, ("site",), 4)),
        ("zip: {}", "both", Zip(0)),
        ("zip: {}", "[audio, second]", Zip()),
    ],
)
def test_a_box_is_written_and_read_back(written: str, source: str, wanted: object) -> None:
    made = box(written, source)
    assert made == wanted
    text = f"{HEAD}  a:\n    {written}\n    from: {source}\n{OUTPUTS}"
    net = au.loads(text)
    assert au.loads(au.dumps(net)) == net


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("rewindow: {size: 64, gapp: 3}", "line 9.*gapp"),
        ("rewindow: {size: big}", "size"),
        ("stats: {std: 3}", "`std=3` is neither"),
        ("stats: {std: stdd}", "did you mean `std`"),
    ],
)
def test_mistakes_are_told(written: str, message: str) -> None:
    with pytest.raises(au.AustralisError, match=f"(?s){message}"):
        box(written)


def test_every_box_has_a_method_that_tells_its_name() -> None:
    audio = au.stream("audio", "site int, audio segment<int16>")
    assert all(callable(getattr(audio.signal, each.kind)) for each in catalog.boxes(catalog.SIGNALS))
    with pytest.raises(NetworkError, match="rewindow loud: windows of 0"):
        audio.signal.rewindow(0, box="loud")


def test_parameters_are_told_in_short() -> None:
    assert Rerate(2, 1, tuple(map(float, range(20))), ("site",)).label() == [
        "up 2", "down 1", "taps 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0 and 12 more", "by site",
    ]  # fmt: skip
    assert Zip(1, ("a", "b")).label() == ["signals 1", "by a, b", "size 0"]

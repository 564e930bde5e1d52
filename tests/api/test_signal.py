"""`stream.signal`: the methods that draw several boxes."""

import australis as au

SOUND = au.stream("sound", "mic int, sound segment<float64>")


def test_a_spectrogram_is_windows_and_their_spectra() -> None:
    net = au.network(out=SOUND.signal.spectrogram(512, 256, by="mic", into="bands"))
    assert [node.box.kind for node in net.nodes] == ["rewindow", "transform"]
    assert net == au.network(
        out=SOUND.signal.rewindow(512, -256, "mic").signal.transform("hann", "fft", "abs", into="bands")
    )


def test_steps_without_a_name_are_left_out() -> None:
    bare = SOUND.signal.spectrogram(8, window="", scale="")
    assert au.network(out=bare) == au.network(out=SOUND.signal.rewindow(8).signal.transform("fft", into="spectrum"))

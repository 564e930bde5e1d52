"""One WAV file that grows as a sink."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import soundfile

from australis.boxes.signals import segment, timebase
from australis.connectors import sink
from australis.errors import RunError
from australis.testing.signals import signal
from tests.connectors.sinks.test_sound import BATCHES, RATE, SIZES, expected, train, written


def test_one_file_holds_all_segments_in_order(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    for _ in range(2):  # the second time as after a failure
        written(str(path))
    frames, rate = soundfile.read(path, dtype="int16")
    assert rate == RATE
    assert frames.tolist() == np.concatenate([expected(size) for size in SIZES]).tolist()


@pytest.mark.parametrize("samples", ["int16", "int32", "float32", "float64"])
def test_all_types_that_wav_holds_come_back(samples: str, tmp_path: Path) -> None:
    values = segment((np.arange(9) / 10).astype(samples), timebase(RATE))
    tuples = signal(f"audio segment<{samples}>", audio=[values]).tuples
    writer = sink.open(f"{tmp_path}/out.wav", tuples.schema)
    writer.write(0, [tuples])
    writer.close()
    assert soundfile.read(tmp_path / "out.wav", dtype=samples)[0].tolist() == np.asarray(values).tolist()


def test_segments_of_another_rate_are_refused_in_one_file(tmp_path: Path) -> None:
    with closing(sink.open(f"{tmp_path}/out.wav", BATCHES[0][0].schema)) as writer:
        writer.write(0, [train(9)])
        with pytest.raises(RunError, match="has 8000 samples a second, and segments of 9000 have come"):
            writer.write(1, [train(9, rate=9000)])
    odd = signal("a segment<int16>", a=[segment([1], timebase("1/3"), dtype="int16")]).tuples
    told = pytest.raises(RunError, match="a whole number of samples a second; resample")
    with closing(sink.open(f"{tmp_path}/odd.wav", odd.schema)) as writer, told:
        writer.write(0, [odd])

"""Sinks of sound: one WAV file that grows, and a file a tuple, each exactly once."""

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from australis.arrow.schema import schema as schema_of
from australis.boxes.signals import Segment, segment, timebase
from australis.connectors import sink
from australis.connectors.sink import Sounds, Wav
from australis.connectors.sinks.sound import Channels
from australis.errors import RunError
from australis.testing.signals import signal

RATE = 8_000
SCHEMA = "site int, name string, left segment<int16>, right segment<int16>"


def some(start: int, size: int, rate: int = RATE) -> Segment:
    return segment((np.arange(start, start + size) * 31 % 999).astype(np.int16), timebase(rate), start)


def train(*sizes: int, site: int = 1, rate: int = RATE) -> pa.RecordBatch:
    """A tuple for each size; the second channel has one sample less, and is null where the first has few."""
    right = [some(7, size - 1, rate) if size > 2 else None for size in sizes]
    return signal(
        SCHEMA, site=[site] * len(sizes), name=[f"n{n}" for n in sizes], left=[some(0, n, rate) for n in sizes],
        right=right,
    ).tuples  # fmt: skip


def expected(size: int) -> np.ndarray[Any, Any]:
    """What is heard of such a tuple: a channel without samples is silent."""
    found = np.zeros((size, 2), np.int16)
    found[:, 0] = some(0, size)
    if size > 2:
        found[:-1, 1] = some(7, size - 1)
    return found


BATCHES = [[train(100, 1, 2), train(30)], [], [train(50, 50, 50)], [train()], [train(3)]]
SIZES = [100, 1, 2, 30, 50, 50, 50, 3]


def written(text: str, run: str = "one", **more: Any) -> None:
    writer = sink.open(text, BATCHES[0][0].schema, run, **more)
    for batch, trains in enumerate(BATCHES):
        writer.write(batch, trains)
    writer.close()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_one_file_holds_all_segments_in_order(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    for _ in range(2):  # the second time as after a failure
        written(str(path))
    frames, rate = soundfile.read(path, dtype="int16")
    assert rate == RATE
    assert frames.tolist() == np.concatenate([expected(size) for size in SIZES]).tolist()


@pytest.mark.parametrize("form", ["wav", "flac"])
def test_each_tuple_is_a_file_that_is_counted(form: str, tmp_path: Path) -> None:
    for _ in range(2):
        written(f"{tmp_path}/out/*.{form}")
    names = sorted(path.name for path in (tmp_path / "out").glob(f"*.{form}"))
    assert names == [f"{number:06d}.{form}" for number in range(1, len(SIZES) + 1)]
    for name, size in zip(names, SIZES, strict=True):
        frames, rate = soundfile.read(tmp_path / "out" / name, dtype="int16")
        assert (frames.tolist(), rate) == (expected(size).tolist(), RATE)


def test_files_are_named_by_columns_and_none_replaces_another(tmp_path: Path) -> None:
    written(str(tmp_path / "out" / "{site:02d} {name}.wav"))
    names = sorted(path.name for path in (tmp_path / "out").glob("*.wav"))
    assert names == sorted(
        ["01 n100.wav", "01 n1.wav", "01 n2.wav", "01 n30.wav", "01 n50.wav", "01 n50-2.wav", "01 n50-3.wav",
         "01 n3.wav"]
    )  # fmt: skip


def test_what_stands_in_a_column_does_not_leave_the_folder(tmp_path: Path) -> None:
    odd = signal(SCHEMA, site=[1], name=["../../x/\0y"], left=[some(0, 5)], right=[None]).tuples
    writer = sink.open(f"{tmp_path}/out/{{name}}.wav", odd.schema)
    writer.write(0, [odd])
    writer.close()
    assert [path.name for path in tmp_path.rglob("*.wav")] == ["_.._x_y.wav"]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8), st.integers(0, 8))
def test_channels_of_any_lengths_are_laid_beside_each_other(sizes: list[tuple[int, int]], cut: int) -> None:
    left, right = ([some(at, pair[side]) for at, pair in enumerate(sizes)] for side in (0, 1))
    tuples = signal(SCHEMA, site=[0] * len(sizes), name=[""] * len(sizes), left=left, right=right).tuples
    found = []
    for part in (tuples[:cut], tuples[cut:]):
        found += [frames.tolist() for frames, _ in Channels("", part.schema).takes(part)]
    for frames, one, two in zip(found, left, right, strict=True):
        length = max(len(one), len(two))
        padded = [[*np.asarray(each).tolist(), *[0] * (length - len(each))] for each in (one, two)]
        assert frames == [list(pair) for pair in zip(*padded, strict=True)]


@pytest.mark.parametrize("samples", ["int16", "int32", "float32", "float64"])
def test_all_types_that_wav_holds_come_back(samples: str, tmp_path: Path) -> None:
    values = segment((np.arange(9) / 10).astype(samples), timebase(RATE))
    tuples = signal(f"audio segment<{samples}>", audio=[values]).tuples
    writer = sink.open(f"{tmp_path}/out.wav", tuples.schema)
    writer.write(0, [tuples])
    writer.close()
    assert soundfile.read(tmp_path / "out.wav", dtype=samples)[0].tolist() == np.asarray(values).tolist()


def test_texts_name_sinks_of_sound() -> None:
    assert sink.sink("out.wav") == Wav("out.wav")
    assert sink.sink("out/*.FLAC") == Sounds("out", "flac")
    assert sink.sink("out/{site}-{start}.wav") == Sounds("out", "wav", "{site}-{start}")


@pytest.mark.parametrize(
    ("text", "schema", "told"),
    [
        ("out.flac", SCHEMA, r"out.flac: such a file cannot grow; write .*out.wav, or a folder .*out/\*.flac"),
        ("out.wav", "site int", "sound is of columns of segments of one type, not"),
        ("out.wav", "a segment<int16>, b segment<int32>", "of segments of one type, not"),
        ("out.wav", "a segment<complex64>", r"WAV holds .*float64, not complex64; transform"),
        ("out/*.flac", "a segment<float32>", "FLAC holds int16, not float32"),
        ("out/{sight}.wav", SCHEMA, "named by number, site and name, not by sight, did you mean site|not by sight"),
        ("out/{site.wav", SCHEMA, "is no pattern"),
    ],
)
def test_what_sound_does_not_hold_is_told(text: str, schema: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=told):
        sink.open(str(tmp_path / text), schema_of(schema))


def test_segments_of_another_rate_are_refused_in_one_file(tmp_path: Path) -> None:
    with closing(sink.open(f"{tmp_path}/out.wav", BATCHES[0][0].schema)) as writer:
        writer.write(0, [train(9)])
        with pytest.raises(RunError, match="has 8000 samples a second, and segments of 9000 have come"):
            writer.write(1, [train(9, rate=9000)])
    odd = signal("a segment<int16>", a=[segment([1], timebase("1/3"), dtype="int16")]).tuples
    told = pytest.raises(RunError, match="a whole number of samples a second; resample")
    with closing(sink.open(f"{tmp_path}/odd.wav", odd.schema)) as writer, told:
        writer.write(0, [odd])


def test_sounds_of_another_run_are_refused_or_replaced(tmp_path: Path) -> None:
    for text in ("out.wav", "out/*.wav"):
        written(str(tmp_path / text))
        before = contents(tmp_path)
        with pytest.raises(RunError, match=r"another run|not of this run"):
            written(str(tmp_path / text), "two")
        assert contents(tmp_path) == before
        written(str(tmp_path / text), "two", replace=True)
        assert len(contents(tmp_path)) == len(before)
    dear = tmp_path / "out" / "dear.wav"
    dear.write_bytes(b"of somebody else")
    written(f"{tmp_path}/out/*.wav", "three", replace=True)
    assert len(contents(tmp_path)) == len(before) + 1
    assert dear.read_bytes() == b"of somebody else"


def test_the_console_shows_the_shape_of_a_segment(capsys: pytest.CaptureFixture[str]) -> None:
    sink.open("console", BATCHES[0][0].schema).write(0, [train(4, 1)])
    told = capsys.readouterr().out
    assert "<segment ▁" in told
    assert "samples" not in told

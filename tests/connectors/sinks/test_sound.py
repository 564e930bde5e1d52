"""Sinks of sound: one WAV file that grows, and a file a tuple, each exactly once."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
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

"""WAV: where the samples of a file lie."""

import struct
from pathlib import Path

import pytest

from australis.connectors.sources.wav import Head, head, parsed
from australis.errors import RunError


@pytest.mark.parametrize("dtype", ["int16", "int32", "float32", "float64"])
@pytest.mark.parametrize(("channels", "frames"), [(1, 0), (2, 100)])
def test_a_head_is_parsed_as_it_was_made(tmp_path: Path, dtype: str, channels: int, frames: int) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(head(48_000, channels, dtype, frames))
    width = channels * int(dtype[-2:]) // 8
    assert parsed(str(path)) == Head(48_000, channels, width, dtype, 44, frames * width)


def test_frames_are_those_that_are_there() -> None:
    told, unknown = Head(8000, 2, 4, "int16", 44, 400), Head(8000, 2, 4, "int16", 44, 0)
    assert [told.frames(size) for size in (0, 44, 47, 48, 9999)] == [0, 0, 0, 1, 100]
    assert [unknown.frames(size) for size in (44, 55)] == [0, 2]


def test_a_head_that_is_cut_short_is_waited_for(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.wav", head(8000, 1, "int16", 10)
    for length in range(44):
        path.write_bytes(whole[:length])
        assert parsed(str(path)) is None
    path.write_bytes(whole)
    assert parsed(str(path)) is not None


def test_other_chunks_are_passed_over_and_a_long_file_tells_its_length_elsewhere(tmp_path: Path) -> None:
    path, plain = tmp_path / "a.wav", head(8000, 1, "int16", 0)
    odd = b"note" + struct.pack("<I", 3) + b"abc\0"
    long = b"ds64" + struct.pack("<IQQQ", 24, 0, 2**33, 0)
    path.write_bytes(b"RF64" + plain[4:12] + long + odd + plain[12:40] + struct.pack("<I", 0xFFFFFFFF))
    found = parsed(str(path))
    assert found is not None
    assert (found.begin, found.length, found.dtype) == (44 + len(long) + len(odd), 2**33, "int16")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"RIFX" + bytes(40), "is no WAV file"),
        (b"RIFF" + bytes(4) + b"WAVEdata" + bytes(4), "does not tell what its samples are"),
        (head(8000, 1, "int16", 0)[:22] + bytes(2) + head(8000, 1, "int16", 0)[24:], "it has 0 channels"),
        (b"RIFF" + bytes(4) + b"WAVEjunk" + struct.pack("<I", 1 << 20) + bytes(1 << 16), "has no samples in its first"),
    ],
)
def test_what_is_no_wav_file(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.wav").write_bytes(data)
    with pytest.raises(RunError, match=message):
        parsed(str(tmp_path / "a.wav"))

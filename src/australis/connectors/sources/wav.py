"""WAV: where the samples of a file lie, and the head of a file of samples."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from australis.errors import RunError

TAGS = {(1, 16): "int16", (1, 32): "int32", (3, 32): "float32", (3, 64): "float64"}
"""The types of samples that lie in a file as they do in memory, by its tag and bits."""
_EXTENSIBLE = 0xFFFE
_UNKNOWN = 0xFFFFFFFF  # a length that is in another chunk, or that nobody knows yet
_HEAD = 1 << 16


@dataclass(frozen=True)
class Head:
    """What stands before the samples. `dtype` is empty where they lie in another form, such as 24 bits."""

    rate: int
    channels: int
    width: int
    """Bytes of a frame: a sample of each channel."""
    dtype: str
    begin: int
    length: int
    """Bytes of samples, as the head tells; those of a file that is not closed yet may be 0, or too many."""

    def frames(self, size: int) -> int:
        """How many whole frames a file of so many bytes has."""
        there = max(0, size - self.begin)
        return (min(self.length, there) if self.length else there) // self.width


def parsed(path: str) -> Head | None:
    """The head of a file; none while it is not whole."""
    with Path(path).open("rb") as file:
        data = file.read(_HEAD)
    if data[:4] not in (b"RIFF"[: len(data)], b"RF64"[: len(data)]) or data[8:12] != b"WAVE"[: len(data[8:12])]:
        raise RunError(f"{path}: is no WAV file; name it as what it is, or leave it out")
    at, form, long = 12, b"", 0
    while at + 8 <= len(data):
        name, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name == b"data":
            return _head(path, form, at + 8, long or length if length == _UNKNOWN else length)
        body = data[at + 8 : at + 8 + length]
        if name == b"ds64":
            long = int.from_bytes(body[8:16], "little")
        form = body if name == b"fmt " else form
        at += 8 + length + length % 2
    if len(data) == _HEAD:
        raise RunError(f"{path}: has no samples in its first {_HEAD} bytes; save it again as plain WAV")
    return None


def _head(path: str, form: bytes, begin: int, length: int) -> Head:
    if len(form) < 16:
        raise RunError(f"{path}: does not tell what its samples are; save it again as plain WAV")
    tag, channels, rate, _, width, bits = struct.unpack("<HHIIHH", form[:16])
    if tag == _EXTENSIBLE and len(form) >= 26:
        tag = int.from_bytes(form[24:26], "little")
    if not channels or not rate or not width:
        raise RunError(f"{path}: says that it has {channels} channels at {rate} Hz; save it again as plain WAV")
    return Head(rate, channels, width, TAGS.get((tag, bits), ""), begin, length)


def head(rate: int, channels: int, dtype: str, frames: int) -> bytes:
    """The head of a file of so many frames; one that is too long for its length to be told says so.

    >>> len(head(48_000, 2, "int16", 100))
    44
    """
    tag, bits = next(key for key, name in TAGS.items() if name == dtype)
    width = channels * np.dtype(dtype).itemsize
    length = min(frames * width, _UNKNOWN - 36)
    form = struct.pack("<HHIIHH", tag, channels, rate, rate * width, width, bits)
    return b"RIFF" + struct.pack("<I", length + 36) + b"WAVEfmt " + struct.pack("<I", 16) + form + (
        b"data" + struct.pack("<I", length)
    )  # fmt: skip

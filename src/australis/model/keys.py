"""Keys: rows found by the values of their key columns, in one probe of a hash table.

A key becomes a row of 64-bit words: a number is one word, a string two (its SipHash under a secret of this process, so
that no input can be made to collide), and a last word says which columns are null, since null is a group of its own.
A key that is one small whole number, as most are, needs no probe: an array has its slot.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.columns import plain, storage
from australis.kernels.jit import inner, kernel
from australis.model.train import Ints

Words = npt.NDArray[np.int64]

SECRET = np.frombuffer(secrets.token_bytes(16), np.uint64)
_OPEN = np.zeros(2, np.uint64)
_EMPTY = -1
_NEAR = 1 << 16
"""Whole numbers below this are found without a probe."""


def hashable(type_: pa.DataType) -> bool:
    """Whether values of a type can be (part of) a key."""
    return not (pa.types.is_nested(type_) or pa.types.is_null(type_))


def words(arrays: Sequence[pa.Array[Any]], rows: int, secret: npt.NDArray[np.uint64] = SECRET) -> Words:
    """The keys of `rows` tuples, a row of words each."""
    parts = [_words(array, secret) for array in arrays]
    out = np.empty((rows, sum(part.shape[1] for part in parts) + 1), np.int64)
    out[:, -1] = 0
    first = 0
    for position, (array, part) in enumerate(zip(arrays, parts, strict=True)):
        columns = out[:, first : first + part.shape[1]]
        columns[:] = part
        if array.null_count:
            missing = array.is_null().to_numpy(zero_copy_only=False)
            columns[missing] = 0
            out[:, -1] |= missing.astype(np.int64) << position
        first += part.shape[1]
    return out


def single(arrays: Sequence[pa.Array[Any]]) -> Ints | None:
    """The keys as single words if each is one whole number; None otherwise."""
    if len(arrays) != 1 or arrays[0].null_count or storage(arrays[0].type).kind not in "iu":
        return None
    values: Ints = plain(arrays[0])[0].astype(np.int64, copy=False)
    return values


def buckets(arrays: Sequence[pa.Array[Any]], rows: int, count: int) -> Ints:
    """The partition of each key, out of `count`. It is the same in every process; the words of strings are not."""
    partitions = np.empty(rows, np.int64)
    one = single(arrays)
    if one is None:
        _spread(words(arrays, rows, _OPEN), count, partitions)
    else:
        _spread_single(one, np.zeros((1, 2), np.int64), count, partitions)
    return partitions


def hashes(arrays: Sequence[pa.Array[Any]], rows: int) -> Ints:
    """A number from 0 on of each key, in 63 bits: so two keys hardly ever have the same. It is as in `buckets`."""
    numbers = np.empty(rows, np.int64)
    _hash(words(arrays, rows, _OPEN), numbers)
    return numbers


def _words(array: pa.Array[Any], secret: npt.NDArray[np.uint64]) -> Words:
    dtype = storage(array.type)
    if dtype == object:
        text = array.cast(pa.string()) if pa.types.is_decimal(array.type) else array
        data = text.cast(pa.large_binary())
        starts: Any = data.buffers()[1]
        offsets = np.frombuffer(starts, np.int64, len(data) + 1, data.offset * 8)
        content: Any = data.buffers()[2]
        return siphash(np.frombuffer(content, np.uint8) if content else np.empty(0, np.uint8), offsets, secret)
    values = plain(array)[0]
    if dtype.kind == "f":
        number = values.astype(np.float64) + 0.0  # -0.0 and 0.0 are one key
        number[np.isnan(number)] = np.nan  # and so are all the NaNs
        return number.view(np.int64).reshape(-1, 1)
    return values.reshape(-1, 1)


@kernel
def siphash(content: npt.NDArray[np.uint8], offsets: Ints, secret: npt.NDArray[np.uint64]) -> Words:
    """SipHash-1-3 with 128 bits of each string."""
    out = np.empty((len(offsets) - 1, 2), np.int64)
    for row in range(len(offsets) - 1):
        v0 = secret[0] ^ np.uint64(0x736F6D6570736575)
        v1 = secret[1] ^ np.uint64(0x646F72616E646F6D) ^ np.uint64(0xEE)
        v2 = secret[0] ^ np.uint64(0x6C7967656E657261)
        v3 = secret[1] ^ np.uint64(0x7465646279746573)
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        for block in range(length // 8 + 1):
            word = np.uint64(0)
            for byte in range(min(8, length - block * 8)):
                word |= np.uint64(content[start + block * 8 + byte]) << np.uint64(8 * byte)
            if block == length // 8:
                word |= np.uint64(length & 0xFF) << np.uint64(56)
            v3 ^= word
            v0, v1, v2, v3 = _sipround(v0, v1, v2, v3)
            v0 ^= word
        v2 ^= np.uint64(0xEE)
        for _ in range(3):
            v0, v1, v2, v3 = _sipround(v0, v1, v2, v3)
        out[row, 0] = np.int64(v0 ^ v1 ^ v2 ^ v3)
        v1 ^= np.uint64(0xDD)
        for _ in range(3):
            v0, v1, v2, v3 = _sipround(v0, v1, v2, v3)
        out[row, 1] = np.int64(v0 ^ v1 ^ v2 ^ v3)
    return out


@inner
def _rotate(x: np.uint64, bits: int) -> np.uint64:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@inner
def _sipround(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    v0 += v1
    v1 = _rotate(v1, 13) ^ v0
    v0 = _rotate(v0, 32)
    v2 += v3
    v3 = _rotate(v3, 16) ^ v2
    v0 += v3
    v3 = _rotate(v3, 21) ^ v0
    v2 += v1
    v1 = _rotate(v1, 17) ^ v2
    v2 = _rotate(v2, 32)
    return v0, v1, v2, v3


class Keys:
    """An index from words to slots: open addressing, linear probing, deletion by shifting back."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.words = np.zeros((0, width), np.int64)
        self.places = np.full(8, _EMPTY, np.int64)
        self.near = np.empty(0, np.int32)
        """The slots of small whole numbers that have been looked up."""

    @property
    def nbytes(self) -> int:
        return self.words.nbytes + self.places.nbytes + self.near.nbytes

    def grow(self, capacity: int, slots: Ints) -> None:
        """Make room for `capacity` slots; `slots` are in use."""
        grown = np.zeros((capacity, self.width), np.int64)
        rows = min(capacity, len(self.words))
        grown[:rows] = self.words[:rows]
        self.words = grown
        self.places = np.full(max(8, 1 << (2 * capacity - 1).bit_length()), _EMPTY, np.int64)
        self.near.fill(_EMPTY)
        _insert(self.words, self.places, slots, SECRET[0])

    def find(self, keys: Words, slots: Ints, start: int, spare: Ints, top: int) -> tuple[int, int]:
        """Find slots from row `start` on; a new key takes one from the stack of spare ones, while there are any.

        Keys are rows of words, or single words. Returns the row where it stopped and the new top of the stack.
        """
        if keys.ndim == 2:
            return _find(keys, self.words, self.places, slots, start, spare, top, SECRET[0])
        if not len(self.near):
            self.near = np.full(_NEAR, _EMPTY, np.int32)
        word = np.zeros((1, 2), np.int64)
        return _find_single(keys, word, self.words, self.places, self.near, slots, start, spare, top, SECRET[0])

    def lookup(self, keys: Words) -> Ints:
        """The slots of keys, -1 for a key that is not there."""
        slots = np.empty(len(keys), np.int64)
        _lookup(keys, self.words, self.places, slots, SECRET[0])
        return slots

    def insert(self, keys: Words, slots: Ints) -> None:
        self.words[slots] = keys
        _insert(self.words, self.places, slots, SECRET[0])

    def remove(self, slots: Ints) -> None:
        if len(self.near):
            first_words = self.words[slots, 0]
            self.near[first_words[(first_words >= 0) & (first_words < _NEAR)]] = _EMPTY
        _remove(self.words, self.places, slots, SECRET[0])


@inner
def _place(rows: Words, row: int, mask: int, seed: np.uint64) -> int:
    mixed = seed
    for word in range(rows.shape[1]):
        mixed = (mixed ^ np.uint64(rows[row, word])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return int(np.int64(mixed) & mask)


@inner
def _spread(rows: Words, count: int, partitions: Ints) -> None:
    for row in range(len(rows)):
        partitions[row] = _place(rows, row, 0x7FFFFFFF, np.uint64(0)) % count


@inner
def _spread_single(keys: Ints, word: Words, count: int, partitions: Ints) -> None:
    for row in range(len(keys)):
        word[0, 0] = keys[row]
        partitions[row] = _place(word, 0, 0x7FFFFFFF, np.uint64(0)) % count


@inner
def _hash(rows: Words, numbers: Ints) -> None:
    for row in range(len(rows)):
        numbers[row] = _place(rows, row, 0x7FFFFFFFFFFFFFFF, np.uint64(0))


@inner
def _seek(keys: Words, row: int, stored: Words, places: Ints, seed: np.uint64) -> int:
    """The place of a key in the index, or the empty one where it belongs."""
    mask = len(places) - 1
    place = _place(keys, row, mask, seed)
    while places[place] != _EMPTY:
        slot, word = places[place], 0
        while word < keys.shape[1] and stored[slot, word] == keys[row, word]:
            word += 1
        if word == keys.shape[1]:
            break
        place = (place + 1) & mask
    return place


@inner
def _claim(
    keys: Words, row: int, stored: Words, places: Ints, spare: Ints, top: int, seed: np.uint64
) -> tuple[int, int]:
    """The slot of a key, a spare one if it is new, and the new top of the stack; none where the stack is empty."""
    place = _seek(keys, row, stored, places, seed)
    if places[place] == _EMPTY:
        if top == 0:
            return _EMPTY, top
        top -= 1
        places[place] = spare[top]
        for word in range(keys.shape[1]):
            stored[spare[top], word] = keys[row, word]
    return places[place], top


@inner
def _find(
    keys: Words, stored: Words, places: Ints, slots: Ints, start: int, spare: Ints, top: int, seed: np.uint64
) -> tuple[int, int]:
    for row in range(start, len(keys)):
        slots[row], top = _claim(keys, row, stored, places, spare, top, seed)
        if slots[row] == _EMPTY:
            return row, top
    return len(keys), top


@inner
def _find_single(
    keys: Ints,
    word: Words,
    stored: Words,
    places: Ints,
    near: npt.NDArray[np.int32],
    slots: Ints,
    start: int,
    spare: Ints,
    top: int,
    seed: np.uint64,
) -> tuple[int, int]:
    for row in range(start, len(keys)):
        at = np.uintp(row)
        small = np.uintp(keys[at])  # what is below zero is large
        if small < np.uintp(len(near)) and near[small] != _EMPTY:
            slots[at] = near[small]
            continue
        word[0, 0] = keys[at]
        slots[at], top = _claim(word, 0, stored, places, spare, top, seed)
        if slots[at] == _EMPTY:
            return row, top
        if small < np.uintp(len(near)):
            near[small] = slots[at]
    return len(keys), top


@inner
def _lookup(keys: Words, stored: Words, places: Ints, slots: Ints, seed: np.uint64) -> None:
    for row in range(len(keys)):
        slots[row] = places[_seek(keys, row, stored, places, seed)]


@inner
def _insert(stored: Words, places: Ints, slots: Ints, seed: np.uint64) -> None:
    mask = len(places) - 1
    for slot in slots:
        place = _place(stored, slot, mask, seed)
        while places[place] != _EMPTY and places[place] != slot:
            place = (place + 1) & mask
        places[place] = slot


@inner
def _remove(stored: Words, places: Ints, slots: Ints, seed: np.uint64) -> None:
    mask = len(places) - 1
    for slot in slots:
        hole = _place(stored, slot, mask, seed)
        while places[hole] != slot:
            hole = (hole + 1) & mask
        place = (hole + 1) & mask
        while places[place] != _EMPTY:
            home = _place(stored, places[place], mask, seed)
            if ((place - home) & mask) >= ((place - hole) & mask):
                places[hole] = places[place]
                hole = place
            place = (place + 1) & mask
        places[hole] = _EMPTY

"""Kernels on texts; positions count characters from 1, as in SQL."""

from __future__ import annotations

import re

import pyarrow as pa

from australis.arrow.compute import Datum, null, pc
from australis.expressions.operand import MisfitError

# An escape, a class of characters, or the opening of a capturing group with or without a name.
_GROUP = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|(?P<open>\((?:\?P?<(?![=!])\w+>|(?!\?)))", re.DOTALL)


def substr(value: Datum, start: int, length: int | None = None) -> Datum:
    """From `start`, or from that many characters before the end when it is negative."""
    if length is not None and length < 0:
        raise MisfitError(f"a length is not negative, and {length} is; give 0 or more")
    begin = start - 1 if start > 0 else start
    end = None if length is None or (begin < 0 <= begin + length) else begin + length
    return pc.utf8_slice_codeunits(value, begin, end)


def left(value: Datum, count: int) -> Datum:
    return pc.utf8_slice_codeunits(value, 0, count)


def right(value: Datum, count: int) -> Datum:
    """The last characters; a negative count leaves out that many at the start."""
    return pc.utf8_slice_codeunits(value, -count) if count else pc.utf8_slice_codeunits(value, 0, 0)


def lpad(value: Datum, width: int, fill: str = " ") -> Datum:
    return left(pc.utf8_lpad(value, width=max(width, 0), padding=_one(fill)), max(width, 0))


def rpad(value: Datum, width: int, fill: str = " ") -> Datum:
    return left(pc.utf8_rpad(value, width=max(width, 0), padding=_one(fill)), max(width, 0))


def trim(value: Datum, characters: str | None = None) -> Datum:
    return pc.utf8_trim_whitespace(value) if characters is None else pc.utf8_trim(value, characters)


def ltrim(value: Datum, characters: str | None = None) -> Datum:
    return pc.utf8_ltrim_whitespace(value) if characters is None else pc.utf8_ltrim(value, characters)


def rtrim(value: Datum, characters: str | None = None) -> Datum:
    return pc.utf8_rtrim_whitespace(value) if characters is None else pc.utf8_rtrim(value, characters)


def join(*values: Datum) -> Datum:
    """One after the other, null where one is."""
    return pc.binary_join_element_wise(*values, pa.scalar("", values[0].type))


def concat(*values: Datum) -> Datum:
    """One after the other, nulls left out."""
    return join(*(pc.coalesce(value, pa.scalar("", value.type)) for value in values))


def concat_ws(separator: Datum, *values: Datum) -> Datum:
    """With a separator between, nulls left out."""
    # Arrow drops a row of nothing but nulls (apache/arrow, `null_handling="skip"`); an empty text keeps it.
    empty = pc.if_else(pc.is_valid(pc.coalesce(*values)), null(values[0].type), pa.scalar("", values[0].type))
    values = (pc.coalesce(values[0], empty), *values[1:])
    return pc.binary_join_element_wise(*values, separator, null_handling="skip")


def replace(value: Datum, old: str, new: str) -> Datum:
    return pc.replace_substring(value, old, new) if old else value


def instr(value: Datum, part: str) -> Datum:
    """Where a part begins, or 0."""
    if not part:
        return pc.if_else(pc.is_valid(value), pa.scalar(1, pa.int32()), pa.scalar(None, pa.int32()))
    before = pc.list_element(pc.split_pattern(value, part, max_splits=1), 0)
    # Arrow finds bytes; the length of what stands before counts characters.
    position = pc.add(pc.cast(pc.utf8_length(before), pa.int32()), pa.scalar(1, pa.int32()))
    return pc.if_else(pc.match_substring(value, part), position, pa.scalar(0, pa.int32()))


def split_part(value: Datum, separator: str, place: int) -> Datum:
    """One part of a text, or '' where there are fewer."""
    if place < 1 or not separator:
        raise MisfitError(
            "the parts of split_part count from 1, and its separator is not empty, as in split_part(s, ',', 1)"
        )
    parts = pc.split_pattern(value, separator)
    part = pc.list_element(pc.list_slice(parts, place - 1, place, return_fixed_size_list=True), 0)
    return pc.if_else(pc.and_(pc.is_valid(value), pc.is_null(part)), pa.scalar("", value.type), part)


def regexp_extract(value: Datum, pattern: str, group: int | None = None) -> Datum:
    """What a group matched, or null; without a group, the first there is, else the whole match."""
    count = 0

    def name_group(match: re.Match[str]) -> str:
        nonlocal count
        if match["open"] is None:
            return match[0]
        count += 1
        return f"(?P<g{count}>"

    # Arrow wants every group named.
    inner = _GROUP.sub(name_group, pattern)
    wanted = min(count, 1) if group is None else group
    if not 0 <= wanted <= count:
        raise MisfitError(f"the pattern '{pattern}' has {count} groups, and no group {wanted}; put it in parentheses")
    return pc.struct_field(pc.extract_regex(value, f"(?P<g0>{inner})"), f"g{wanted}")


def _one(fill: str) -> str:
    if len(fill) != 1:
        raise MisfitError(f"a text is padded with one character, not with '{fill}'")
    return fill

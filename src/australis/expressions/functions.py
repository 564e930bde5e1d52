"""The built-in functions: one table, from which the reference and the errors come."""

from __future__ import annotations

import math

import pyarrow as pa

from australis.arrow.compute import pc
from australis.arrow.schema import numeric
from australis.expressions import lazy, numbers, ranks, texts, times
from australis.expressions.operators import OPERATORS
from australis.expressions.signature import (
    BOOLEAN,
    DOUBLE,
    INT,
    TEXT,
    TIMESTAMP,
    Args,
    Builtin,
    Signature,
    alike,
    doubles,
    moment,
    need,
    nullable,
    ranked,
    rounding,
    same_number,
    text,
)
from australis.expressions.signature import texts as any_texts

_INT32 = pa.int32()


def _seconds(args: Args) -> Signature:
    need(args[0], numeric, "a number of seconds")
    return Signature((INT if pa.types.is_integer(args[0].type) else DOUBLE,), TIMESTAMP)


def _is_nan(args: Args) -> Signature:
    return Signature(doubles(args).takes, BOOLEAN)


def _sign(args: Args) -> Signature:
    signature = same_number(args)
    return Signature(signature.takes, INT) if pa.types.is_decimal(signature.gives) else signature


def _position(args: Args) -> Signature:
    return Signature((TEXT, text(TEXT, gives=_INT32)(args[::-1]).takes[0]), _INT32)


_CALENDAR = moment(INT)
_CLOCK = moment(INT, pa.types.is_time, what="a timestamp or a time")
_TEST = text(TEXT, gives=BOOLEAN)

FUNCTIONS: tuple[Builtin, ...] = (
    # Numbers
    Builtin("abs(x)", "the number without its sign", same_number, pc.abs_checked),
    Builtin("sign(x)", "-1, 0 or 1; of a decimal as a bigint", _sign, pc.sign),
    Builtin("round(x[, digits])", "half away from zero", rounding, numbers.rounded, 1, 2, (1,)),
    Builtin("floor(x)", "the whole number below", rounding, numbers.floor),
    Builtin("ceil(x)", "the whole number above", rounding, numbers.ceil, aliases=("ceiling",)),
    Builtin("trunc(x)", "the whole number toward zero", rounding, numbers.trunc),
    Builtin("sqrt(x)", "square root; NaN below zero", doubles, pc.sqrt),
    Builtin("exp(x)", "e to the power x", doubles, pc.exp),
    Builtin("ln(x)", "natural logarithm", doubles, pc.ln),
    Builtin("log10(x)", "decimal logarithm", doubles, pc.log10),
    Builtin("log2(x)", "binary logarithm", doubles, pc.log2),
    Builtin("power(x, y)", "x to the power y, also `x ** y`", doubles, pc.power, 2, 2, aliases=("pow",)),
    Builtin("mod(x, y)", "x % y", OPERATORS["%"].rule, numbers.remainder, 2, 2),
    Builtin("pi()", "3.14159...", lambda args: Signature((), DOUBLE), lambda: pa.scalar(math.pi), 0, 0),
    Builtin("degrees(x)", "radians to degrees", doubles, lambda x: pc.multiply(x, 180 / math.pi)),
    Builtin("radians(x)", "degrees to radians", doubles, lambda x: pc.multiply(x, math.pi / 180)),
    Builtin("sin(x)", "sine of radians", doubles, pc.sin),
    Builtin("cos(x)", "cosine", doubles, pc.cos),
    Builtin("tan(x)", "tangent", doubles, pc.tan),
    Builtin("asin(x)", "arc sine", doubles, pc.asin),
    Builtin("acos(x)", "arc cosine", doubles, pc.acos),
    Builtin("atan(x)", "arc tangent", doubles, pc.atan),
    Builtin("atan2(y, x)", "the angle of the point (x, y)", doubles, pc.atan2, 2, 2),
    Builtin("isnan(x)", "whether a double is NaN", _is_nan, pc.is_nan),
    # Any type
    Builtin("greatest(x, ...)", "the greatest that is not null", ranked, ranks.greatest, 1, None),
    Builtin("least(x, ...)", "the least that is not null", ranked, ranks.least, 1, None),
    Builtin("coalesce(x, ...)", "the first that is not null", alike, pc.coalesce, 1, None, aliases=("ifnull", "nvl"),
            lazy=lazy.first),
    Builtin("nullif(x, y)", "x, or null where x = y", nullable, numbers.null_if, 2, 2),
    # Texts
    Builtin("upper(s)", "in upper case", text(), pc.utf8_upper, aliases=("ucase",)),
    Builtin("lower(s)", "in lower case", text(), pc.utf8_lower, aliases=("lcase",)),
    Builtin("length(s)", "characters", text(gives=_INT32), pc.utf8_length, aliases=("char_length",)),
    Builtin("trim(s[, chars])", "without spaces, or those characters, around", text(TEXT), texts.trim, 1, 2, (1,)),
    Builtin("ltrim(s[, chars])", "without them at the start", text(TEXT), texts.ltrim, 1, 2, (1,)),
    Builtin("rtrim(s[, chars])", "without them at the end", text(TEXT), texts.rtrim, 1, 2, (1,)),
    Builtin("substr(s, start[, length])", "a part; a negative start counts from the end", text(INT), texts.substr,
            2, 3, (1, 2), ("substring",)),
    Builtin("left(s, n)", "the first n characters", text(INT), texts.left, 2, 2, (1,)),
    Builtin("right(s, n)", "the last n characters", text(INT), texts.right, 2, 2, (1,)),
    Builtin("replace(s, old, new)", "every `old` replaced", text(TEXT), texts.replace, 3, 3, (1, 2)),
    Builtin("concat(x, ...)", "one after the other, nulls left out", any_texts, texts.concat, 1, None),
    Builtin("concat_ws(sep, x, ...)", "with a separator between", any_texts, texts.concat_ws, 2, None),
    Builtin("starts_with(s, part)", "whether s starts so", _TEST, pc.starts_with, 2, 2, (1,), ("startswith",)),
    Builtin("ends_with(s, part)", "whether s ends so", _TEST, pc.ends_with, 2, 2, (1,), ("endswith",)),
    Builtin("contains(s, part)", "whether the part is in s", _TEST, pc.match_substring, 2, 2, (1,)),
    Builtin("instr(s, part)", "where the part begins, or 0", text(TEXT, gives=_INT32), texts.instr,
            2, 2, (1,), ("strpos",)),
    Builtin("position(part, s)", "the same; also `position(part in s)`", _position,
            lambda part, s: texts.instr(s, part), 2, 2, (0,)),
    Builtin("split_part(s, sep, n)", "the n-th part between separators, or ''", text(TEXT, INT), texts.split_part,
            3, 3, (1, 2)),
    Builtin("lpad(s, n[, fill])", "filled or cut at the left to n characters", text(INT, TEXT), texts.lpad,
            2, 3, (1, 2)),
    Builtin("rpad(s, n[, fill])", "filled or cut at the right to n characters", text(INT, TEXT), texts.rpad,
            2, 3, (1, 2)),
    Builtin("reverse(s)", "backwards", text(), pc.utf8_reverse),
    Builtin("regexp_extract(s, pattern[, group])", "what a group matched, or null", text(TEXT, INT),
            texts.regexp_extract, 2, 3, (1, 2)),
    Builtin("regexp_replace(s, pattern, new)", "every match replaced; `\\1` is a group", text(TEXT),
            pc.replace_substring_regex, 3, 3, (1, 2)),
    # Times
    Builtin("year(t)", "the year", _CALENDAR, pc.year),
    Builtin("quarter(t)", "1 to 4", _CALENDAR, pc.quarter),
    Builtin("month(t)", "1 to 12", _CALENDAR, pc.month),
    Builtin("week(t)", "the ISO week, 1 to 53", _CALENDAR, pc.iso_week, aliases=("weekofyear",)),
    Builtin("day(t)", "the day of the month", _CALENDAR, pc.day, aliases=("dayofmonth",)),
    Builtin("dayofweek(t)", "1 on Monday to 7 on Sunday", _CALENDAR, times.day_of_week),
    Builtin("dayofyear(t)", "1 to 366", _CALENDAR, pc.day_of_year),
    Builtin("hour(t)", "0 to 23", _CLOCK, lambda t: pc.hour(times.clock(t))),
    Builtin("minute(t)", "0 to 59", _CLOCK, lambda t: pc.minute(times.clock(t))),
    Builtin("second(t)", "0 to 59, without a fraction", _CLOCK, lambda t: pc.second(times.clock(t))),
    Builtin("date_trunc('unit', t)", "cut to a unit, from 'year' to 'microsecond'", moment(pa.null()),
            times.date_trunc, 2, 2, (0,)),
    Builtin("epoch(t)", "seconds since 1970, since midnight or in an interval, as a double",
            moment(DOUBLE, pa.types.is_time, pa.types.is_duration, what="a time or an interval"), times.epoch,
            aliases=("unix_timestamp",)),
    Builtin("to_timestamp(x)", "the timestamp x seconds after 1970", _seconds, times.to_timestamp),
    Builtin("date(t)", "the day of a timestamp", moment(pa.date32()), lambda t: pc.cast(t, pa.date32(), safe=False)),
)  # fmt: skip

BUILTINS: dict[str, Builtin] = {name: function for function in FUNCTIONS for name in function.names}

_REPLAY = "a replay must do the same again"
_CLOCKS = ("now", "current_timestamp", "current_date", "current_time", "localtimestamp", "today", "getdate")
_CHANCE = ("rand", "random", "randn", "uuid", "gen_random_uuid", "monotonically_increasing_id")
_HASHES = ("hash", "md5", "sha", "sha1", "sha2", "sha256", "crc32", "xxhash64", "murmur_hash3_32")

# Functions that people may look for, and why there are none.
REFUSED: dict[str, str] = {
    **dict.fromkeys(_CLOCKS, f"the clock is not read: {_REPLAY}; compare with a time column of the stream"),
    **dict.fromkeys(_CHANCE, f"nothing is left to chance: {_REPLAY}"),
    **dict.fromkeys(_HASHES, f"hashes differ between versions: {_REPLAY}; write a @function of your own"),
    "log": "its base differs between systems; write ln, log10 or log2",
}


def reference() -> str:
    """The table of functions in docs/expressions.md."""
    rows = [
        f"| `{function.usage}` | {function.says} | {', '.join(f'`{name}`' for name in function.aliases)} |"
        for function in FUNCTIONS
    ]
    return "\n".join(["| function | gives | also |", "| --- | --- | --- |", *rows])

"""Durations: one parser for spans, intervals and options."""

from datetime import timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.durations import duration, interval, is_duration, measure, spelled, whole_units
from australis.errors import ExpressionError, SchemaError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90 s", 90), ("1 second", 1), ("2 seconds", 2), ("10 minutes", 600), ("10min", 600), ("1h 30min", 5400),
        ("1.5 hours", 5400), ("2 days", 172800), ("1 week", 604800), ("  1 Hour ", 3600), ("500 ms", 0.5),
        ("250us", 0.00025),
    ],
)  # fmt: skip
def test_a_duration_as_people_write_it(text: str, seconds: float) -> None:
    assert duration(text) == round(seconds * 10**9)
    assert is_duration(text)


@pytest.mark.parametrize("text", ["", " ", "10", "minutes", "10 lightyears", "-5 s", "5 s and", "s 5"])
def test_what_is_no_duration(text: str) -> None:
    assert not is_duration(text)
    with pytest.raises(SchemaError, match="10 minutes"):
        duration(text)


@given(st.integers(1, 10**12))
def test_a_timedelta_in_words_lasts_as_long(microseconds: int) -> None:
    text = spelled(timedelta(microseconds=microseconds))
    assert isinstance(text, str)
    assert duration(text) == microseconds * 1000


@pytest.mark.parametrize(
    ("span", "type_", "value"),
    [
        (5, pa.int32(), 5), (5.0, pa.int64(), 5), (2.5, pa.float64(), 2.5), (2, pa.float32(), 2.0),
        ("1 min", pa.timestamp("s"), 60), ("1 min", pa.timestamp("ms", "UTC"), 60_000),
        ("1 us", pa.timestamp("ns"), 1000),
        ("2 days", pa.date32(), 2), ("1 day", pa.date64(), 86_400_000), ("3 s", pa.duration("ms"), 3000),
        ("1 s", pa.time64("us"), 10**6), ("1 minute", pa.int32(), 60), ("500 ms", pa.float64(), 0.5),
    ],
)  # fmt: skip
def test_a_span_in_the_units_of_its_attribute(span: float | str, type_: pa.DataType, value: float) -> None:
    assert measure(span, type_, "a") == value


@pytest.mark.parametrize(
    ("span", "type_", "message"),
    [
        (5, pa.timestamp("s"), r"5.*`a`.*duration"), ("500 ms", pa.int32(), r"500 ms.*whole.*seconds.*`a`"),
        ("1 ms", pa.timestamp("s"), r"1 ms.*whole"), ("12 hours", pa.date32(), r"12 hours.*whole"),
        (1.5, pa.int32(), r"1\.5.*whole"), (float("nan"), pa.float64(), "finite"), (10**30, pa.int64(), "reach"),
    ],
)  # fmt: skip
def test_a_span_that_measures_nothing(span: float | str, type_: pa.DataType, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        measure(span, type_, "a")


def test_a_duration_counts_no_tuples() -> None:
    with pytest.raises(SchemaError, match=r"1 minute.*tup#.*counts tuples"):
        measure("1 minute", pa.int64(), "tup#")


def test_nanoseconds_of_long_durations_are_exact() -> None:
    assert duration("104 weeks 1 ns") == 104 * 7 * 86400 * 10**9 + 1


UNITS = {
    "weeks w": 604800, "days d": 86400, "hours hour hr hrs h": 3600, "minutes minute min mins m": 60,
    "seconds second sec secs s": 1, "milliseconds ms": 1e-3, "microseconds us": 1e-6,
}  # fmt: skip


@pytest.mark.parametrize(("unit", "seconds"), [(unit, size) for names, size in UNITS.items() for unit in names.split()])
def test_spans_and_intervals_have_the_same_units(unit: str, seconds: float) -> None:
    for text in (f"3 {unit}", f"3{unit.upper()}", f" +3 {unit.title()},"):
        assert interval(text) == timedelta(seconds=3 * seconds)
        assert duration(text) == round(3 * seconds * 10**9)


parts = st.lists(
    st.tuples(
        st.decimals(-1000, 1000, places=4),
        st.sampled_from(["w", "days", "h", "MINUTES", "s", "ms", "us", "ns"]),
        st.sampled_from(["", " ", ", ", " ,"]),
    ),
    min_size=1,
)


@given(parts)
def test_what_both_read_means_the_same_in_both(parts: list[tuple[Decimal, str, str]]) -> None:
    text = "".join(f"{number:f} {unit}{gap}" for number, unit, gap in parts)
    length = interval(text)
    if is_duration(text):
        assert abs(duration(text) - length // timedelta(microseconds=1) * 1000) <= 500
    else:
        assert length <= timedelta()


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("0.5 us 0.5 us", 1), ("1.0000015 s", 1_000_002), ("2.0000005 s", 2_000_000), ("1500 ns", 2),
        ("1 hour -5 minutes", 3_300_000_000),
    ],
)  # fmt: skip
def test_parts_are_added_exactly_and_rounded_once(text: str, microseconds: int) -> None:
    """A tie goes to the even microsecond."""
    assert interval(text) == timedelta(microseconds=microseconds)
    assert abs(duration(text) - 1000 * microseconds) <= 500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "`5` is {}: write for example "), ("5 s and", "`5 s and` is {}: write for example "),
        ("1 minuet", "`1 minuet` is {}: there is no unit `minuet` of time; did you mean `minute`? Write for example "),
        ("2 sheep", "`2 sheep` is {}: there is no unit `sheep` of time. Write for example "),
        ("2 months", "`2 months` is {}: a month has no fixed length; count its days, or use date_trunc('month', ...)."),
    ],
)  # fmt: skip
def test_an_error_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(SchemaError) as of_duration:
        duration(text)
    with pytest.raises(ExpressionError) as of_interval:
        interval(text)
    assert str(of_duration.value).startswith(message.format("not a duration"))
    assert str(of_duration.value).endswith("rite for example `10 minutes`, `90 s` or `1h 30min`")
    assert str(of_interval.value).startswith(message.format("no interval"))
    assert str(of_interval.value).endswith("rite for example `interval '10' minute` or `interval '1h 30min'`")


def test_only_an_interval_is_below_zero() -> None:
    assert interval("-90 s") == timedelta(seconds=-90)
    with pytest.raises(SchemaError, match=r"`-90 s` is not a duration: it is below zero\. Write for example"):
        duration("-90 s")


def test_what_is_too_long() -> None:
    with pytest.raises(SchemaError, match="`300000 days` is longer than the 292 years"):
        duration("300000 days")
    assert interval("300000 days") == timedelta(days=300_000)
    with pytest.raises(ExpressionError, match="too long: write one of up to 106751991 days"):
        interval("1000000000 days")


@given(st.timedeltas())
def test_whole_units_last_as_long(length: timedelta) -> None:
    count, unit = whole_units(length)
    assert interval(f"{count} {unit}") == length

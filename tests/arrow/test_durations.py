"""Spans: sizes of windows."""

from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.durations import duration, is_duration, measure, spelled
from australis.errors import SchemaError


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

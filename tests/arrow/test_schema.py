"""Schemas read from text and written to it."""

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import data_type, numeric, schema, temporal, text, textual, type_text
from australis.errors import SchemaError

UNITS = st.sampled_from(["s", "ms", "us", "ns"])
ZONES = st.sampled_from(["UTC", "Europe/Paris", "America/Argentina/Ushuaia", "Etc/GMT+5", "+02:00"])
PLAIN = st.sampled_from(
    [
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.null()),
        *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(16)),
        *(pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
        *(pa.decimal32(9, 2), pa.decimal64(18, 4), pa.decimal128(38, 10), pa.decimal256(76, -3)),
    ]
) | st.one_of(UNITS.map(pa.duration), UNITS.map(pa.timestamp), st.builds(pa.timestamp, UNITS, ZONES))
TYPES = st.recursive(
    PLAIN,
    lambda inner: st.builds(
        lambda make, type, nullable: make(pa.field("item", type, nullable=nullable or pa.types.is_null(type))),
        st.sampled_from([pa.list_, pa.large_list, lambda item: pa.list_(item, 3)]),
        inner,
        st.booleans(),
    ),
    max_leaves=3,
)
NAMES = st.text(min_size=1, max_size=8).filter(lambda name: not name.startswith("#"))


@given(st.lists(st.tuples(NAMES, TYPES, st.booleans()), min_size=1, max_size=5, unique_by=lambda field: field[0]))
@example([('odd "name`, with <all>', pa.timestamp("ns", "Europe/Paris"), False)])
@example([("not null", pa.int32(), True), ("a\nb", pa.list_(pa.int8()), True)])
def test_text_and_schema_are_inverses(fields: list[tuple[str, pa.DataType, bool]]) -> None:
    given = pa.schema(
        [pa.field(name, type, nullable=nullable or pa.types.is_null(type)) for name, type, nullable in fields]
    )
    assert schema(text(given)).equals(given)


@given(TYPES)
def test_the_spelling_of_arrow_is_read(type: pa.DataType) -> None:
    assert data_type(str(type)) == type
    assert data_type(type_text(type)) == type


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("tinyint", pa.int8()),
        ("SMALLINT", pa.int16()),
        ("int", pa.int32()),
        ("Integer", pa.int32()),
        ("bigint", pa.int64()),
        ("long", pa.int64()),
        ("int64", pa.int64()),
        ("float", pa.float32()),
        ("real", pa.float32()),
        ("float64", pa.float64()),
        ("double", pa.float64()),
        ("bool", pa.bool_()),
        ("varchar", pa.string()),
        ("text", pa.string()),
        ("utf8", pa.string()),
        ("date", pa.date32()),
        ("timestamp", pa.timestamp("us")),
        ("timestamptz", pa.timestamp("us", "UTC")),
        ("timestamp[ms]", pa.timestamp("ms")),
        ("timestamp[ns, tz=Europe/Paris]", pa.timestamp("ns", "Europe/Paris")),
        ("time", pa.time64("us")),
        ("interval", pa.duration("us")),
        ("duration", pa.duration("us")),
        ("decimal(10, 2)", pa.decimal128(10, 2)),
        ("numeric(5)", pa.decimal128(5, 0)),
        ("int[]", pa.list_(pa.int32())),
        ("float[32]", pa.list_(pa.float32(), 32)),
        ("array<array<double>>", pa.list_(pa.list_(pa.float64()))),
        ("array<timestamp[ms, UTC]>", pa.list_(pa.timestamp("ms", "UTC"))),
    ],
)
def test_names_of_types(name: str, type: pa.DataType) -> None:
    assert data_type(name) == type


def test_a_schema_is_read_from_text_from_a_dict_and_from_arrow() -> None:
    expected = pa.schema([pa.field("time", pa.int32(), nullable=False), pa.field("mph", pa.float64())])
    assert schema("time int not null, mph double") == expected
    assert schema("time: int NOT NULL,\n  `mph`: float64") == expected
    assert schema({"time": "int not null", "mph": pa.float64()}) == expected
    assert schema(expected) is expected


def test_names_keep_their_case_and_may_be_quoted() -> None:
    assert schema('Time int, time int, "a ""b""" int, `c ``d`` , e` int').names == [
        "Time",
        "time",
        'a "b"',
        "c `d` , e",
    ]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "at least one column"),
        ("  ", "at least one column"),
        ({}, "at least one column"),
        (pa.schema([]), "at least one column"),
        ("time int, time int", "`time` appears 2 times"),
        ("mph dubble", "column `mph`: there is no type `dubble`; did you mean `double`"),
        ("mph varchar(20)", "`varchar` alone is one"),
        ("price decimal", r"give its precision and scale, such as `decimal\(10, 2\)`"),
        ("price decimal(99, 2)", "precision"),
        ("at timestamp[us, Europe/Pariss]", "no time zone `Europe/Pariss`; did you mean `Europe/Paris`"),
        ("a null not null", "drop `not null`"),
        ("a array<null not null>", "drop `not null`"),
        ("time", "`time` is not a name and a type"),
        ("time int,, mph int", "missing at a comma"),
        ("time int,", "missing at a comma"),
        ("a array<int", "bracket is not closed"),
        ("a int>", "closes nothing"),
        ('"a int', 'quote " is not closed'),
        ("1a int", "is not a name and a type"),
        ('"#0" int', "`#0` is reserved"),
        ({"#0": "int"}, "`#0` is reserved"),
        ({"": "int"}, "has no name"),
        ({"a": 3}, "not int"),
        (42, "not int"),
    ],
)
def test_what_does_not_fit_is_explained(spec: object, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        schema(spec)  # type: ignore[arg-type]


def test_a_type_without_a_text_is_refused() -> None:
    with pytest.raises(SchemaError, match="has no text form"):
        text(pa.schema({"a": pa.struct({"b": pa.int32()})}))


def test_kinds_of_types() -> None:
    assert numeric(pa.decimal128(5, 2))
    assert not numeric(pa.bool_())
    assert temporal(pa.duration("s"))
    assert textual(pa.large_string())

"""Types, and the errors of expressions that do not fit a schema."""

import pyarrow as pa
import pytest

from australis.arrow.schema import data_type, schema
from australis.errors import ExpressionError
from australis.expressions import col, expr

SCHEMA = schema(
    "time int, vid int, mph int, lane smallint, speed double, f float, big bigint, u uint64, name string, ok boolean, "
    "at timestamp, zoned timestamptz, day date, gap interval, price decimal(30, 2), samples array<float>"
)


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("mph", "int"),
        ("samples", "array<float>"),
        ("40", "bigint"),
        ("0.5", "double"),
        ("18446744073709551615", "uint64"),
        ("null", "null"),
        ("mph + 1", "bigint"),
        ("lane * lane", "bigint"),
        ("-lane", "bigint"),
        ("mph + 1.0", "double"),
        ("f + f", "double"),
        ("mph / 2", "double"),
        ("mph // 2", "bigint"),
        ("speed // 2", "double"),
        ("mph % 2", "bigint"),
        ("price + mph", "decimal(31, 2)"),
        ("price / 2", "double"),
        ("price * 0.5", "double"),
        ("mph < 40", "boolean"),
        ("coalesce(lane, 0)", "smallint"),
        ("coalesce(lane, 100000)", "bigint"),
        ("coalesce(lane, mph)", "int"),
        ("coalesce(mph, 0.5)", "double"),
        ("coalesce(f, 1)", "float"),
        ("coalesce(u, big)", "decimal(20, 0)"),
        ("coalesce(day, at)", "timestamp"),
        ("coalesce(at, '2026-01-01')", "timestamp"),
        ("case when ok then 1 end", "bigint"),
        ("case when ok then null else name end", "string"),
        ("cast(mph as string)", "string"),
        ("try_cast(name as timestamp[ms])", "timestamp[ms]"),
        ("at - at", "interval"),
        ("at + gap", "timestamp"),
        ("zoned - gap", "timestamptz"),
        ("day + gap", "timestamp"),
        ("gap * 2", "interval"),
        ("gap / gap", "double"),
    ],
)
def test_types(text: str, type: str) -> None:
    assert expr(text).bind(SCHEMA).type == data_type(type)


def test_an_unknown_column_is_named_with_the_ones_there_are() -> None:
    with pytest.raises(ExpressionError) as error:
        expr("mhp < 40").bind(schema("time int, vid int, mph int"))
    assert str(error.value) == (
        "`mhp < 40`: there is no column `mhp`; did you mean `mph`? The columns are time, vid, mph"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MPH > 1", "there is no column `MPH`; did you mean `mph`? The columns are time, vid, mph"),
        ("kph > 1", "there is no column `kph`"),
        ("left.mph > 1", "there is no column `left.mph`"),
        ("mph > 1 and uper(name) = 'A'", "in `uper(name)`, there is no function `uper`; did you mean `upper`?"),
        ("mph > 1 and name > 1", "in `name > 1`, `name` is string and `1` is bigint; cast one"),
        ("name = mph", "`name` is string and `mph` is int"),
        ("mph = '40'", "`mph` is int and `'40'` is string"),
        ("ok < true", "booleans have no order"),
        ("ok = 1", "`ok` is boolean and `1` is bigint"),
        ("samples = samples", "values of array<float> cannot be compared"),
        ("at > zoned", "`at` is timestamp and `zoned` is timestamptz"),
        ("at > 'yesterday'", "`'yesterday'` does not read as timestamp"),
        ("day > '2026-01-01 10:00'", "does not read as date"),
        ("name + 1", "write || to join texts"),
        ("at + 1", "a time moves by an interval"),
        ("at + at", "a time moves by an interval"),
        ("ok + ok", "numbers are needed"),
        ("-name", "a number or an interval is needed"),
        ("not mph", "`mph` is int, and a boolean is needed"),
        ("mph and ok", "`mph` is int, and a boolean is needed"),
        ("case when mph then 1 end", "`mph` is int, and a boolean is needed"),
        ("case when ok then 1 else 'a' end", "cast one to the type of the other"),
        ("abs(name)", "`name` is string, and a number is needed"),
        ("abs(mph, 1)", "`abs(x)` does not take 2 arguments"),
        ("round()", "`round(x[, digits])` does not take 0 arguments"),
        ("upper(mph)", "`mph` is int, and a string is needed"),
        ("left(name, name)", "an integer is needed"),
        ("name like name", "`name` must be a constant"),
        ("round(speed, mph)", "`mph` must be a constant"),
        ("name rlike '('", "Invalid regular expression"),
        ("regexp_extract(name, '(a)', 2)", "has 1 groups, and no group 2"),
        ("split_part(name, ',', 0)", "count from 1"),
        ("lpad(name, 5, 'ab')", "padded with one character"),
        ("substr(name, 1, -1)", "a length is not negative"),
        ("year(mph)", "`mph` is int, and a date or a timestamp is needed"),
        ("date_trunc('minite', at)", "there is no unit `minite` to cut to; did you mean `minute`?"),
        ("greatest(ok, ok)", "`ok` is boolean, and such values have no order"),
        ("cast(mph as timestamp)", "use to_timestamp(seconds)"),
        ("cast(mph as interval)", "x * interval '1' second"),
        ("cast(at as bigint)", "use epoch(t)"),
        ("cast(gap as string)", "an interval has no text"),
        ("cast(name as interval)", "only a literal text is read as an interval"),
        ("cast(samples as int)", "there is no cast from array<float> to int"),
        ("cast('x' as int)", "Failed to parse string: 'x'"),
        ("9223372036854775807 + 1", "overflow"),
        ("count(*) > 3", "in `count(*)`, `count` aggregates many rows; it belongs in an aggregate box"),
        ("avg(mph)", "it belongs in an aggregate box"),
        ("abs(distinct mph)", "DISTINCT stands only in an aggregate box"),
    ],
)
def test_what_does_not_fit_is_explained(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        expr(text).bind(SCHEMA)
    assert message in str(error.value)
    assert str(error.value).startswith(f"`{expr(text)}`: ")


def test_a_column_that_is_there_twice_is_refused() -> None:
    twice = pa.schema([pa.field("a", pa.int32()), pa.field("a", pa.int32())])
    with pytest.raises(ExpressionError, match="there are 2 columns `a`"):
        expr("a").bind(twice)


def test_internal_columns_can_be_bound() -> None:
    assert expr('"#0" - "#1"').bind(pa.schema({"#0": pa.int64(), "#1": pa.int64()})).type == pa.int64()


def test_a_literal_takes_the_type_of_the_column() -> None:
    batch = pa.RecordBatch.from_pydict({"lane": pa.array([1], pa.int8())})
    assert expr("coalesce(lane, 3)").bind(batch.schema).type == pa.int8()
    for text in ("lane < 1000", "lane > -1000", "lane != 1.5", "lane = 1.0", "lane < 1e300"):
        assert expr(text).bind(batch.schema).evaluate(batch).to_pylist() == [True]


def test_depth_is_refused_when_built_with_operators_too() -> None:
    with pytest.raises(ExpressionError, match="nested too deeply"):
        sum((col("a") for _ in range(2000)), col("a"))

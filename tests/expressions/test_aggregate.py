"""The arguments of aggregate boxes."""

import pickle

import pyarrow as pa
import pytest

from australis.errors import ExpressionError
from australis.expressions import AGGREGATES, AggregateCall, Aggregation, aggregation, call, col, expr


@pytest.mark.parametrize(
    ("text", "calls", "outer"),
    [
        ("count(*)", [AggregateCall("count", ())], '"#0"'),
        ("count()", [AggregateCall("count", ())], '"#0"'),
        ("COUNT(DISTINCT vid)", [AggregateCall("count", (expr("vid"),), distinct=True)], '"#0"'),
        ("count(distinct a, b)", [AggregateCall("count", (expr("a"), expr("b")), distinct=True)], '"#0"'),
        ("avg(mph*1.6)", [AggregateCall("avg", (expr("mph * 1.6"),))], '"#0"'),
        (
            "max(mph) - min(mph)",
            [AggregateCall("max", (expr("mph"),)), AggregateCall("min", (expr("mph"),))],
            '"#0" - "#1"',
        ),
        ("mean(x) / avg(x)", [AggregateCall("avg", (expr("x"),))], '"#0" / "#0"'),
        ("round(first_value(x), 1)", [AggregateCall("first", (expr("x"),))], 'round("#0", 1)'),
        ("my_udf(time, pos) + 1", [AggregateCall("My_UDF", (expr("time"), expr("pos")))], '"#0" + 1'),
        ("sum(abs(x)) > 0", [AggregateCall("sum", (expr("abs(x)"),))], '"#0" > 0'),
    ],
)
def test_calls_and_what_is_computed_from_them(text: str, calls: list[AggregateCall], outer: str) -> None:
    found = aggregation(text, {"My_UDF"})
    assert found == Aggregation(tuple(calls), expr(outer))
    assert aggregation(str(found), {"My_UDF"}) == found
    assert pickle.loads(pickle.dumps(found)) == found
    assert hash(found) == hash(aggregation(text, {"My_UDF"}))


def test_text_is_canonical() -> None:
    assert str(aggregation("MAX(mph)-Min( mph )")) == "max(mph) - min(mph)"
    assert str(aggregation("var_samp(x)")) == "variance(x)"
    assert str(aggregation("count(distinct  vid)")) == "count(distinct vid)"
    assert str(aggregation(call("avg", col("mph") * 2))) == "avg(mph * 2)"
    assert str(aggregation(expr("last(x)"))) == "last(x)"


def test_columns_are_those_of_the_calls() -> None:
    assert aggregation("max(b) - min(a) * sum(b + c)").columns == ("b", "a", "c")


@pytest.mark.parametrize("name", AGGREGATES)
def test_each_name_stands_for_one(name: str) -> None:
    (found,) = aggregation(f"{name}(x)").calls
    assert found.name == AGGREGATES[name] == AGGREGATES[found.name]


def test_the_outer_expression_can_be_bound() -> None:
    outer = aggregation("max(mph) - min(mph)").outer
    results = pa.RecordBatch.from_pydict({"#0": [5, None], "#1": [3, 4]})
    assert outer.bind(results.schema).evaluate(results).to_pylist() == [2, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mph", "the column `mph` stands outside an aggregate function, and a window has many rows; write first"),
        ("max(mph) - mph", "the column `mph` stands outside an aggregate function"),
        ("1 + 1", "there is no aggregate function; the functions are count, sum"),
        ("max(min(x))", "`min\\(x\\)` is an aggregate inside another, `max\\(min\\(x\\)\\)`"),
        ("sum(1 + count(*))", "an aggregate inside another"),
        ("averge(mph)", "there is no function `averge`; did you mean `avg`"),
        ("my_udf(x)", "there is no function `my_udf`"),
        ("sum(a, b)", "`sum` takes one argument, not 2"),
        ("avg()", "`avg` takes one argument, not 0"),
        ("sum(abs(distinct x))", "DISTINCT stands once, at the start"),
    ],
)
def test_what_is_no_aggregation_is_explained(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        aggregation(text)

"""The canonical SQL text of a tree."""

import datetime as dt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.expressions import expr
from australis.expressions.node import Literal, Name, Node, apply
from australis.expressions.parse import parse
from australis.expressions.render import render

INFIX = ["=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%", "like", "ilike", "rlike", "is distinct from"]
LITERALS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: str(x) != "-0.0"),
    st.text(max_size=5),
    st.timedeltas(),
).map(Literal)
NAMES = st.text(min_size=1, max_size=5) | st.sampled_from(["a", "left.pos", "end", "time"])
LEAVES = LITERALS | NAMES.map(Name)
CALLED = st.sampled_from(["round", "left", "my_f"])


def _larger(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.one_of(
        st.builds(apply, st.sampled_from(INFIX), inner, inner),
        st.builds(apply, st.sampled_from(["not", "neg", "is null"]), inner),
        st.builds(apply, st.just("between"), inner, inner, inner),
        st.builds(lambda f, args: apply(f, *args), st.sampled_from(["and", "or", "||"]), st.lists(inner, min_size=2)),
        st.builds(lambda args: apply("in", *args), st.lists(inner, min_size=2, max_size=4)),
        st.builds(lambda args: apply("case", *args), st.lists(inner, min_size=2, max_size=5)),
        st.builds(lambda f, args: apply(f, *args), CALLED, st.lists(inner, max_size=3)),
        st.builds(lambda arg: apply("cast", arg, Literal("timestamp[ms, Europe/Paris]")), inner),
    )


TREES = st.recursive(LEAVES, _larger, max_leaves=12)


@given(TREES)
@example(apply("neg", apply("neg", Name("x"))))
@example(apply("neg", Literal(0.0)))
@example(apply("-", Name("a"), apply("-", Name("b"), Literal(-1))))
@example(apply("not", apply("not", apply("in", Name("a"), Literal(1)))))
@example(apply("is null", apply("not", apply("is null", Name("a")))))
def test_text_parses_back_to_the_same_tree(tree: Node) -> None:
    assert parse(render(tree)) == tree


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("MPH<40 AND lane<>4", "MPH < 40 and lane != 4"),
        ("(a) == ((b))", "a = b"),
        ("(a and b) and c or (d)", "a and b and c or d"),
        ("a - (b - c) - d", "a - (b - c) - d"),
        ("(a + b) * c % 2", "(a + b) * c % 2"),
        ("a div 2", "a // 2"),
        ("a ** 2", "power(a, 2)"),
        ("not a is null", "a is not null"),
        ("not a in (1, 2)", "a not in (1, 2)"),
        ("a not like 'x'", "a not like 'x'"),
        ("not (a not between 1 and 2)", "not a not between 1 and 2"),
        ("a is true", "a is not distinct from true"),
        ("a <=> b", "a is not distinct from b"),
        ("left.pos > right.pos", "left.pos > right.pos"),
        ('`odd name` + "odd ""name"""', '"odd name" + "odd ""name"""'),
        ('"mph" + "select" + time + date + order', 'mph + "select" + time + date + order'),
        ("show > 3", "show > 3"),
        ("- 5", "-5"),
        ("-(-5)", "5"),
        ("1e3", "1000.0"),
        ("'it''s'", "'it''s'"),
        (r"s rlike '\d+'", r"s rlike '\d+'"),
        ("case x when 1 then 2 end", "case when x = 1 then 2 end"),
        ("if(a, 1, 0)", "case when a then 1 else 0 end"),
        ("iif(a, 1, 0)", "case when a then 1 else 0 end"),
        ("x::int + 1", "cast(x as int) + 1"),
        ("x::decimal(10,2)", "cast(x as decimal(10, 2))"),
        ("CAST(x AS Timestamp[ms])", "cast(x as timestamp[ms])"),
        ("try_cast(cast(x as text) as array<int>)", "try_cast(cast(x as string) as array<int>)"),
        ("date '2026-01-01' < d", "cast('2026-01-01' as date) < d"),
        ("extract(hour from at)", "hour(at)"),
        ("extract(dow from cast(s as date))", "dayofweek(cast(s as date))"),
        ("position('a' in s)", "position('a', s)"),
        ("interval '10' minute", "interval '10' minute"),
        ("interval '10 minutes'", "interval '10' minute"),
        ("interval 90 second", "interval '90' second"),
        ("interval '1 day 2 hours'", "interval '26' hour"),
        ("interval '-1.5' second", "interval '-1500' millisecond"),
        ("a /* why */ < 1 -- because", "a < 1"),
        ("Round(x,\n 1)", "round(x, 1)"),
        ("COUNT(*)", "count(*)"),
        ("count(DISTINCT a)", "count(distinct a)"),
    ],
)
def test_canonical_text(written: str, canonical: str) -> None:
    assert str(expr(written)) == canonical
    assert expr(canonical) == expr(written)


def test_intervals_to_the_microsecond() -> None:
    assert parse("interval '1 microsecond'") == Literal(dt.timedelta(microseconds=1))


def test_nested_negations_are_rendered_in_little_time() -> None:
    tree: Node = Name("a")
    for _ in range(60):
        tree = apply("not", tree)
    assert render(tree) == "not (" * 59 + "not a" + ")" * 59

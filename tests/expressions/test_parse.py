"""SQL text to trees, and back to canonical text."""

import pytest

from australis.errors import ExpressionError
from australis.expressions import expr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mph <", "something is missing at `<`\n  mph <\n      ^"),
        ("mph < 40 lane", "`lane` is not expected here\n  mph < 40 lane\n           ^"),
        ("(mph < 40", "`)` is missing after `40`\n  (mph < 40\n         ^"),
        ("a and\n  b c\nor d", "`c` is not expected here\n    b c\n      ^"),
        ("name = 'Smith", "the ' is not closed\n  name = 'Smith\n         ^"),
        ("a = `b", "the ` is not closed"),
        ("mph < 40; drop", "not several statements"),
        ("select mph", "no SELECT and no subquery"),
        (
            "vid in (select vid)",
            "no SELECT and no subquery; write only what to compute\n  vid in (select vid)\n          ^",
        ),
        ("sum(mph) over (order by time)", "no window function (OVER); use an aggregate box instead"),
        ("", "empty"),
        ("  \n", "empty"),
        ("-- nothing", "an expression is empty"),
        ("lane in ()", "IN needs a list of values"),
        ("lane is 3", "IS is followed by NULL"),
        ("a & b", "write `and` for `&`"),
        ("*", "`*` stands only in `count(*)`"),
        ("f(*)", "`*` stands only in `count(*)`"),
        ("samples[3]", "there are no subscripts"),
        ("s like 'a' escape 'b'", "a backslash escapes"),
        ("interval '1' month", "a month has no fixed length"),
        ("interval '1' secund", "there is no unit `secund` of time; did you mean `second`?"),
        ("interval 'soon'", "`soon` is no interval"),
        ("interval '99999999999' day", "too long"),
        ("extract(hours from at)", "there is no `hours` to extract; did you mean `hour`?"),
        ("cast(a as dubble)", "there is no type `dubble`; did you mean `double`?"),
        ("cast(a, int)", "write cast as"),
        ("99999999999999999999", "does not fit in 64 bits"),
        ("{'a': 1}", "not part of the expression language"),
        ("a -> b", "not part of the expression language"),
        ("(" * 500 + "a" + ")" * 500, "nested too deeply"),
    ],
)
def test_what_does_not_parse_is_pointed_at(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        expr(text)
    assert message in str(error.value)


def test_long_chains_are_not_deep() -> None:
    text = " or ".join(f"vid = {i}" for i in range(3000))
    assert str(expr(text)) == text

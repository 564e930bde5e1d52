"""The code that is generated for expressions, beside golden files."""

from pathlib import Path

import pytest

from australis.arrow.schema import schema
from australis.expressions import expr
from australis.expressions.codegen.fused import Step, fused
from australis.expressions.codegen.recurrence import recurrence
from tests.golden_code import check, check_names

FOLDER = Path(__file__).parent / "golden"
SCHEMA = schema("n bigint, i int, b tinyint, x double, f float, up boolean, s string, odd decimal(5, 2)")
STATE = schema(
    'v int, x double, s string, price decimal(9, 2), "old.total" bigint, "old.n" int, "old.m" double, "old.up" boolean'
)


def columns(**texts: str) -> tuple[tuple[str, object], ...]:
    return tuple((name, expr(text)) for name, text in texts.items())


FUSED: dict[str, tuple[Step, ...]] = {
    "fused_checked_sums": (columns(plus="n + i", minus="n - 7", back="-i", size="abs(n)"),),
    "fused_checked_products": (columns(times="n * i", square="n * n"),),
    "fused_division": (columns(whole="n // i", rest="n % 10", real="x / f", half="n / 2"),),
    "fused_narrow_types": (columns(b="case when up then b else i end", i="i", f="f * 2"),),
    "fused_comparisons": (expr("n > 40"), expr("x <= f"), expr("n = 3.0"), expr("i != 2.5")),
    "fused_and_with_nulls": (expr("n % i != 3 and x / f > 1 and up"),),
    "fused_or_with_nulls": (expr("n // i > 2 or x / f > 1 or not up"),),
    "fused_lazy_and": (expr("n < 1000 and n * n > 100"),),
    "fused_lazy_case": (columns(a="case when n < 1000 then n * n when up then n + 1 else i end"),),
    "fused_case_without_else": (columns(a="case when n // i > 3 then n when up then i end"),),
    "fused_lazy_coalesce": (columns(a="coalesce(n // i, n * n, 0)", none="n // i is null"),),
    "fused_nan_ranks": (columns(high="greatest(x, f, 0.5)", low="least(x, f)"),),
    "fused_ranks_with_nulls": (columns(high="greatest(n // i, n, i)", low="least(x / f, x)"),),
    "fused_several_steps": (
        expr("up"),
        columns(s="s", odd="odd", n="n + i", i="i"),
        columns(text="s", odd="odd", n="n * 2", half="n / i"),
        expr("n > 10 or half < 0.5"),
    ),
}  # type: ignore[dict-item]

RECURRENCES = {
    "recurrence_running_total": (columns(total="coalesce(old.total, 0) + v", n="coalesce(old.n, 0) + 1"), ()),
    "recurrence_columns_that_stay": ((("total", None), *columns(up="not old.up")), ()),
    "recurrence_returned": (columns(total="v"), ("old.total - v", "old.total is null", "old.up")),
    "recurrence_inputs": (
        columns(total="old.total + length(s)", m="old.m + cast(price as double)"),
        (),
    ),
    "recurrence_lazy_case": (columns(total="case when old.total > v then old.total * v when v is null then 0 end"), ()),
    "recurrence_nan_ranks": (columns(m="greatest(old.m, x)", n="least(old.n, v)"), ()),
    "recurrence_null": (columns(total="null", m="old.m / x"), ()),
}


@pytest.mark.parametrize("name", FUSED)
def test_a_fused_loop(name: str) -> None:
    loop = fused(SCHEMA, FUSED[name])
    assert loop is not None
    check(loop.code, FOLDER / f"{name}.py")


@pytest.mark.parametrize("name", RECURRENCES)
def test_a_recurrence(name: str) -> None:
    state, returned = RECURRENCES[name]
    loop = recurrence(tuple((f"old.{column}", new) for column, new in state), STATE, tuple(map(expr, returned)))
    assert loop is not None
    check(loop.code, FOLDER / f"{name}.py")


def test_every_golden_file_has_a_test() -> None:
    check_names(FOLDER, {f"{name}.py" for name in (*FUSED, *RECURRENCES)})


def test_names_of_columns_stand_in_comments_alone() -> None:
    one, two = '"a\n        return 7 #"', '"\x00\u2028b"'
    odd = fused(schema(f"{one} int, {two} int"), (expr(f"{one} > {two}"),))
    plain = fused(schema("a int, b int"), (expr("a > b"),))
    assert odd is not None
    assert plain is not None
    assert odd.code.key == plain.code.key
    assert len(odd.code.text.splitlines()) == len(plain.code.text.splitlines())

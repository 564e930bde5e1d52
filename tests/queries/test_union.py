"""Unions of a query."""

import pytest

import australis as au
from australis.arrow.schema import schema
from australis.errors import ExpressionError
from australis.queries.piece import Piece
from australis.queries.union import plan_union
from australis.testing import rows

PIECE = Piece("a UNION ALL b", 0, 13)


def united(*columns: str) -> au.Stream:
    return plan_union([au.stream(f"s{at}", each) for at, each in enumerate(columns)], PIECE)


@pytest.mark.parametrize(
    ("types", "common"),
    [
        (["int", "int"], "int"),
        (["int", "bigint"], "bigint"),
        (["tinyint", "uint32"], "bigint"),
        (["int", "float"], "double"),
        (["bigint", "double", "int"], "double"),
        (["string", "string"], "string"),
        (["uint64", "uint64"], "uint64"),
    ],
)
def test_the_type_of_a_column_holds_those_of_all_parts(types: list[str], common: str) -> None:
    assert united(*(f"{'abc'[at]} {each}" for at, each in enumerate(types))).schema == schema(f"a {common}")


@pytest.mark.parametrize(
    "types",
    [("int", "string"), ("uint64", "bigint"), ("decimal(9, 2)", "int"), ("int", "boolean"), ("date", "timestamp")],
)
def test_types_without_a_common_one_are_told(types: tuple[str, str]) -> None:
    with pytest.raises(ExpressionError, match=r"column `a` of the UNION ALL is .* in its parts; cast one of them"):
        united(f"a {types[0]}", f"b {types[1]}")


def test_parts_have_as_many_columns_each() -> None:
    with pytest.raises(ExpressionError, match="the first has 1 and another 2"):
        united("a int", "a int, b int")


def test_columns_go_by_their_places() -> None:
    net = au.network(out=united("a int, b bigint", "b bigint, a int"))
    found = net.run_local(s0=[{"a": 1, "b": None}], s1=[{"b": 2**62, "a": -1}])["out"]
    assert sorted(rows(found), key=str) == sorted([(1, None), (2**62, -1)], key=str)

"""Scope: the columns that the names of a query mean."""

import pytest

import australis as au
from australis.errors import ExpressionError
from australis.queries.piece import Piece
from australis.queries.scope import Column, QueryScope, scope

STREAM = au.stream("reports", "time int, vid int, vid_right int, sign int")
JOINED = QueryScope(STREAM, (Column("a", "time", "time"), Column("a", "vid", "vid"), Column("b", "vid", "vid_right")))


def piece(text: str) -> Piece:
    return Piece(text, 0, len(text))


def test_a_name_with_its_table_or_alone() -> None:
    assert JOINED.find("vid") == ["vid", "vid_right"]
    assert (JOINED.find("a.vid"), JOINED.find("b.vid"), JOINED.find("c.vid")) == (["vid"], ["vid_right"], [])
    assert str(JOINED.resolve(piece("b.vid + time"))) == "vid_right + time"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vid", "`vid` may be a.vid or b.vid; say which"),
        ("tiem", "there is no column `tiem`; did you mean `time`"),
        ("b.time", "there is no column `b.time`"),
        ('"zero"', "there is no column `zero`. The columns are time, vid.*'zero'"),
    ],
)
def test_a_name_that_means_nothing_or_too_much(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        JOINED.resolve(piece(text))


def test_the_sign_of_an_answer_has_no_name() -> None:
    assert scope(STREAM, "r").find("sign") == ["sign"]
    signed = scope(STREAM, "r", signed=True)
    assert (signed.sign, signed.find("sign"), signed.find("r.time")) == ("sign", [], ["time"])

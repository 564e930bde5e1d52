"""Errors: their message, their data, what is added to them on the way up, and the phrases that messages share."""

import copy
import json
import pickle

import pytest

import australis as au
from australis import errors
from australis.errors import (
    ArgumentPlace,
    AustralisError,
    ColumnPlace,
    ExpressionError,
    ExpressionPlace,
    NetworkError,
    Place,
    RunError,
    SchemaError,
    Subject,
    TextPlace,
    UnknownName,
    listing,
    near,
    placed,
    text_place,
)
from australis.queries import sql_network

FILE = """\
australis: 2
inputs:
  reports: time int, vid int, mph int
boxes:
  fast:
    filter: mph > 60
    from: reports
  kph:
    map:
      time: time
      kph: mhp * 1.6
    from: fast
outputs:
  out: kph
"""
EVERYWHERE = (
    TextPlace("jams.yaml", 7, 5), Subject("map", "kph"), ArgumentPlace("columns", silent=True),
    ColumnPlace("kph", silent=True), ExpressionPlace("mhp * 1.6", "mhp"), UnknownName("mhp", "mph"),
)  # fmt: skip


@pytest.mark.parametrize("name", ["SchemaError", "ExpressionError", "NetworkError", "RunError"])
def test_every_error_has_the_one_root(name: str) -> None:
    assert issubclass(getattr(errors, name), AustralisError)


def test_near_proposes_one_name_whatever_its_case() -> None:
    assert near("mhp", ["time", "vid", "mph"]) == "; did you mean `mph`?"
    assert near("MPH", ["time", "vid", "mph"]) == "; did you mean `mph`?"
    assert near("vid", ["VID"]) == "; did you mean `VID`?"


def test_near_is_silent_when_nothing_is() -> None:
    assert near("altitude", ["time", "vid"]) == ""
    assert near("altitude", []) == ""


def test_listing_cuts_what_is_very_long() -> None:
    assert listing(["time", "vid", "mph"]) == "time, vid, mph"
    assert listing(str(i) for i in range(31)).endswith("29, 30")
    assert listing(str(i) for i in range(40)).endswith("28, 29 and 10 more")
    assert listing([]) == "none"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (Subject("filter", "fast"), "filter fast: why"),
        (Subject("filter"), "filter: why"),
        (Subject("filter", "fast", silent=True), "why"),
        (ArgumentPlace("slack"), "`slack`: why"),
        (ColumnPlace("mph"), "column `mph`: why"),
        (ExpressionPlace("mph > x"), "`mph > x`: why"),
        (ExpressionPlace("f(mph) > x", "f(mph)"), "`f(mph) > x`: in `f(mph)`, why"),
        (ExpressionPlace("mph >\n  x", at=8), "why\n    x\n    ^"),
        (ExpressionPlace("mph > x", at=6, silent=True), "why"),
        (TextPlace("jams.yaml"), "jams.yaml: why"),
        (TextPlace("jams.yaml", 7, 5), "jams.yaml, line 7: why"),
        (TextPlace("jams.yaml", 7, 5, exact=True), "jams.yaml, line 7, column 5: why"),
        (text_place("SELECT mph\nFROM reports", 16), "line 2, column 6: why\n  FROM reports\n       ^"),
        (UnknownName("mhp", "mph"), "why"),
    ],
)
def test_a_message_is_the_reason_with_its_place(place: Place, message: str) -> None:
    assert str(NetworkError("why", place)) == message


def test_places_are_shown_from_the_outermost_to_the_innermost_and_one_picture_below() -> None:
    error = ExpressionError("`(` is not closed", ExpressionPlace("(mph", at=0)).put(Subject("filter", "fast"))
    assert str(error) == "filter fast: `(` is not closed\n  (mph\n  ^"
    assert str(error.put(text_place("SELECT (mph", 7))).splitlines()[1:] == ["  SELECT (mph", "         ^"]


def test_what_is_added_on_the_way_up_is_added_to_the_same_error() -> None:
    raised = SchemaError("why")
    caught = pytest.raises(SchemaError, match=r"^output out: `latency`: why$")
    with caught as info, placed(Subject("output", "out")), placed(ArgumentPlace("latency")):
        raise raised
    assert info.value is raised
    assert raised.__cause__ is None


def test_an_error_as_one_of_another_class_keeps_its_places() -> None:
    error = SchemaError("why", Subject("table", "tolls"))
    assert str(RunError.of(error)) == str(error)
    assert str(RunError.of(ValueError("why"))) == "why"
    assert str(RunError.of(ValueError())) == "ValueError"


@pytest.mark.parametrize("kind", [SchemaError, ExpressionError, NetworkError, RunError])
def test_errors_are_copied_and_pickled_with_all_that_they_know(kind: type[AustralisError]) -> None:
    error = kind("why", *EVERYWHERE)
    error.reason += "; and more"
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is kind
        assert other.data() == error.data()
        assert other.places == EVERYWHERE


def test_the_data_of_an_error_are_plain() -> None:
    error = ExpressionError("there is no column `mhp`", *EVERYWHERE)
    assert json.loads(json.dumps(error.data())) == {
        "error": "ExpressionError",
        "message": "jams.yaml, line 7: map kph: `mhp * 1.6`: in `mhp`, there is no column `mhp`",
        "reason": "there is no column `mhp`",
        "about": {"kind": "map", "name": "kph"},
        "argument": "columns",
        "column": "kph",
        "expression": {"text": "mhp * 1.6", "part": "mhp", "at": None},
        "text": {"name": "jams.yaml", "line": 7, "column": 5},
        "unknown": {"name": "mhp", "suggestion": "mph"},
    }
    assert {key for key, value in NetworkError("why").data().items() if value} == {"error", "message", "reason"}


def data(text: str) -> dict[str, object]:
    with pytest.raises(AustralisError) as caught:
        au.loads(text, "jams.yaml")
    return caught.value.data()


def test_an_error_in_a_file_is_at_the_column_that_is_wrong() -> None:
    found = data(FILE)
    assert found["about"] == {"kind": "map", "name": "kph"}
    assert found["column"] == "kph"
    assert found["expression"] == {"text": "mhp * 1.6", "part": None, "at": None}
    assert found["text"] == {"name": "jams.yaml", "line": 11, "column": 7}
    assert found["unknown"] == {"name": "mhp", "suggestion": "mph"}


def test_an_error_in_a_file_is_at_the_argument_that_is_wrong() -> None:
    found = data(FILE.replace("from: reports", "from: report"))
    assert (found["argument"], found["text"]) == ("from", {"name": "jams.yaml", "line": 7, "column": 5})
    found = data(FILE.replace("mph > 60", "mph > (60"))
    assert found["text"] == {"name": "jams.yaml", "line": 6, "column": 5}
    assert found["expression"] == {"text": "mph > (60", "part": None, "at": 7}
    found = data(FILE.replace("out: kph", "out: kph\n  all: {from: fast.rset}").replace("mhp", "mph"))
    assert found["about"] == {"kind": "output", "name": "all"}
    assert found["unknown"] == {"name": "rset", "suggestion": "rest"}
    assert found["text"] == {"name": "jams.yaml", "line": 15, "column": 9}


def test_an_error_in_a_query_has_its_place_in_the_text() -> None:
    with pytest.raises(ExpressionError) as caught:
        sql_network("SELECT time FROM reports\nWHERE mhp > 60", {"reports": "time int, mph int"})
    found = caught.value.data()
    assert found["text"] == {"name": "", "line": 2, "column": 7}
    assert found["unknown"] == {"name": "mhp", "suggestion": "mph"}


def test_an_argument_of_the_wrong_type_is_named_in_the_data() -> None:
    with pytest.raises(NetworkError) as caught:
        au.stream("reports", "time int, mph int").bsort("time", slack=1.5, box="sorted")  # type: ignore[arg-type]
    assert caught.value.data()["about"] == {"kind": "bsort", "name": "sorted"}
    assert caught.value.data()["argument"] == "slack"

"""Errors that pass through Spark as text."""

import base64
import pickle
from traceback import format_exception

import pytest

from australis.engine.spark.failures import carried, failure, reason
from australis.errors import AustralisError, ExpressionPlace, NetworkError, RunError, Subject


def through_spark(error: Exception) -> Exception:
    """What comes out of Spark when a task has raised an error: its traceback, among lines of Java's."""
    with pytest.raises(type(error)) as caught, carried():
        raise error
    text = "".join(format_exception(caught.value))
    return ValueError(f"[STREAM_FAILED] Query failed\norg.apache.spark.PythonException: {text}\n\tat org.apache.spark")


@pytest.mark.parametrize("kind", [RunError, NetworkError])
def test_an_error_of_a_task_comes_as_it_was_raised(kind: type[AustralisError]) -> None:
    error = kind("too fast\nand more", Subject("map", "halving"), ExpressionPlace("halved(mph)", at=3))
    found = failure(through_spark(error))
    assert type(found) is kind
    assert found.data() == error.data()


def test_an_error_that_is_not_ours_is_told_by_its_last_line() -> None:
    found = failure(through_spark(ZeroDivisionError("division by zero")))
    assert type(found) is RunError
    assert str(found) == "ZeroDivisionError: division by zero"


def test_an_error_of_this_process_is_left_as_it_is() -> None:
    error = RunError("no room")
    assert failure(error) is error


def test_the_reason_says_what_to_do_where_that_is_known() -> None:
    assert reason(ValueError()) == "ValueError"
    assert "set PYSPARK_PYTHON to" in reason(ValueError("a\nModuleNotFoundError: No module named 'australis'"))


@pytest.mark.parametrize(
    "note",
    [
        base64.b64encode(pickle.dumps(RunError("from outside"))).decode(),
        base64.b64encode(b"not json").decode(),
        base64.b64encode(b'{"error": "listing", "reason": "x", "places": []}').decode(),
        base64.b64encode(b'{"error": "RunError", "reason": "x", "places": [["unknown", {}]]}').decode(),
        base64.b64encode(b'{"error": "RunError", "reason": "x", "places": [["Subject", {"odd": 1}]]}').decode(),
        base64.b64encode(b"[]").decode(),
        "%%%",
        "abc",
    ],
)
def test_what_data_says_is_no_error_of_ours(note: str) -> None:
    """A line of input that is quoted in an error may have anything in it."""
    text = f"Traceback\n  ...\nValueError: cannot read australis-error:{note}"
    assert type(failure(ValueError(text))) is RunError
    assert "cannot read" in str(failure(ValueError(text)))

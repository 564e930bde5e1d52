"""What a session takes care of around Spark, without it."""

import logging
import os
import signal
import threading

import pytest

from australis.engine.spark.session import (
    _check_user,
    _environment,
    _not_py4js,
    _signals_as_they_were,
    _signals_waiting,
)
from australis.errors import RunError


def test_a_variable_is_set_and_then_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSTRALIS_ONE", "before")
    monkeypatch.delenv("AUSTRALIS_TWO", raising=False)
    with _environment("AUSTRALIS_ONE", "now"), _environment("AUSTRALIS_TWO", "new"):
        assert (os.environ["AUSTRALIS_ONE"], os.environ["AUSTRALIS_TWO"]) == ("now", "new")
    assert os.environ["AUSTRALIS_ONE"] == "before"
    assert "AUSTRALIS_TWO" not in os.environ


def test_a_signal_comes_when_the_start_is_over() -> None:
    heard: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("signal"))
    try:
        with _signals_waiting():
            signal.raise_signal(signal.SIGTERM)
            heard.append("started")
        assert heard == ["started", "signal"]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_handlers_that_others_set_are_taken_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with _signals_as_they_were():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGINT) == before


def test_other_threads_leave_signals_alone() -> None:
    failed: list[BaseException] = []

    def start() -> None:
        try:
            with _signals_waiting():
                pass
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert failed == []


def test_a_user_without_a_name_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    _check_user()
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    with pytest.raises(RunError, match="user id 4000000: has no name in /etc/passwd"):
        _check_user()


@pytest.mark.parametrize(
    ("path", "shown"), [("/lib/py4j/clientserver.py", False), ("/lib/py4js/x.py", True), ("/my/py4j.py", True)]
)
def test_lines_of_py4j_are_left_out_of_the_log(path: str, shown: bool) -> None:
    assert _not_py4js(logging.LogRecord("any", logging.INFO, path, 1, "text", None, None)) is shown

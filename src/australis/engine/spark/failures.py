"""Errors on their way from Spark's processes to the one that started the run.

Of an error that a task raises, Spark keeps the text of the traceback alone, and has no other way back for a task that
failed. So our own errors carry themselves through it: as JSON, in a note, which Python prints below the message. The
text may quote what came from outside, so nothing in it is unpickled: at worst it makes an error with other words.
"""

from __future__ import annotations

import json
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from australis import errors
from australis.errors import AustralisError, Place, RunError

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from australis.engine.checkpoint import Checkpoint

_GRACE = 10.0  # seconds for a process that does not answer to be seen to have ended
_PLANNER = "PythonStreamingSourceRunner"  # where Spark talks to the process that plans batches
_NOTE = re.compile(r"australis-error:([\w+/=]+)")
_LAST_LINE = re.compile(r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception): .+)$", re.MULTILINE)


@contextmanager
def carried() -> Iterator[None]:
    """Let errors raised inside, in a process of Spark, reach `failure` in the process that started the run."""
    try:
        yield
    except AustralisError as error:
        error.add_note(f"australis-error:{b64encode(_encode(error)).decode()}")
        raise


def failure(error: Exception) -> AustralisError:
    """The error that was raised in a task, or else one with what Spark tells as its reason.

    >>> from traceback import format_exception
    >>> from australis.errors import Subject
    >>> try:
    ...     with carried():
    ...         raise RunError("too fast", Subject("map", "halving"))
    ... except RunError as raised:
    ...     text = "".join(format_exception(raised))
    >>> failure(ValueError(f"Py4JError: ...\\n{text}\\n  at org.apache")).about
    Subject(silent=False, kind='map', name='halving')
    """
    if isinstance(error, AustralisError):
        return error
    notes = _NOTE.findall(str(error))
    return (notes and _decode(notes[-1])) or RunError(reason(error))


def _encode(error: AustralisError) -> bytes:
    kind = next(each.__name__ for each in type(error).mro() if each.__module__ == errors.__name__)
    places = [[type(place).__name__, asdict(place)] for place in error.places]
    return json.dumps({"error": kind, "reason": error.reason, "places": places}).encode()


def _decode(note: str) -> AustralisError | None:
    """The error of a note, or none if it is not one that `_encode` wrote."""
    try:
        data = json.loads(b64decode(note))
        places = [_class(kind, Place)(**fields) for kind, fields in data["places"]]
        error: AustralisError = _class(data["error"], AustralisError)(str(data["reason"]), *places)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return error


def _class(name: str, base: type) -> type:
    found = getattr(errors, name)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise TypeError(f"{name} is no {base.__name__}")
    return found


class SparkEndedError(RunError):
    """Spark's process has ended under a run."""


def query_failure(error: Exception, query: StreamingQuery, checkpoint: Checkpoint, gateway: Any) -> AustralisError:
    """The error that ended the query of a run: its own failure, a missing checkpoint, or the end of a process."""
    from pyspark.errors import StreamingQueryException

    from australis.engine.spark.jvm import ended

    try:
        checkpoint.check()
    except RunError as missing:
        return missing
    then = f"goes on from {checkpoint.path}" if checkpoint.lasting else "begins anew"
    if not isinstance(error, StreamingQueryException):
        how = ended(gateway, _GRACE)
        return SparkEndedError(f"Spark's process {how}; start the network again: it {then}") if how else failure(error)
    if planner_ended(error):
        return RunError(f"the process that plans batches was killed, or ended; start the network again: it {then}")
    return failure(query.exception() or error)


def planner_ended(error: Exception) -> bool:
    """Whether the process that plans batches ended by itself: Java's stack is there, and no error of Python's is."""
    return _PLANNER in str(getattr(error, "_stackTrace", "")) and "Traceback" not in str(error)


def reason(error: Exception) -> str:
    """The last error that Spark tells of in one line, and what to do about it where that is known.

    Spark gives an error of Java, of a library or of the user's own code as text only.

    >>> reason(ValueError("Py4JError: ...\\n  at org.apache\\nValueError: no such road\\n\\n=== Query ==="))
    'ValueError: no such road'
    >>> print(reason(ValueError("ModuleNotFoundError: No module named 'roads'")))
    ModuleNotFoundError: No module named 'roads': Spark's workers do not find it; install it where they run, or have
    the functions in the script itself
    """
    text = str(error).strip() or type(error).__name__
    lines = _LAST_LINE.findall(text)
    line = text if "\n" not in text else str(lines[-1]) if lines else text.splitlines()[0]
    missing = re.search(r"No module named '(\w+)", line)
    return line + _remedy(missing[1]) if missing else line


def _remedy(module: str) -> str:
    if module == "australis":
        return (
            ": the Python that Spark starts does not have it; on this machine set PYSPARK_PYTHON to"
            f" {sys.executable} before Spark is started, on a cluster install it on every machine"
        )
    return ": Spark's workers do not find it; install it where they run, or have the functions in the script itself"

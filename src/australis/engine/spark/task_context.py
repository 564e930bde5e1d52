"""The task of Spark that this process runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import TaskContext


def partition() -> int:
    """The number of its partition."""
    return _context().partitionId()


def attempt() -> int:
    """A number that no other task of the session has, nor another try at the same one."""
    return _context().taskAttemptId()


def _context() -> TaskContext:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context

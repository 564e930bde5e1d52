"""The task of Spark that this process runs."""

from __future__ import annotations


def partition() -> int:
    """The number of its partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def attempt() -> int:
    """A number that no other task of the session has, nor another try at the same one."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.taskAttemptId()

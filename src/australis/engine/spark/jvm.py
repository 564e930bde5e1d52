"""Spark's process: the Java behind a session, how it has ended, and how this process lets go of it to start another."""

from __future__ import annotations

import shutil
import signal
from contextlib import suppress
from subprocess import Popen, TimeoutExpired
from threading import Lock
from typing import Any

_GRACE = 5.0  # seconds for it to remove its files
_OUT_OF_MEMORY = (3, 52)  # what Java and Spark end with then
_one_at_a_time = Lock()


def process(gateway: Any) -> Popen[bytes] | None:
    """The process behind a gateway; none if it was there before this one."""
    found: Popen[bytes] | None = gateway.__dict__.get("proc")  # asked for otherwise, the gateway would ask Java
    return found


def ended(gateway: Any, patience: float = 0.0) -> str:
    """How the process behind a gateway has ended, in words; nothing if it goes on for so many seconds more."""
    its = process(gateway)
    if its is None:
        return "" if _answers(gateway) else "does not answer any more"
    try:
        return told(its.wait(patience))
    except TimeoutExpired:
        return ""


def told(status: int) -> str:
    """The status of a process in words.

    >>> print(told(-9), told(52), told(1), sep="; ")
    was killed (SIGKILL), as systems do that run out of memory; ran out of memory; ended with status 1
    """
    if status == -signal.SIGKILL:
        return "was killed (SIGKILL), as systems do that run out of memory"
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return "ran out of memory" if status in _OUT_OF_MEMORY else f"ended with status {status}"


def forget(gateway: Any) -> None:
    """Let go of all that belongs to a process that is gone; what it left in its folder is removed."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession, SQLContext

    with _one_at_a_time:
        if SparkContext._gateway is gateway:
            context = SparkContext._active_spark_context
            if context is not None:
                release(context)
            SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
            SparkSession._instantiatedSession = SparkSession._activeSession = None
            SQLContext._instantiatedContext = None
        with suppress(Exception):
            gateway.shutdown()
        its = process(gateway)
        if its is not None and its.stdin is not None:
            with suppress(OSError):
                its.stdin.close()
        if folder := gateway.__dict__.get("folder"):
            shutil.rmtree(folder, ignore_errors=True)


def release(context: Any) -> None:
    """Stop what a context has in this process, without a word to Java."""
    server, context._jsc = context._accumulatorServer, None
    with suppress(Exception):
        context.stop()
        server.server_close()  # which Spark forgets


def kill() -> None:
    """End Spark's process without a word to it: one to which a call was cut short may never answer another."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    its = None if gateway is None else process(gateway)
    if its is None:  # it was there before this process
        return
    its.terminate()
    try:
        its.wait(_GRACE)
    except TimeoutExpired:
        its.kill()
        its.wait()
    forget(gateway)


def _answers(gateway: Any) -> bool:
    try:
        gateway.jvm.java.lang.System.currentTimeMillis()
    except Exception:
        return False
    return True

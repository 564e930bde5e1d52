"""Spark's process: the Java behind a session, how it has ended, and how to forget it so that another can start."""

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
    java: Popen[bytes] | None = gateway.__dict__.get("proc")  # the gateway looks other attributes up in Java
    return java


def ended(gateway: Any, patience: float = 0.0) -> str:
    """How the process behind a gateway has ended, in words; empty if it has not, after waiting for so many seconds."""
    java = process(gateway)
    if java is None:
        return "" if _answers(gateway) else "does not answer any more"
    try:
        return describe(java.wait(patience))
    except TimeoutExpired:
        return ""


def describe(status: int) -> str:
    """The status of a process in words.

    >>> print(describe(-9), describe(52), describe(1), sep="; ")
    was killed (SIGKILL), as systems do that run out of memory; ran out of memory; ended with status 1
    """
    if status == -signal.SIGKILL:
        return "was killed (SIGKILL), as systems do that run out of memory"
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return "ran out of memory" if status in _OUT_OF_MEMORY else f"ended with status {status}"


def forget(gateway: Any) -> None:
    """Forget all that belongs to a process that is gone, and remove what it left in its folder."""
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
        java = process(gateway)
        if java is not None and java.stdin is not None:
            with suppress(OSError):
                java.stdin.close()
        if folder := gateway.__dict__.get("folder"):
            shutil.rmtree(folder, ignore_errors=True)


def release(context: Any) -> None:
    """Stop what a context has in this process, without a call to Java."""
    server, context._jsc = context._accumulatorServer, None
    with suppress(Exception):
        context.stop()
        server.server_close()  # which Spark forgets


def kill() -> None:
    """End Spark's process without a call to it: after a call that was cut short it may never answer another."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    java = None if gateway is None else process(gateway)
    if java is None:  # it was there before this process
        return
    java.terminate()
    try:
        java.wait(_GRACE)
    except TimeoutExpired:
        java.kill()
        java.wait()
    forget(gateway)


def _answers(gateway: Any) -> bool:
    try:
        gateway.jvm.java.lang.System.currentTimeMillis()
    except Exception:
        return False
    return True

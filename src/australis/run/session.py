"""The Spark session of a run: the user's own where there is one, else one of ours, embedded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from australis import java
from australis.run.nursery import MEMORY, launcher, room

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*,4]"
"""All cores of this machine; a task that fails is tried four times."""

_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
_LOG = Path(__file__).with_name("log4j2.properties")
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
_EXECUTORS = {f"spark.executorEnv.{name}": value for name, value in MEMORY.items()}
_SOCKETS = "spark.python.unix.domain.socket"  # over TCP every task waits 40 ms for a delayed acknowledgement
_STREAMS = {
    "spark.sql.session.timeZone": "UTC",
    # Idle Spark starts batches for its own operators' timers; ours are asked by the source's offset.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # Logs of offsets and commits by way of a file system that forks less: 15 ms a batch rather than 100.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # A batch has a few rows for each partition: there is nothing to adapt to.
    "spark.sql.adaptive.enabled": "false",
}

_APART: WeakKeyDictionary[SparkSession, SparkSession] = WeakKeyDictionary()


def session(
    given: SparkSession | None = None, master: str | None = None, stderr: int | None = None
) -> tuple[SparkSession, bool]:
    """The session to run on, and whether it is ours to stop: one that is given or active never is.

    What Spark's process says goes to the standard error, or to the file of a descriptor.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    found = given or SparkSession.getActiveSession()
    if found is not None:
        return found, False
    os.environ.setdefault("JAVA_HOME", str(java.home()))
    os.environ.setdefault("LOG4J_CONFIGURATION_FILE", str(_LOG))
    where = master or LOCAL
    os.environ["PYSPARK_PYTHON"] = launcher() if where.startswith("local") else sys.executable
    settings = _QUIET | _STREAMS | (_LOOPBACK if where.startswith("local") else _EXECUTORS)
    settings[f"{_SOCKETS}.enabled"] = "true"
    if where.startswith("local") and (folder := room()) is not None:
        settings[f"{_SOCKETS}.dir"] = folder
    conf = SparkConf().setAppName("australis").setMaster(where).setAll(list(settings.items()))
    if stderr is not None and SparkContext._gateway is None:
        gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
        SparkContext(conf=conf, gateway=gateway)
    return SparkSession.builder.config(conf=conf).getOrCreate(), True


def apart(spark: SparkSession) -> SparkSession:
    """A session on the same Spark with settings and the source of our own, which leaves the one that is given as it is.

    All runs of a session share it: to make it takes as long as to plan a batch.
    """
    if spark not in _APART:
        from australis.run.reader import JobSource

        ours = _APART[spark] = spark.newSession()
        for name, value in _STREAMS.items():
            ours.conf.set(name, value)
        ours.dataSource.register(JobSource)
    return _APART[spark]

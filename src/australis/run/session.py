"""The Spark session of a run: the user's own where there is one, else one of ours, embedded."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from australis import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
_STREAMS = {
    "spark.sql.session.timeZone": "UTC",
    # Idle Spark starts batches for its own operators' timers; ours are asked by the source's offset.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


def session(given: SparkSession | None = None, master: str | None = None) -> tuple[SparkSession, bool]:
    """The session to run on, and whether it is ours to stop: one that is given or active never is."""
    from pyspark.sql import SparkSession

    found = given or SparkSession.getActiveSession()
    if found is not None:
        return found, False
    os.environ.setdefault("JAVA_HOME", str(java.home()))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    where = master or LOCAL
    builder = SparkSession.builder.appName("australis").master(where)
    settings = _QUIET | _STREAMS | (_LOOPBACK if where.startswith("local") else {})
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate(), True

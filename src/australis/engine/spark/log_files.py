"""The files of Spark's logs, made by a class of ours in Spark's Java, without a process for each.

Hadoop starts a process for each file to set its mode. `LogFiles.java` is the source; `make jar` compiles it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAR = Path(__file__).with_name("log_files.jar")
CLASS = "australis.LogFiles"
_SPARKS_OWN = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


def log_files(spark: SparkSession) -> str:
    """The class that makes the files: ours, or one of Spark's if its Java was started by others, without our jar."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    assert spark._jvm is not None
    try:
        spark._jvm.java.lang.Class.forName(CLASS)
    except Py4JJavaError:
        return _SPARKS_OWN
    return CLASS

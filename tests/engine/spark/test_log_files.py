"""The files of Spark's logs: the class of ours that makes them, in Spark's Java."""

import zipfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from australis.engine.spark import log_files
from australis.engine.spark.session import apart

_SETTING = "spark.sql.streaming.checkpointFileManagerClass"


def test_the_jar_is_made_of_the_source_beside_it() -> None:
    with zipfile.ZipFile(log_files.JAR) as jar:
        assert jar.read("australis/LogFiles.java") == log_files.JAR.with_name("LogFiles.java").read_bytes()
        assert jar.read("australis/LogFiles.class")[:8] == b"\xca\xfe\xba\xbe\x00\x00\x00\x3d"  # for Java 17 and newer


@pytest.mark.spark
def test_runs_log_by_the_class_of_ours(spark: SparkSession) -> None:
    assert apart(spark).conf.get(_SETTING) == log_files.CLASS


@pytest.mark.spark
def test_a_java_that_others_have_started_logs_by_sparks_own(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_files, "CLASS", "australis.Missing")
    assert log_files.log_files(spark).startswith("org.apache.spark.")


@pytest.mark.spark
def test_a_file_appears_whole_and_is_not_replaced(spark: SparkSession, tmp_path: Path) -> None:
    assert spark._jvm is not None
    hadoop, folder = spark._jvm.org.apache.hadoop.fs, tmp_path / "a b%20" / "log"
    files = spark._jvm.australis.LogFiles(
        hadoop.Path(f"file:{tmp_path}"), spark.sparkContext._jsc.hadoopConfiguration()
    )
    files.mkdirs(hadoop.Path(str(folder)))
    path = hadoop.Path(str(folder / "0"))
    stream = files.createAtomic(path, False)
    stream.write(b"plan")
    assert not (folder / "0").exists()
    stream.close()
    assert (folder / "0").read_bytes() == b"plan"
    assert [status.getPath().getName() for status in files.list(path.getParent())] == ["0"]
    second = files.createAtomic(path, False)
    with pytest.raises(Exception, match="FileAlreadyExists"):
        second.close()
    cancelled = files.createAtomic(hadoop.Path(str(folder / "1")), False)
    cancelled.cancel()
    assert [entry.name for entry in folder.glob("[0-9]*")] == ["0"]
    with pytest.raises(Exception, match="NoSuchFileException"):
        files.createAtomic(hadoop.Path(str(folder / "missing/2")), False)

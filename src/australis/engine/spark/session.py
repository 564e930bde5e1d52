"""The Spark session of a run: the user's own where there is one, else one of ours, embedded."""

from __future__ import annotations

import logging
import os
import pwd
import shlex
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from australis.engine.spark import class_archive, java
from australis.engine.spark.jvm import ended, forget, kill
from australis.engine.spark.log_files import JAR, log_files
from australis.engine.spark.prefork import MEMORY, launcher, room
from australis.errors import RunError

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession as SparkSession

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
    # A batch has a few rows for each partition: there is nothing to adapt to.
    "spark.sql.adaptive.enabled": "false",
}
_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
_FILES = {
    # Hadoop has checksums in files of their own. Without these it is 10 ms a batch.
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}
"""How Spark's logs of a run are written. Our plans in them have checksums of their own (`engine/log.py`)."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CLASSES = "SPARK_DIST_CLASSPATH"  # more jars for the Java of the driver, beside those of Spark and a user's settings
_OPTIONS = "SPARK_SUBMIT_OPTS"  # for the Java of the driver, whatever a user's settings give it besides
_APART: WeakKeyDictionary[SparkSession, SparkSession] = WeakKeyDictionary()


def active() -> SparkSession | None:
    """The session that this process has, if any. Spark knows one as active in the thread that made it alone."""
    from pyspark.sql import SparkSession as SparkSession

    made = SparkSession._instantiatedSession
    alive = made is not None and made.sparkContext._jsc is not None
    return SparkSession.getActiveSession() or (made if alive else None)


def session(
    given: SparkSession | None = None, master: str | None = None, stderr: int | None = None
) -> tuple[SparkSession, bool]:
    """The session to run on, and whether it is ours to stop: one that is given or active never is.

    What Spark's process says goes to the standard error, or to the file of a descriptor.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession as SparkSession

    if SparkContext._gateway is not None and ended(SparkContext._gateway):
        forget(SparkContext._gateway)
    if given is not None and SparkContext._gateway is None:
        raise RunError("the SparkSession that is given: its Spark has ended; make another session")
    found = given or active()
    if found is not None:
        return found, False
    os.environ.setdefault("LOG4J_CONFIGURATION_FILE", str(_LOG))
    where = master or LOCAL
    os.environ["PYSPARK_PYTHON"] = launcher() if where.startswith("local") else sys.executable
    settings = _QUIET | _STREAMS | (_LOOPBACK if where.startswith("local") else _EXECUTORS)
    settings[f"{_SOCKETS}.enabled"] = "true"
    if where.startswith("local") and (folder := room()) is not None:
        settings[f"{_SOCKETS}.dir"] = str(folder.path)
    conf = SparkConf().setAppName("australis").setMaster(where).setAll(list(settings.items()))
    try:
        _launch(conf, stderr)
        with _signals_as_they_were():
            made = SparkSession.builder.config(conf=conf).getOrCreate()
    except KeyboardInterrupt:
        kill()
        raise
    made.sparkContext._accumulatorServer.handle_error = _tell  # type: ignore[method-assign, assignment]
    return made, True


def _not_py4js(record: logging.LogRecord) -> bool:
    """Whether a line of the log is none of py4j's, of a call that was cut short: runs tell what that means."""
    return "py4j" not in Path(record.pathname).parts


def _tell(*_: object) -> None:
    """Print the error under way in Spark's server of counters, unless it is that Spark's process is gone."""
    if not isinstance(sys.exception(), EOFError | ConnectionError):
        traceback.print_exception(sys.exception())


def _launch(conf: SparkConf, stderr: int | None) -> None:
    """Start Spark's process, if this one has none. Signals wait meanwhile: cut short, it would be nobody's."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    _check_user()
    logging.getLogger().addFilter(_not_py4js)
    how: dict[str, Any] = {} if stderr is None else {"stderr": stderr}
    options, folder = os.environ.get(_OPTIONS, ""), ""
    if (ours := room()) is not None:  # where Spark's files go as well, if it is killed
        folder = tempfile.mkdtemp(prefix="spark-", dir=ours.path)
        options += " " + shlex.quote(f"-Djava.io.tmpdir={folder}")
        how["pass_fds"] = [ours.descriptor]
    home = java.quiet()
    archive = class_archive.archive(java.cache(), home, [*sorted(_jars().glob("*.jar")), JAR])
    options = " ".join([options, *map(shlex.quote, class_archive.options(archive))])
    classes = ":".join(filter(None, [os.environ.get(_CLASSES), str(JAR)]))
    with (
        _signals_waiting(),
        _environment("JAVA_HOME", str(home)),
        _environment(_OPTIONS, options),
        _environment(_CLASSES, classes),
    ):
        gateway = launch_gateway(conf, how)  # type: ignore[no-untyped-call]
        gateway.folder, gateway.class_archive = folder, archive
        SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def _jars() -> Path:
    """The folder of Spark's jars."""
    from pyspark.find_spark_home import _find_spark_home

    return Path(_find_spark_home()) / "jars"


def _check_user() -> None:
    """Spark asks the machine for the name of its user, and stops at length where there is none."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError as error:
        raise RunError(
            f"user id {os.getuid()}: has no name in /etc/passwd, and Spark needs one; run as a user who has, or add one"
            " there (in a container at its start); runs in this process (--local, run_local) need none"
        ) from error


class Ending:
    """Stops a session of ours at the end of a `with`; kills it where that was interrupted."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._gateway = spark.sparkContext._gateway

    def __enter__(self) -> SparkSession:
        return self.spark

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            kill()
            return
        if self._gateway is not None and ended(self._gateway):
            forget(self._gateway)
            return
        server = self.spark.sparkContext._accumulatorServer
        if kind is None and self._gateway is not None:
            class_archive.write(getattr(self._gateway, "class_archive", None), self._gateway)
        with suppress(Exception):  # it may be gone a moment later
            self.spark.stop()
        with suppress(Exception):
            server.server_close()  # which Spark forgets


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def _signals_waiting() -> Iterator[None]:
    """Let the signals that end programs come when this is over. Only the main thread hears them."""
    came: list[int] = []
    with _signals_as_they_were():
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                signal.signal(number, lambda number, _: came.append(number))
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _signals_as_they_were() -> Iterator[None]:
    """Leave signals as they are: Spark sets one of its own, which cancels the batch under way."""
    ours = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in _SIGNALS} if ours else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def apart(spark: SparkSession) -> SparkSession:
    """A session on the same Spark with settings and the source of our own, which leaves the one that is given as it is.

    All runs of a session share it: to make it takes as long as to plan a batch.
    """
    if spark not in _APART:
        from australis.engine.spark.stream_source import JobSource

        ours = _APART[spark] = spark.newSession()
        for name, value in {**_STREAMS, **_FILES, _MANAGER: log_files(spark)}.items():
            ours.conf.set(name, value)
        ours.dataSource.register(JobSource)
    return _APART[spark]

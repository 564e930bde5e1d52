"""A real cluster on this machine: a standalone master and two workers, each a process of its own."""

import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
import pytest

from australis.engine.spark import java
from australis.testing import rows
from tests.engine.spark import killed_run
from tests.engine.spark.test_killed import end, processes, start, wait_for, written

pytestmark = pytest.mark.spark

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


@contextmanager
def spark_class(folder: Path, name: str, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    environment = os.environ | {
        "JAVA_HOME": str(java.home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / name),
    }
    for ours in ("PYSPARK_PYTHON", "LOG4J_CONFIGURATION_FILE"):
        environment.pop(ours, None)
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(SPARK_CLASS), *arguments], stdout=out, stderr=out, env=environment, start_new_session=True
        )
    try:
        yield process
    finally:
        kill(process)
        process.wait()


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and all that it has started."""
    for pid in [process.pid, *dict(processes(process.pid))]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def said(path: Path, pattern: str, seconds: float = 600) -> str:
    """Wait until a log says something."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        found = re.search(pattern, path.read_text() if path.exists() else "")
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"{path} does not say {pattern}: {path.read_text()[-2000:]}")


def test_a_cluster_gives_the_same_and_so_does_one_that_loses_a_worker(tmp_path: Path) -> None:
    inputs = killed_run.write_inputs(tmp_path)
    expected = {name: Counter(rows(table)) for name, table in killed_run.network().run_local(inputs).items()}
    host = ("--host", "127.0.0.1", "--webui-port", "0")
    master = "org.apache.spark.deploy.master.Master"
    worker = "org.apache.spark.deploy.worker.Worker"
    with spark_class(tmp_path, "master", master, *host, "--port", "0"):
        address = said(tmp_path / "master.log", r"Starting Spark master at (spark://\S+)")
        each = (worker, address, *host, "--cores", "1", "--memory", "1g")
        with spark_class(tmp_path, "one", *each) as one, spark_class(tmp_path, "two", *each):
            for name in ("one", "two"):
                said(tmp_path / f"{name}.log", r"Successfully (registered) with master")
            for loses in (False, True):
                folder = tmp_path / ("losing" if loses else "whole")
                folder.mkdir()
                killed_run.write_inputs(folder)
                run = start(folder, address, "6000")
                if loses:
                    wait_for(run, 1)
                    assert run.poll() is None
                    kill(one)
                assert end(run) == 0, (folder / "log").read_text()[-3000:]
                found = written(folder)
                for name in expected:
                    assert found[name] == expected[name], name

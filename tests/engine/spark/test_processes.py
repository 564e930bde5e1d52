"""What processes hold and use: one, its children and theirs. No Spark is needed for that."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from psutil import Process

from australis.engine.spark import processes
from tests.engine.spark.test_prefork import until

MEGABYTE = 1 << 20
DRIVER = """\
import os, subprocess, sys
java = subprocess.Popen([sys.argv[1], "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
ended = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
ended.stdout.read()
subprocess.run([sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])", *sys.argv[2:]])
java.communicate()
print("over", flush=True)
sys.stdin.readline()
"""
WORKER = """\
import sys, time
held = b"1" * (64 << 20)
while time.process_time() < 0.3:
    pass
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator["subprocess.Popen[str]"]:
    """A process with one called java, one that has ended, and one whose child holds 64 MB and has used 0.3 s."""
    java = tmp_path / "java"
    java.symlink_to(Path(sys.executable).resolve())
    command = [sys.executable, "-c", DRIVER, str(java), sys.executable, "-c", WORKER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        monkeypatch.setattr(processes, "Process", lambda: Process(process.pid))
        yield process
        process.communicate("\n\n")


def test_memory_is_that_of_children_and_theirs(driver: "subprocess.Popen[str]") -> None:
    until(lambda: processes.memory()["spark"] > MEGABYTE)
    held = processes.memory()
    assert list(held) == ["driver", "spark", "workers"]
    assert MEGABYTE < held["driver"] < 64 * MEGABYTE
    assert held["spark"] < 64 * MEGABYTE < held["workers"] < 128 * MEGABYTE


def test_time_is_that_of_all_and_stays_when_they_have_ended(driver: "subprocess.Popen[str]") -> None:
    during = processes.seconds()
    assert driver.stdin is not None
    assert driver.stdout is not None
    driver.stdin.write("\n")
    driver.stdin.flush()
    assert driver.stdout.readline() == "over\n"
    assert 0.3 <= during <= processes.seconds() < 60

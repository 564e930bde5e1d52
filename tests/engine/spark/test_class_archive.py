"""The class archive: written by a session that ends, and what the next one starts from."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from australis.engine.spark import class_archive
from australis.engine.spark.class_archive import MOST, _sweep, archive, find, options, write

_SESSION = """\
from australis.engine.spark.session import Ending, session
spark, own = session(master="local[1]")
with Ending(spark):
    assert own and spark.range(1000).selectExpr("sum(id)").first()[0] == 499500
"""


@pytest.fixture
def java_home(tmp_path: Path) -> Path:
    java = tmp_path / "home/bin/java"
    java.parent.mkdir(parents=True)
    java.write_text("")
    return tmp_path / "home"


def test_each_java_with_its_jars_has_an_archive_of_its_own(tmp_path: Path, java_home: Path) -> None:
    one, two = tmp_path / "one.jar", tmp_path / "two.jar"
    one.write_text("one")
    two.write_text("two")
    first = archive(tmp_path, java_home, [one])
    assert first == archive(tmp_path, java_home, [one])
    assert first != archive(tmp_path, java_home, [one, two])
    one.write_text("other")
    assert first != archive(tmp_path, java_home, [one])
    assert archive(None, java_home, [one]) is None


def test_java_is_told_to_start_from_an_archive_that_is_there_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "classes-1"
    assert options(None) == []
    (tmp_path / "classes-1-4.jsa").write_text("cut")
    (tmp_path / "classes-12-5.jsa").write_text("other")
    assert find(path) is None
    assert "-XX:+RecordDynamicDumpInfo" in options(path)
    whole = tmp_path / "classes-1-5.jsa"
    whole.write_text("whole")
    assert find(path) == whole
    assert f"-XX:SharedArchiveFile={whole}" in options(path)


def test_an_archive_that_cannot_be_written_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    assert not write(tmp_path / "file/classes-1", gateway=None)
    assert not write(None, gateway=None)
    monkeypatch.setattr(class_archive, "ROOM", 1 << 60)
    assert not write(tmp_path / "classes-1", gateway=None)
    assert not list(tmp_path.glob(".classes-*"))


def test_few_archives_are_kept(tmp_path: Path) -> None:
    for number in range(MOST + 3):
        path = tmp_path / f"classes-{number}.jsa"
        path.write_text("")
        os.utime(path, (number, number))
    _sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"classes-{n}.jsa" for n in range(3, MOST + 3)]


@pytest.mark.spark
def test_a_session_starts_from_what_the_one_before_it_loaded(tmp_path: Path) -> None:
    def run(log: Path) -> str:
        more = {"XDG_CACHE_HOME": str(tmp_path), "SPARK_SUBMIT_OPTS": f"-Xlog:class+load:file={log}"}
        told = subprocess.run([sys.executable, "-c", _SESSION], env=os.environ | more, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
        assert told.stdout == ""
        (line,) = (line for line in log.read_text().splitlines() if " org.apache.spark.SparkContext source" in line)
        return line

    assert "jar" in run(tmp_path / "first")
    (path,) = (tmp_path / "australis").glob("classes-*.jsa")
    assert "shared objects file" in run(tmp_path / "second")
    path.write_bytes(path.read_bytes()[:100_000])
    assert "jar" in run(tmp_path / "third")

"""The checkpoint's folder: who may read it, where it cannot be, and which sources go on from it."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest

import australis as au
from australis import RunError
from australis.connectors import dead_letters as letters
from australis.connectors.binding import place_sources
from australis.connectors.push.bodies import JSON, post
from australis.connectors.push.spool import Spool
from australis.connectors.source import Source
from australis.connectors.sources.memory import MemorySource
from australis.connectors.sources.uri import source
from australis.engine.checkpoint import Checkpoint
from australis.engine.job import Job
from australis.engine.succession import planned

REPORTS = au.stream("reports", "time int, vid int")
NETWORK = au.network(out=REPORTS.filter("vid > 3"))
TUPLES = MemorySource((pa.record_batch({"time": [1], "vid": [2]}, REPORTS.schema),))


@contextmanager
def as_somebody() -> Iterator[None]:
    """As a user for whom the modes of files count."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def kept(folder: Path, given: Source) -> Checkpoint:
    """A checkpoint of a run that has planned a batch, as Spark leaves it."""
    checkpoint = Checkpoint(folder)
    sources = place_sources({"reports": given}, checkpoint.path)
    with checkpoint.begin():
        checkpoint.divide(1)
        plan = planned(NETWORK, sources, 1)
        checkpoint.keep(Job(NETWORK, plan, sources, str(folder), 1))
    offsets = folder / "query" / "offsets"
    offsets.mkdir(parents=True)
    batch: dict[str, Any] = {"version": 1, "clock": 0, "end": False, "network": 1, "began": 1} | {
        "first": 0,
        "room": 1,
        "inputs": {},
    }
    (offsets / "0").write_text(f"v1\n{{}}\n{json.dumps(batch)}")
    return checkpoint


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_checkpoint_is_for_its_owner_alone(tmp_path: Path) -> None:
    kept(tmp_path / "made" / "road", TUPLES)
    letters.writer(tmp_path / "made" / "road").close()
    assert mode(tmp_path / "made" / "road") == 0o700
    assert mode(tmp_path / "made" / "road" / "letters") == 0o700
    assert mode(tmp_path / "made" / "road" / "run.json") == 0o600
    assert mode(tmp_path / "made" / "road" / "networks" / "000001.json") == 0o600


def test_others_lose_access_to_a_folder_that_was_there_and_nobody_to_what_is_no_checkpoint(tmp_path: Path) -> None:
    for name, before, after in (("open", 0o755, 0o750), ("shared", 0o2775, 0o2770), ("own", 0o700, 0o700)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(before)
        kept(tmp_path / name, TUPLES)
        assert mode(tmp_path / name) == after
    (tmp_path / "shared").chmod(0o2775)  # by somebody who wants that
    with Checkpoint(tmp_path / "shared").begin():
        assert mode(tmp_path / "shared") == 0o2775
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(0o755)
    (tmp_path / "home" / "notes.txt").touch()
    with pytest.raises(RunError, match=r"is no checkpoint: it holds notes\.txt"):
        Checkpoint(tmp_path / "home")
    assert mode(tmp_path / "home") == 0o755


def test_posts_are_for_their_taker_alone(tmp_path: Path) -> None:
    for name in ("new", "old"):
        if name == "old":
            (tmp_path / name).mkdir()
        with closing(Spool(tmp_path / name)) as opened:
            opened.put(post(JSON, b'{"time": 1, "vid": 2}', REPORTS.schema))
            (stored,) = (tmp_path / name).glob("000000000001-*.jsonl")
            assert mode(stored) == 0o600
            assert mode(tmp_path / name / ".journal") == 0o600
    assert mode(tmp_path / "new") == 0o700


@pytest.mark.parametrize("which", [".", "networks", "run.json"])
def test_a_folder_that_may_not_be_written_to_is_told_in_one_line(which: str) -> None:
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place) / "road"
        kept(folder, TUPLES)
        folder.chmod(0o777)
        for path in folder.iterdir():
            path.chmod(0o777)
        (folder / which).chmod(0o555)
        told = r"road: cannot be written to: .*; choose another checkpoint folder, or give this user access$"
        with as_somebody(), pytest.raises(RunError, match=told):
            Checkpoint(folder)


def test_a_folder_that_cannot_be_locked_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()
    with pytest.raises(RunError, match="cannot be written to: Is a directory; choose another checkpoint folder"):
        Checkpoint(tmp_path).begin()


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (
            "reports/*.csv",
            "other/*.csv",
            r"files .*reports/\*\.csv, and is now given files .*other/\*\.csv; give",
        ),
        ("reports/", "rate:1000", "files .*/reports, and is now given a rate"),
        ("reports/", "replay:reports/?on=time", "files .*, and is now given a replay of .*/reports by time"),
        (
            "reports",
            "reports?order=time",
            "files .*, and is now given files .*/reports in the order of their times",
        ),
        ("push:0", "reports/", "posts, and is now given files"),
        ("push:0", "push:0?spool=elsewhere", "posts, and is now given posts kept in .*/elsewhere"),
        ("rate:1000", TUPLES, "a rate, and is now given tuples in memory"),
    ],
)
def test_another_source_does_not_go_on_where_one_left_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, now: str | MemorySource, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint = kept(tmp_path / "road", source(before, REPORTS.schema))
    given = source(now, REPORTS.schema) if isinstance(now, str) else now
    with pytest.raises(RunError, match=rf"road: input reports was read from {told}"):
        checkpoint.check_sources(place_sources({"reports": given}, checkpoint.path))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("reports", "reports/?follow=true"),
        ("push:0", "push:0.0.0.0:8080?limit=1000"),
        ("rate:10", "rate:20"),
        ("replay:reports/?on=time", "replay:reports/?on=time&speed=7"),
    ],
)
def test_the_same_source_goes_on_with_other_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, now: str
) -> None:
    monkeypatch.chdir(tmp_path)
    kept(tmp_path / "road", source(before, REPORTS.schema))
    again = Checkpoint(tmp_path / "road")
    again.check_sources(place_sources({"reports": source(now, REPORTS.schema), "new": TUPLES}, again.path))

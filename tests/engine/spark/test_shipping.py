"""A job as bytes, which a process reads once."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from australis.engine.spark import shipping
from australis.engine.spark.shipping import ship
from australis.model.network import Network
from tests.engine.test_idle import job


def test_a_job_comes_as_it_was_and_is_read_once(tmp_path: Path) -> None:
    shipped = ship(job(tmp_path))
    assert shipped.job is replace(shipped).job
    assert shipped.job.sources == job(tmp_path).sources
    assert shipped.job.network == Network.of(job(tmp_path).network)
    assert ship(replace(job(tmp_path), strict=True)).name != shipped.name


def test_only_the_last_jobs_are_kept(tmp_path: Path) -> None:
    first, *others = (ship(job(tmp_path / str(number))) for number in range(shipping._KEPT + 1))
    kept = first.job
    for each in others:
        assert each.job.sources
    assert first.job is not kept
    assert len(shipping._jobs) == shipping._KEPT


def test_paths_of_modules_that_are_there_are_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "there"), str(tmp_path / "gone")])
    shipped = ship(job(tmp_path / "paths"))
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not path.startswith(str(tmp_path))])
    assert shipped.job.sources
    assert [path for path in sys.path if path.startswith(str(tmp_path))] == [str(tmp_path / "there")]

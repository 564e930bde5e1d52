"""Which files a path, a glob or a folder stands for."""

import os
from pathlib import Path

import pytest

from australis.connectors.sources.folder import files
from australis.errors import RunError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = [
        "b.csv",
        "a.jsonl",
        "c.csv.gz",
        ".d.csv",
        "_e.csv",
        "f.csv.tmp",
        "notes.txt",
        "g.wav",
        "old/h.csv",
        "[1].csv",
    ]
    for age, name in enumerate(names):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, ns=(0, 1000 - age))
    (tmp_path / "i.csv").mkdir()
    return tmp_path


def found(pattern: object, folder: Path, **options: object) -> list[str]:
    keys = files(str(pattern), **{"order": "name", **options})  # type: ignore[arg-type]
    return [str(Path(path).relative_to(folder)) for _, path in keys]


def test_a_folder_has_the_files_whose_names_tell_their_format(folder: Path) -> None:
    assert found(folder, folder) == ["[1].csv", "a.jsonl", "b.csv", "c.csv.gz"]
    assert found(folder, folder, sounds=True) == ["[1].csv", "a.jsonl", "b.csv", "c.csv.gz", "g.wav"]


def test_the_oldest_comes_first_by_time(folder: Path) -> None:
    assert found(folder, folder, order="time") == ["[1].csv", "c.csv.gz", "a.jsonl", "b.csv"]


def test_globs_and_files(folder: Path) -> None:
    assert found(folder / "*.csv", folder) == ["[1].csv", "b.csv"]
    assert found(folder / "**" / "*.csv", folder) == ["[1].csv", "b.csv", "old/h.csv"]
    assert found(folder / "[1].csv", folder) == ["[1].csv"]
    assert found(folder / "none.csv", folder) == []
    with pytest.raises(RunError, match="the format is told by the name"):
        found(folder / "*.txt", folder)


def test_a_name_that_is_too_long_is_told(folder: Path) -> None:
    with pytest.raises(RunError, match="give a file, a glob or a folder that can be read"):
        found(folder / ("x" * 300 + ".csv"), folder)

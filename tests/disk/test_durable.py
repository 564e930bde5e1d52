"""Files that are written whole or not at all."""

from pathlib import Path

import pytest

from australis.disk.durable import check_ours, check_replaceable, locked, renamed, sweep
from australis.errors import RunError


def test_a_file_has_its_name_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    with renamed(path) as file:
        file.write(b"all of it")
        assert not path.exists()
    assert path.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_file_as_it_was_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / ".hidden"
    path.write_bytes(b"before")
    with pytest.raises(TypeError), renamed(path) as file:
        file.writelines([b"half", "of it"])  # type: ignore[list-item]
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["out", ".out", "out[1]*"])
def test_temporary_files_are_swept_by_the_name_they_were_for(tmp_path: Path, name: str) -> None:
    with renamed(tmp_path / name) as left, renamed(tmp_path / "another") as other:
        sweep(tmp_path, name)
        assert not Path(left.name).exists()
        assert Path(other.name).exists()
        Path(left.name).touch()


def test_a_lock_has_one_holder_until_it_is_closed(tmp_path: Path) -> None:
    lock, what = tmp_path / "lock", tmp_path / "results.csv"
    with locked(lock, what), pytest.raises(RunError, match=r"results\.csv: another output or another run writes to it"):
        locked(lock, what)
    locked(lock, what).close()


@pytest.mark.parametrize(("length", "size"), [(None, 0), (0, 0), (9, 0), (9, 9), (9, 10)])
def test_a_file_is_ours_if_it_is_empty_or_as_long_as_its_journal_says(length: int | None, size: int) -> None:
    check_ours(Path("results.csv"), length, size)


@pytest.mark.parametrize(("length", "size"), [(None, 1), (9, 8)])
def test_another_file_is_not_replaced(length: int | None, size: int) -> None:
    with pytest.raises(RunError, match="no run wrote it as it is"):
        check_ours(Path("results.csv"), length, size)


def test_a_folder_of_other_files_is_not_replaced(tmp_path: Path) -> None:
    check_replaceable(tmp_path / "new", "note")
    check_replaceable(tmp_path, "note")
    (tmp_path / "left.tmp").touch()
    check_replaceable(tmp_path, "note")
    (tmp_path / "letter").touch()
    with pytest.raises(RunError, match="holds letter and no note"):
        check_replaceable(tmp_path, "note")
    with pytest.raises(RunError, match="is a file"):
        check_replaceable(tmp_path / "letter", "note")
    (tmp_path / "note").touch()
    check_replaceable(tmp_path, "note")

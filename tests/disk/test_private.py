"""Folders and files that only their owner may read."""

from pathlib import Path

from australis.disk.private import keep_out_others, private, private_folder


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_folder_is_its_owners_and_one_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    private_folder(tmp_path / "outer" / "new")
    assert mode(tmp_path / "outer" / "new") == 0o700
    (tmp_path / "outer").chmod(0o755)
    private_folder(tmp_path / "outer")
    assert mode(tmp_path / "outer") == 0o755


def test_others_lose_their_access_and_a_group_keeps_its_own(tmp_path: Path) -> None:
    for before, after in [(0o777, 0o770), (0o751, 0o750), (0o700, 0o700)]:
        tmp_path.chmod(before)
        keep_out_others(tmp_path)
        assert mode(tmp_path) == after


def test_a_file_is_its_owners_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(0o644)
    with path.open("wb") as file:
        assert private(file) is file
        assert mode(path) == 0o600

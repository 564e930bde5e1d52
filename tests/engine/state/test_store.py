"""The store of a partition: a folder of files, each whole or not there."""

from pathlib import Path

import pytest

from australis.engine.state.delta import pack
from australis.engine.state.store import DELTA, SNAPSHOT, File, bases, store, stores
from australis.errors import RunError


def test_files_are_written_whole_and_listed_by_version(tmp_path: Path) -> None:
    place = store(tmp_path, "a/b c", 3)
    assert place.list() == []
    for version in (12, 2):
        place.write(version, DELTA, pack(version, 1, 0, {}, {})[1])
    place.write(2, SNAPSHOT, pack(2, 1, 0, {}, {}, id=9)[1])
    (Path(place.folder) / "notes.txt").touch()
    (Path(place.folder) / "00000004.delta.0a1b.tmp").touch()
    assert [(file.version, file.kind, file.temporary) for file in place.list()] in (
        [(2, DELTA, False), (2, SNAPSHOT, False), (4, DELTA, True), (12, DELTA, False)],
        [(2, SNAPSHOT, False), (2, DELTA, False), (4, DELTA, True), (12, DELTA, False)],
    )
    assert [(stage, partition) for stage, partition, _ in stores(tmp_path)] == [("a/b c", 3)]


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    place = store(tmp_path, "stage", 0)
    id, pieces = pack(5, 2, 77, {}, {})
    place.write(5, DELTA, pieces)
    for delta in (place.read(5), place.head(5)):
        assert delta is not None
        assert (delta.version, delta.network, delta.parent, delta.id) == (5, 2, 77, id)
    assert place.read(6) is None
    assert place.head(5, SNAPSHOT) is None
    Path(place.path(5)).rename(place.path(6))
    with pytest.raises(RunError, match=r"00000006\.delta: the file is damaged \(it holds version 5\)"):
        place.read(6)


def test_a_file_that_is_gone_may_be_removed_again(tmp_path: Path) -> None:
    place = store(tmp_path, "stage", 0)
    place.write(1, DELTA, pack(1, 1, 0, {}, {})[1])
    for _ in range(2):
        place.remove(place.path(1))
    assert place.list() == []


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(RunError, match=r"00000001\.delta: cannot be written: .*nothing is lost"):
        store(tmp_path, "stage", 0).write(1, DELTA, [])


def test_a_snapshot_counts_with_the_delta_of_its_version() -> None:
    files = [
        File(version, kind, 1, "", temporary)
        for version, kind, temporary in [
            (1, SNAPSHOT, False), (1, DELTA, False), (2, SNAPSHOT, False), (3, DELTA, False), (3, SNAPSHOT, True),
            (4, SNAPSHOT, False), (4, DELTA, False),
        ]
    ]  # fmt: skip
    assert bases(files, 0, 4) == {1, 4}
    assert bases(files, 1, 3) == set()

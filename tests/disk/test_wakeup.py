"""Wake-up: whoever puts something in a folder wakes the process that waits for it."""

from pathlib import Path

from australis.disk.wakeup import Bells, ring


def test_nobody_waits_and_no_folder_is_there(tmp_path: Path) -> None:
    ring(tmp_path)
    ring(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []
    assert len(Bells([tmp_path / "none"])) == 0


def test_a_bell_of_any_folder_wakes_once_however_often_it_rang(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    bells = Bells(folders)
    assert len(bells) == 2
    with (folders[1] / ".bell").open("wb", buffering=0) as pipe:
        pipe.write(bytes(1 << 16))  # as much as it holds
    ring(folders[1])
    assert (bells.wait(60), bells.wait(0), bells.wait(-1)) == (True, False, False)
    ring(folders[0])
    assert bells.wait(60)
    bells.close()


def test_a_file_of_that_name_is_no_bell_and_stays(tmp_path: Path) -> None:
    (tmp_path / ".bell").write_bytes(b"mine")
    bells = Bells([tmp_path])
    assert len(bells) == 0
    bells.close()
    assert (tmp_path / ".bell").read_bytes() == b"mine"

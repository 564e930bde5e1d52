"""Scratch folders: they stay while a process has them, and are swept after it, however it ended."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from australis.disk.temporary import TemporaryFolder, removed, sweep

OWNER = """\
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from australis.disk.temporary import TemporaryFolder
print(TemporaryFolder().path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def owner(temporary: Path) -> "tuple[subprocess.Popen[str], Path]":
    command = [sys.executable, "-c", OWNER, str(temporary)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def killed(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()


def test_a_folder_stays_while_its_process_is_there_and_is_swept_once_that_was_killed(temporary: Path) -> None:
    process, folder = owner(temporary)
    (folder / "deep").mkdir()
    (folder / "deep" / "block").write_text("left")
    sweep()
    assert folder.is_dir()
    killed(process)
    assert folder.is_dir()
    with TemporaryFolder() as new:
        assert not folder.exists()
        assert Path(new).is_dir()
    assert not Path(new).exists()


def test_a_folder_that_another_process_was_given_stays_until_that_has_ended(temporary: Path) -> None:
    scratch = TemporaryFolder()
    heir = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[scratch.descriptor])
    scratch.leave()
    assert not removed(scratch.path)
    heir.communicate(b"\n")
    assert removed(scratch.path)
    assert not scratch.path.exists()


def test_nothing_is_swept_but_folders_of_ours(temporary: Path) -> None:
    for name in "australis-mine", "spark-theirs":
        (temporary / name).mkdir()
        (temporary / name / "notes").write_text("mine")
    (temporary / "elsewhere").mkdir()
    (temporary / "elsewhere" / ".owner").write_text("mine")
    (temporary / "australis-link").symlink_to(temporary / "elsewhere")
    sweep()
    assert (temporary / "australis-mine" / "notes").exists()
    assert (temporary / "spark-theirs" / "notes").exists()
    assert (temporary / "elsewhere" / ".owner").exists()


def test_a_folder_holds_no_descriptor_once_it_is_closed(temporary: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        TemporaryFolder().close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert not list(temporary.iterdir())

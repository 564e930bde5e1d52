"""Where compiled kernels are kept: with this user, and nobody else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from australis.kernel import writable

ROOT = os.getuid() == 0


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary files of its own, and a cache that cannot be written to."""
    (tmp_path / "file").write_text("")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


def test_they_are_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert writable("kernels") == tmp_path / "australis" / "kernels"


def test_or_else_among_the_temporary_files_in_a_private_folder(homeless: Path) -> None:
    folder = writable("kernels")
    assert folder == homeless / f"australis-{os.getuid()}" / "kernels"
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert writable("kernels") == folder


@pytest.mark.parametrize("made", ["open", "link", "file", "foreign"])
def test_what_others_could_have_made_is_not_used(made: str, homeless: Path) -> None:
    own = homeless / f"australis-{os.getuid()}"
    match made:
        case "open":
            own.mkdir()
            own.chmod(0o777)
        case "link":
            (homeless / "elsewhere").mkdir(mode=0o700)
            own.symlink_to(homeless / "elsewhere")
        case "file":
            own.write_text("")
        case "foreign" if ROOT:
            own.mkdir(mode=0o700)
            os.chown(own, 12345, 12345)
        case _:
            pytest.skip("only root gives folders to others")
    folder = writable("kernels")
    assert own not in (folder, folder.parent)
    assert folder.parent == homeless
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not (homeless / "elsewhere" / "kernels").exists()


UNKNOWN = ["unshare", "--user", "--map-user=12345", "--map-group=12345"]


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run([*UNKNOWN, "true"], capture_output=True).returncode != 0,
    reason="no other user can be had here",
)
def test_a_user_of_whom_the_machine_knows_a_number_only(tmp_path: Path) -> None:
    code = """
import australis as au
net = au.network(out=au.stream("n", "a int").aggregate(on="tup#", size=1, n="count(*)"))
print(net.run_local(n={"a": [1, 2]})["out"].num_rows)
try:
    net.run(n={"a": [1]})
except au.RunError as error:
    print(error)
"""
    settings = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}
    command = [*UNKNOWN, sys.executable, "-c", code]
    told = subprocess.run(command, env=settings, cwd=tmp_path, capture_output=True, text=True)
    assert told.stdout.startswith("2\nuser id 12345: has no name in /etc/passwd, and Spark needs one; run as"), told
    assert "Traceback" not in told.stderr

"""Kernels: when they are compiled, and where they are kept: with this user, and nobody else."""

import inspect
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from australis.kernels.jit import Kernel, inner, kernel, longer, writable
from australis.kernels.random import Chance, chance, poisson

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


@pytest.mark.slow
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


@inner
def halved(number: int) -> int:
    """Half of it."""
    return number // 2


@kernel
def digits(number: int) -> int:
    """How many binary digits a number has."""
    return 1 if number < 2 else 1 + digits(halved(number))


@kernel
def called_with(function: Chance, number: int) -> int:
    return int(function(number))  # type: ignore[operator]


def test_a_kernel_is_compiled_when_it_is_called() -> None:
    code = """
import sys
from australis.kernels.random import chance, poisson
assert "numba" not in sys.modules
assert 0 <= poisson(chance(1, 2), 3.0) < 100
assert "numba" in sys.modules
assert type(poisson.__call__).__name__ == "CPUDispatcher"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert 0 <= poisson(chance(1, 2), 3.0) < 100


def test_kernels_call_themselves_and_others_and_are_given_to_others() -> None:
    assert digits(1000) == 10
    assert called_with(halved, 9) == 4
    assert digits(number=3) == 2


def test_a_kernel_is_known_by_name_as_a_function_is() -> None:
    assert pickle.loads(pickle.dumps(longer)) is longer
    assert deepcopy({"grow": longer})["grow"] is longer
    assert str(inspect.signature(halved)) == "(number: int) -> int"
    assert (halved.__name__, halved.__doc__, halved.__module__) == ("halved", "Half of it.", __name__)
    assert repr(longer) == "<kernel australis.kernels.jit.longer>"


def test_threads_that_call_a_kernel_first_share_what_is_compiled() -> None:
    def grown(array: np.ndarray) -> np.ndarray:
        return np.concatenate((array, array))

    fresh = Kernel(grown)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: fresh.compiled(), range(8)))
    assert all(each is found[0] for each in found)
    assert fresh.__call__ is found[0]
    assert fresh(np.arange(3)).tolist() == [0, 1, 2, 0, 1, 2]

"""The end of a run, as the processes of its tasks see it: they let go of what was the run's, and of nothing else."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from australis.engine.spark import alive, shipping
from australis.engine.state.state import Copy, Warm

pytestmark = pytest.mark.slow

DRIVER = """\
import sys
from australis.engine.spark import alive
held = alive.hold(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.setattr(alive, "_PATIENCE", 0)
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    return str(tmp_path / "one"), str(tmp_path / "other")


def join() -> None:
    """Wait for those who wait for the end of a run."""
    for thread in threading.enumerate():
        if thread.name == "alive":
            thread.join()


def test_what_is_warm_goes_with_its_run_and_that_of_a_run_beside_it_stays(runs: tuple[str, str]) -> None:
    one, other = runs
    warm = Warm()
    with alive.hold(other):
        with alive.hold(one):
            for partition in range(64):
                warm.put((one, partition), Copy(1), one)
            warm.put("lasting", Copy(1))
            assert len(warm.keys) == 64
        warm.put((other, 0), Copy(1), other)
        threads = [thread for thread in threading.enumerate() if thread.name == "alive"]
        assert len(threads) <= 2
        while len(warm.keys) > 2:
            threads[0].join(0.01)
        assert warm.keys == ["lasting", (other, 0)]
    join()
    assert warm.keys == ["lasting"]


def test_a_copy_that_another_run_has_taken_over_is_that_runs(runs: tuple[str, str]) -> None:
    one, other = runs
    warm = Warm()
    with alive.hold(other):
        with alive.hold(one):
            warm.put("key", Copy(1), one)
            warm.put("key", Copy(2), other)
        warm.drop(one)
        assert warm.keys == ["key"]
    join()
    assert warm.keys == []


def test_a_task_that_comes_to_its_end_after_its_run_leaves_nothing(runs: tuple[str, str]) -> None:
    warm = Warm()
    warm.put("ended", Copy(1), runs[0])
    warm.put("removed", Copy(1), runs[1] + "/gone")
    join()
    assert warm.keys == []


def test_a_driver_that_is_killed_ends_its_run(runs: tuple[str, str]) -> None:
    command = [sys.executable, "-c", DRIVER, runs[0]]
    driver = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    assert driver.stdout.readline() == "held\n"
    warm = Warm()
    warm.put("key", Copy(1), runs[0])
    assert warm.keys == ["key"]
    driver.kill()
    driver.communicate()
    join()
    assert warm.keys == []


def test_jobs_go_with_their_runs_and_so_do_threads_and_descriptors(runs: tuple[str, str]) -> None:
    from tests.engine.test_idle import job

    before = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    with alive.hold(runs[0]):
        theirs = shipping.ship(job(Path(runs[1]), shared_folder=runs[0]))
        assert theirs.job is theirs.job
        assert theirs.name in shipping._jobs
    join()
    assert theirs.name not in shipping._jobs
    assert (threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))) == before

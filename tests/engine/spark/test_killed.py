"""Runs whose processes are killed: after restarts the output is that of a run that nobody disturbed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import pytest
from psutil import NoSuchProcess, Process

from australis.connectors.sinks.past import SinkHistory
from australis.engine.log import Log
from australis.testing import rows
from tests.engine.spark import killed_run

pytestmark = pytest.mark.spark

ROUNDS = int(os.environ.get("AUSTRALIS_ROUNDS", "9"))
BATCHES = killed_run.TUPLES // killed_run.TRAIN


def processes(root: int) -> Iterator[tuple[int, str]]:
    """The descendants of a process, with their command lines."""
    with suppress(NoSuchProcess):
        for process in Process(root).children(recursive=True):
            with suppress(NoSuchProcess):
                yield process.pid, " ".join(process.cmdline())


def start(folder: Path, *how: str) -> "subprocess.Popen[str]":
    script = Path(killed_run.__file__)
    environment = os.environ | {"PYTHONPATH": str(script.parents[3])}
    command = [sys.executable, str(script), str(folder), *how]
    with (folder / "log").open("a") as log:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)


def wait_for(run: "subprocess.Popen[str]", batches: int) -> None:
    """Wait until so many batches more are done, or the run has ended."""
    assert run.stdout is not None
    for _ in range(batches):
        if not run.stdout.readline():
            return


WORKER = "prefork"
PLANNER = "python_streaming_source_runner"


def victims(run: "subprocess.Popen[str]", kind: str) -> list[int]:
    """The processes that run tasks, or that plan batches: they have no children."""
    return [pid for pid, command in processes(run.pid) if kind in command and not list(processes(pid))]


def kill_one(run: "subprocess.Popen[str]", chance: random.Random, kind: str) -> None:
    if there := victims(run, kind):
        os.kill(chance.choice(there), signal.SIGKILL)


def end(run: "subprocess.Popen[str]") -> int:
    assert run.stdout is not None
    run.stdout.read()
    run.stdout.close()
    return run.wait()


def written(folder: Path) -> dict[str, Counter[object]]:
    """The lines or rows of each output, sorted or counted: what is there, and how often."""
    tables = {
        "stats": [pa.csv.read_csv(folder / "stats.csv")],
        "busy": [pa.json.read_json(folder / "busy.jsonl")],
        "owned": [pa.csv.read_csv(path) for path in sorted((folder / "owned").glob("*.csv"))],
        "met": [pa.parquet.read_table(path) for path in sorted((folder / "met").glob("*.parquet"))],
    }
    return {name: Counter(row for table in several for row in rows(table)) for name, several in tables.items()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[object]]:
    inputs = killed_run.write_inputs(tmp_path_factory.mktemp("inputs"))
    results = killed_run.network().run_local(inputs)
    return {name: Counter(rows(table)) for name, table in results.items()}


def killed(folder: Path, chance: random.Random, batches: int) -> None:
    """A run that is killed after some batches, and a while."""
    run = start(folder)
    wait_for(run, batches)
    time.sleep(chance.random() / 2)
    run.kill()
    end(run)


def killed_at_any_moment(folder: Path, chance: random.Random) -> None:
    killed(folder, chance, chance.randrange(BATCHES // 2))


def killed_in_its_first_start(folder: Path, chance: random.Random) -> None:
    run = start(folder)
    time.sleep(chance.random() * 10)
    run.kill()
    end(run)


def on_an_older_checkpoint(folder: Path, chance: random.Random) -> None:
    killed(folder, chance, chance.randrange(1, BATCHES // 2))
    shutil.copytree(folder / "checkpoint", folder / "older")
    killed(folder, chance, chance.randrange(1, BATCHES // 3))
    shutil.rmtree(folder / "checkpoint")
    (folder / "older").rename(folder / "checkpoint")


def entries(log: Path) -> list[Path]:
    """The entries of one of Spark's logs, the last one last."""
    return sorted(log.glob("[0-9]*"), key=lambda path: int(path.name))


def without_the_last_of_the_log(folder: Path, chance: random.Random) -> None:
    killed(folder, chance, chance.randrange(2, BATCHES // 2))
    for log in ("offsets", "commits"):
        entries(folder / "checkpoint/query" / log)[-1].unlink()


def without_what_was_not_synced(folder: Path, chance: random.Random) -> None:
    """As after a loss of power: of commits there are names and no bytes, and their checksums are gone."""
    killed(folder, chance, chance.randrange(2, BATCHES // 2))
    for path in entries(folder / "checkpoint/query/commits")[-chance.randrange(1, 3) :]:
        path.write_bytes(b"")
        path.with_name(f".{path.name}.crc").write_bytes(b"")


def with_torn_journals(folder: Path, chance: random.Random) -> None:
    """As after a loss of power while sinks noted the last batch: of their last lines a part is there, and no commit."""
    killed(folder, chance, chance.randrange(2, BATCHES // 2))
    log = Log(folder / "checkpoint/query")
    (log.folder / "commits" / entries(log.folder / "offsets")[-1].name).unlink(missing_ok=True)
    for journal in folder.glob(".*.journal"):
        lines = journal.read_bytes().splitlines(keepends=True)
        if len(lines) > 1 and SinkHistory(journal, journal).last == log.planned:
            journal.write_bytes(b"".join(lines[:-1]) + lines[-1][: chance.randrange(len(lines[-1]))])


def changed_while_it_runs(folder: Path, chance: random.Random) -> None:
    at = chance.randrange(1, BATCHES // 2)
    (folder / "change").write_text(str(at))
    killed(folder, chance, at + chance.randrange(3))


def without_its_planner(folder: Path, chance: random.Random) -> None:
    run = start(folder)
    wait_for(run, chance.randrange(1, BATCHES // 2))
    assert victims(run, WORKER)
    assert victims(run, PLANNER)
    kill_one(run, chance, PLANNER)
    end(run)


def on_a_full_disk(folder: Path, chance: random.Random) -> None:
    """A disk on which no room is left after a while; then all is brought to a larger one."""
    saved = folder.with_name("saved")
    shutil.copytree(folder, saved)
    steps = 'mount -t tmpfs -o size="$1" none "$2" && cp -a "$3/." "$2" && ("$4" "$5" "$2"; cp -a "$2/." "$3")'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", steps, "sh"]
    size = f"{chance.randrange(1200, 2600)}k"
    script = Path(killed_run.__file__)
    environment = os.environ | {"PYTHONPATH": str(script.parents[3])}
    with (folder / "log").open("a") as log:
        more = [size, str(folder), str(saved), sys.executable, str(script)]
        subprocess.run([*command, *more], check=True, stdout=subprocess.DEVNULL, stderr=log, env=environment)
    (folder / "log").rename(saved / "log")
    shutil.rmtree(folder)
    saved.rename(folder)


WAYS = (
    killed_at_any_moment,
    killed_in_its_first_start,
    on_an_older_checkpoint,
    without_the_last_of_the_log,
    without_what_was_not_synced,
    with_torn_journals,
    changed_while_it_runs,
    without_its_planner,
    on_a_full_disk,
)


@pytest.mark.parametrize("round", range(ROUNDS))
def test_nothing_is_lost_or_doubled_when_processes_are_killed(
    round: int, expected: dict[str, Counter[object]], tmp_path: Path
) -> None:
    chance = random.Random(f"{os.environ.get('AUSTRALIS_SEED', '')}{round}")
    killed_run.write_inputs(tmp_path)
    if round % 2 == 0:
        (tmp_path / "wait").touch()
    WAYS[round % len(WAYS)](tmp_path, chance)
    for _ in range(5):
        run = start(tmp_path)
        wait_for(run, chance.randrange(1, 4))
        time.sleep(chance.random() / 4)
        if run.poll() is None:
            kill_one(run, chance, WORKER)
        if end(run) == 0:
            break
    else:
        pytest.fail((tmp_path / "log").read_text()[-3000:])
    found = written(tmp_path)
    for name in expected:
        assert found[name] == expected[name], name
    if (tmp_path / "change").exists():
        assert_a_tail(tmp_path)


def assert_a_tail(folder: Path) -> None:
    """What an output that came with a change has are the tuples after a moment, each once."""
    reports = pa.csv.read_csv(folder / "reports.csv")
    every = [row for row in rows(reports) if row[-1] > 90]
    found = [row for path in (folder / "fast").glob("*.csv") for row in rows(pa.csv.read_csv(path))]
    assert found
    assert Counter(found) == Counter(every[-len(found) :])

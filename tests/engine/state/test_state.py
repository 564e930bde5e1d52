"""State: what was committed is what is opened, whoever opens it, whatever broke in between."""

import errno
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.engine.state import state
from australis.engine.state.delta import PRELUDE, unpack
from australis.engine.state.store import Store, store
from australis.engine.state.summary import describe
from australis.errors import RunError
from australis.model.table import Table

SCRIPT = Path(__file__).with_name("killed_state.py")
_spec = importlib.util.spec_from_file_location("killed_state", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
script: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(script)

Made = dict[str, dict[str, Table]]
Model = tuple[dict[Any, Any], dict[int, Any]]
Key = tuple[str | None, int | None]
Step = tuple[list[tuple[Key, float | None]], list[Key], list[tuple[str, bool | None]], list[int]]

KEYED = schema("g string, k int, x double")
QUEUE = pa.schema([
    pa.field("serial", pa.int64(), nullable=False), pa.field("s", pa.string(), nullable=False),
    pa.field("b", pa.bool_()), pa.field("heap", pa.list_(pa.int64(), 2), nullable=False),
])  # fmt: skip
KEYS = st.tuples(st.none() | st.sampled_from(["", "p"]), st.none() | st.integers(0, 2))
STEPS = st.tuples(
    st.lists(st.tuples(KEYS, st.none() | st.floats(allow_nan=False)), max_size=5),
    st.lists(KEYS, unique=True, max_size=3),
    st.lists(st.tuples(st.sampled_from(["", "u", "vw"]), st.none() | st.booleans()), max_size=70),
    st.lists(st.integers(0, 60), unique=True, max_size=9),
)


def made() -> Made:
    """A writer, its reader, and a box with a queue."""
    writer = {"table": Table(KEYED, ("g", "k"))}
    return {"writer": writer, "reader": writer, "sort": {"queue": Table(QUEUE)}}


def modelled(model: Model, step: Step, version: int) -> Model:
    """What a step makes of plain values."""
    written, dropped, queued, left = step
    rows = {**model[0], **dict(written)}
    queue = {**model[1], **{version * 100 + i: each for i, each in enumerate(queued)}}
    gone = {sorted(queue)[rank] for rank in left if rank < len(queue)}
    return {k: v for k, v in rows.items() if k not in dropped}, {k: v for k, v in queue.items() if k not in gone}


def change(tables: Made, step: Step, version: int) -> None:
    """The same step on tables."""
    written, dropped, queued, left = step
    table, queue = tables["writer"]["table"], tables["sort"]["queue"]
    for key, x in written:
        table.put("x", table.find(keys([key]), 1), pa.array([x], pa.float64()))
    slots = table.lookup(keys(dropped), len(dropped))
    table.free(slots[slots >= 0])
    # As kernels do: what is taken and given back leaves the spare slots in another order, and is not touched.
    queue.reserve(len(queued) + 2)
    queue.spare[queue.top - 2 : queue.top] = queue.spare[queue.top - 2 : queue.top][::-1].copy()
    slots = queue.insert(len(queued))
    queue["serial"][slots] = version * 100 + np.arange(len(queued))
    queue.put("s", slots, pa.array([s for s, _ in queued], pa.string()))
    queue.put("b", slots, pa.array([b for _, b in queued], pa.bool_()))
    queue["heap"][slots] = queue["serial"][slots][:, None]
    serials = np.sort(queue["serial"][queue.slots])
    gone = serials[[rank for rank in left if rank < len(serials)]]
    queue.free(queue.slots[np.isin(queue["serial"][queue.slots], gone)])
    if version % 3 == 2:
        queue.compact(0.1)


def keys(of: list[Key]) -> list[pa.Array]:
    return [pa.array([g for g, _ in of], pa.string()), pa.array([k for _, k in of], pa.int32())]


def content(tables: Made) -> Model:
    assert tables["reader"]["table"] is tables["writer"]["table"]
    table, queue = tables["writer"]["table"], tables["sort"]["queue"]
    rows = table.rows(table.slots).to_pylist()
    assert table.lookup(keys([(row["g"], row["k"]) for row in rows]), len(rows)).tolist() == table.slots.tolist()
    queued = queue.rows(queue.slots).to_pylist()
    assert all(row["heap"] == [row["serial"]] * 2 for row in queued)
    return {(row["g"], row["k"]): row["x"] for row in rows}, {row["serial"]: (row["s"], row["b"]) for row in queued}


def opened(
    checkpoint: Path | str, version: int, tables: Callable[[], Made] = made, partition: int = 0, network: int = 1
) -> state.State:
    return state.open(checkpoint, "stage", partition, version, tables, network=network)


def scripted(checkpoint: Path | str, first: int, last: int, partition: int = 0) -> None:
    """Versions as the script makes them, in this process."""
    for version in range(first, last):
        current = opened(checkpoint, version, script.tables, partition)
        script.step(current.tables["writer"]["table"], version + 1)
        current.commit(version + 1)


def held(checkpoint: Path | str, version: int, partition: int = 0) -> object:
    """What this process opens, and then what one opens that has nothing warm."""
    both = []
    for _ in range(2):
        both.append(script.held(opened(checkpoint, version, script.tables, partition).tables["writer"]["table"]))
        state.warm.clear()
    assert both[0] == both[1]
    return both[0]


def folder(checkpoint: Path) -> Path:
    return checkpoint / "state" / "stage" / "0"


@contextmanager
def often() -> Iterator[Path]:
    """A checkpoint folder, with a snapshot every three versions and nothing warm."""
    with TemporaryDirectory() as path, pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "DELTAS", 3)
        patch.setattr(state, "warm", state.Warm())
        yield Path(path)


@pytest.fixture
def checkpoint() -> Iterator[Path]:
    with often() as path:
        yield path


# A version opens as it was committed.

MOVES = st.lists(
    st.tuples(
        STEPS,
        st.integers(0, 1).map(lambda process: f"process {process}"),
        st.sampled_from([0, 0, 0, 1, 2]).map(lambda versions: -versions),
        st.sampled_from(["warm", "warm", "cold", "after a failure"]),
    ),
    max_size=12,
)


@given(MOVES)
def test_a_version_opens_as_it_was_committed_warm_behind_ahead_or_cold(moves: list[tuple[Step, str, int, str]]) -> None:
    with often() as checkpoint:
        processes = {"process 0": state.Warm(), "process 1": state.Warm()}
        models: list[Model] = [({}, {})]
        highest = 0
        for step, process, back, how in moves:
            version = max(0, highest - state.RETAIN, len(models) - 1 + back)
            del models[version + 1 :]
            state.warm = processes[process]
            if how == "cold":
                state.warm.clear()
            if how == "after a failure":
                change(opened(checkpoint, version).tables, step, version + 1)
            current = opened(checkpoint, version)
            assert content(current.tables) == models[version]
            change(current.tables, step, version + 1)
            current.commit(version + 1)
            models.append(modelled(models[version], step, version + 1))
            highest = max(highest, version + 1)
        for version in range(max(0, highest - state.RETAIN), len(models)):
            state.warm = state.Warm()
            assert content(opened(checkpoint, version).tables) == models[version]


@given(st.lists(STEPS, max_size=8))
@example([([], [], [("u", None)] * rows, []) for rows in (70, 10, 10, 10, 10, 10)])  # the second gives memory back
def test_files_are_the_same_bit_by_bit_from_a_warm_copy_and_from_a_rebuilt_one(steps: list[Step]) -> None:
    with often() as warm, often() as cold:
        for version, step in enumerate(steps):
            for checkpoint in (warm, cold):
                current = opened(checkpoint, version)
                change(current.tables, step, version + 1)
                current.commit(version + 1)
            state.warm.take((store(cold, "stage", 0).files.type_name, str(folder(cold)), 0))
        saved = [{path.name: path.read_bytes() for path in folder(each).glob("*")} for each in (warm, cold)]
        assert saved[0] == saved[1]


@pytest.mark.parametrize("warm", [True, False])
def test_a_network_goes_on_from_its_state(checkpoint: Path, warm: bool) -> None:
    reports = au.stream("reports", "time int, vid int, mph int")
    in_order = reports.bsort("time", slack=3)
    last = au.table("last", "vid int, speed int", key="vid")
    net = au.network(
        slow=in_order.aggregate(on="time", size=10, by=["vid"], cars="count(*)", mph="avg(mph)"),
        pairs=in_order.join(reports, "left.vid = right.vid", on=au.order("time", slack=9), size=2),
        near=in_order.resample(reports, on=au.order("time", slack=9), size=3, mph="avg(mph)"),
        seen=in_order.write(last, speed="mph").map(vid="vid").read(last),
    )
    straight, resumed = au.Local(net), au.Local(net)
    random_ = random.Random(3)
    for version in range(12):
        batch = [
            {"time": version * 5 + random_.randrange(8), "vid": random_.randrange(4), "mph": random_.randrange(90)}
            for _ in range(30)
        ]
        current = opened(checkpoint, version, lambda: au.Local(net).tables)
        resumed.tables = current.tables
        assert resumed.push(reports=batch, ts=version) == straight.push(reports=batch, ts=version)
        current.commit(version + 1)
        if not warm:
            state.warm.clear()
    assert resumed.end() == straight.end()


@pytest.mark.slow
def test_a_process_that_is_behind_replays_what_another_wrote(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(checkpoint, 0, 4)
    subprocess.run([sys.executable, SCRIPT, checkpoint, "4", "9"], check=True, stdout=subprocess.DEVNULL)
    monkeypatch.setattr(Store, "list", None)  # a rebuild looks at the folder
    current = opened(checkpoint, 9, script.tables)
    assert script.held(current.tables["writer"]["table"]) == script.expected(9)


def test_a_step_that_fails_leaves_no_trace(checkpoint: Path) -> None:
    scripted(checkpoint, 0, 3)
    files = sorted(folder(checkpoint).iterdir())
    script.step(opened(checkpoint, 3, script.tables).tables["writer"]["table"], 99)
    assert sorted(folder(checkpoint).iterdir()) == files
    assert held(checkpoint, 3) == script.expected(3)


def test_a_state_is_committed_once_and_to_the_next_version(checkpoint: Path) -> None:
    current = opened(checkpoint, 0)
    with pytest.raises(RunError, match="a step from version 0 commits 1, once"):
        current.commit(2)
    current.commit(1)
    with pytest.raises(RunError, match="once"):
        current.commit(1)


def test_a_warm_copy_of_a_run_that_was_started_over_is_not_used(checkpoint: Path) -> None:
    scripted(checkpoint, 0, 2)
    stale = state.warm
    shutil.rmtree(checkpoint / "state")
    state.warm = state.Warm()
    for version in range(2):
        current = opened(checkpoint, version)
        change(current.tables, ([(("p", 1), float(version))], [], [], []), version + 1)
        current.commit(version + 1)
    state.warm = stale
    assert content(opened(checkpoint, 2).tables) == ({("p", 1): 1.0}, {})


def test_a_snapshot_of_another_history_is_not_used(checkpoint: Path) -> None:
    """The folder was kept, and the run started over from the beginning."""
    scripted(checkpoint, 0, 3)
    assert (folder(checkpoint) / "00000003.snapshot").exists()
    for version in range(3):
        current = opened(checkpoint, version, script.tables)
        script.step(current.tables["writer"]["table"], version + 2)
        current.commit(version + 1)
    rows = script.held(opened(checkpoint, 3, script.tables).tables["writer"]["table"])
    state.warm.clear()
    assert held(checkpoint, 3) == rows != script.expected(3)


def test_partitions_are_apart_and_run_side_by_side(checkpoint: Path) -> None:
    threads = [Thread(target=scripted, args=(checkpoint, 0, 20 + i, i)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert held(checkpoint, 20 + i, i) == script.expected(20 + i)


def test_no_more_than_so_many_partitions_are_warm(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "WARM", 2)
    for partition in range(4):
        scripted(checkpoint, 0, 2, partition)
    assert len(state.warm._copies) == 2
    for partition in range(4):
        assert held(checkpoint, 2, partition) == script.expected(2)


@pytest.mark.parametrize("uri", ["mock:///deep/er", "file:"])
def test_the_checkpoint_may_be_a_uri(uri: str, checkpoint: Path) -> None:
    where = uri if uri.startswith("mock") else uri + str(checkpoint)
    scripted(where, 0, 8)
    assert held(where, 8) == held(where, 8) == script.expected(8)
    assert held(where, 6) == script.expected(6)
    assert [(each.version, each.rows) for each in describe(where)] == [(8, len(script.expected(8)))]


def test_a_checkpoint_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="nowhere://x: cannot be opened as a checkpoint folder"):
        opened("nowhere://x", 0)
    (tmp_path / "state").write_text("a file")
    with pytest.raises(RunError, match=r"cannot be (listed|read|written)"):
        opened(tmp_path, 0).commit(1)


# The folder stays small.


@pytest.mark.slow
def test_the_folder_is_bounded_over_a_thousand_versions(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "DELTAS", 64)
    most = [0, 0]
    for start in range(0, 1000, 20):
        scripted(checkpoint, start, start + 20)
        sizes = [path.stat().st_size for path in folder(checkpoint).iterdir()]
        most = [max(most[0], len(sizes)), max(most[1], sum(sizes))]
        assert len(sizes) <= 2 * 64 + 2
    first = (folder(checkpoint) / "00000960.snapshot").stat().st_size
    assert most[1] < 2 * 64 * 1600 + 2 * first
    assert held(checkpoint, 1000) == script.expected(1000)
    assert held(checkpoint, 998) == script.expected(998)


def test_heavy_deltas_bring_a_snapshot_before_their_number_does(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "DELTAS", 1000)
    monkeypatch.setattr(state, "LEAST", 10_000)
    scripted(checkpoint, 0, 60)
    assert 2 <= len(list(folder(checkpoint).glob("*.snapshot"))) <= 3
    assert sum(path.stat().st_size for path in folder(checkpoint).iterdir()) < 3 * 10_000 + 20_000
    assert held(checkpoint, 60) == script.expected(60)


def test_heavy_snapshots_are_saved_beside_the_steps_that_follow(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "HEAVY", 0)
    monkeypatch.setattr(state, "saving", state.Saving())
    scripted(checkpoint, 0, 40)
    state.saving.wait()
    kinds = [path.suffix for path in folder(checkpoint).iterdir()]
    assert 1 <= kinds.count(".snapshot") <= 13
    assert kinds.count(".delta") < 40
    assert held(checkpoint, 40) == script.expected(40)
    assert held(checkpoint, 38) == script.expected(38)


# Whatever breaks, what was acknowledged is there.


@pytest.mark.slow
def test_a_writer_killed_at_any_moment_loses_nothing_that_it_acknowledged(checkpoint: Path) -> None:
    acknowledged, moments = 0, random.Random(7)
    with subprocess.Popen([sys.executable, SCRIPT, checkpoint], stdin=PIPE, stdout=PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for _ in range(20):
            print(acknowledged, file=server.stdin, flush=True)
            writer = int(server.stdout.readline())
            first = server.stdout.readline()
            time.sleep(moments.uniform(0, 0.04))
            os.kill(writer, signal.SIGKILL)
            acknowledged = int([first, *iter(server.stdout.readline, "killed\n")][-1])
            assert held(checkpoint, acknowledged) == script.expected(acknowledged)
        server.stdin.close()
    assert acknowledged > 10
    assert len(list(folder(checkpoint).iterdir())) < 40


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.slow
def test_a_crash_between_any_two_operations_loses_nothing(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = 0

    def counted(operation: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: Any) -> None:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            operation(*arguments)

        return run

    monkeypatch.setattr(os, "fsync", counted(os.fsync))
    monkeypatch.setattr(Store, "remove", counted(Store.remove))
    for crash in count():
        shutil.rmtree(checkpoint / "state", ignore_errors=True)
        state.warm.clear()
        version, left = 0, crash
        crashes = 0
        while version < 8:
            try:
                scripted(checkpoint, version, version + 1)
                version += 1
            except Killed:
                crashes += 1
                state.warm.clear()
                left = 10**9
                assert held(checkpoint, version) == script.expected(version)
        assert held(checkpoint, 8) == script.expected(8)
        if not crashes:
            break
    assert crash > 25


@pytest.mark.parametrize("fails", range(6))
def test_a_full_disk_loses_nothing(checkpoint: Path, monkeypatch: pytest.MonkeyPatch, fails: int) -> None:
    """The writes of version 3 are a delta and a snapshot; each is synced as a file, then as a name."""
    scripted(checkpoint, 0, 2)
    calls = count()

    def full(_: int) -> None:
        if next(calls) >= fails:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        if fails < 4:
            with pytest.raises(RunError, match=r"0003\.(delta|snapshot): cannot be written: .*No space left.*go on"):
                scripted(checkpoint, 2, 3)
        else:
            scripted(checkpoint, 2, 3)
    assert not list(folder(checkpoint).glob("*.tmp"))
    assert held(checkpoint, 2) == script.expected(2)
    scripted(checkpoint, 2, 9)
    assert held(checkpoint, 9) == script.expected(9)


def test_leftovers_of_killed_writers_are_passed_over_and_removed(checkpoint: Path) -> None:
    scripted(checkpoint, 0, 2)
    (folder(checkpoint) / "00000002.delta.0badcafe.tmp").write_bytes(b"half")
    mine = folder(checkpoint) / "00000003.delta.0badcafe.tmp"
    mine.write_bytes(b"may still be at work")
    assert held(checkpoint, 2) == script.expected(2)
    assert list(folder(checkpoint).glob("*.tmp")) == [mine]
    scripted(checkpoint, 2, 7)
    assert not list(folder(checkpoint).glob("*.tmp"))


def test_damage_is_always_seen(checkpoint: Path) -> None:
    scripted(checkpoint, 0, 3)
    for path in folder(checkpoint).glob("*3.*"):
        data = path.read_bytes()
        for length in range(len(data)):
            with pytest.raises(RunError, match="the file is damaged"):
                unpack("x", pa.py_buffer(data[:length]))
        with pytest.raises(RunError, match="the file is damaged"):
            unpack("x", pa.py_buffer(data + b"\0"))
        for bit in range(8 * len(data)):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            with pytest.raises(RunError, match=r"the file is damaged|the state is in format"):
                unpack("x", pa.py_buffer(flipped))


@pytest.mark.parametrize("name", ["00000006.snapshot", "00000006.delta", "00000007.delta"])
def test_a_damaged_file_is_refused_by_name_with_a_remedy(checkpoint: Path, name: str) -> None:
    scripted(checkpoint, 0, 7)
    path = folder(checkpoint) / name
    data = bytearray(path.read_bytes())
    data[-9] ^= 4
    path.write_bytes(data)
    state.warm.clear()
    with pytest.raises(RunError, match=f"{path}: the file is damaged.*restore the checkpoint folder from a copy"):
        opened(checkpoint, 7, script.tables)
    assert held(checkpoint, 5) == script.expected(5)


def test_a_damaged_file_of_the_version_that_is_run_again_is_replaced(checkpoint: Path) -> None:
    scripted(checkpoint, 0, 2)
    path = folder(checkpoint) / "00000002.delta"
    whole = path.read_bytes()
    path.write_bytes(whole[:-8] + b"\0" * 8)
    scripted(checkpoint, 1, 2)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(("gone", "version"), [(7, 8), (8, 8), (6, 7)])
def test_a_missing_delta_is_named(checkpoint: Path, gone: int, version: int) -> None:
    scripted(checkpoint, 0, 8)
    path = folder(checkpoint) / f"{gone:08}.delta"
    path.unlink()
    state.warm.clear()
    with pytest.raises(RunError, match=f"{path}: the file is missing; the folder holds versions 3 to .*restore"):
        opened(checkpoint, version, script.tables)


def test_a_version_that_is_long_gone_is_an_error(checkpoint: Path) -> None:
    scripted(checkpoint, 0, 20)
    with pytest.raises(RunError, match="the file is missing; the folder holds versions 15 to 20"):
        opened(checkpoint, 4, script.tables)
    with pytest.raises(RunError, match="the folder holds no state"):
        opened(checkpoint / "elsewhere", 4, script.tables)


def test_files_of_another_format_or_place_are_refused(checkpoint: Path) -> None:
    scripted(checkpoint, 0, 5)
    state.warm.clear()
    path = folder(checkpoint) / "00000005.delta"
    saved = path.read_bytes()
    magic, _, crc, length = PRELUDE.unpack(saved[: PRELUDE.size])
    path.write_bytes(PRELUDE.pack(magic, 9, crc, length) + saved[PRELUDE.size :])
    with pytest.raises(RunError, match=r"5\.delta: the state is in format 9, and this Australis reads format 1; run"):
        opened(checkpoint, 5, script.tables)
    shutil.copy(folder(checkpoint) / "00000004.delta", path)
    with pytest.raises(RunError, match="it holds version 4"):
        opened(checkpoint, 5, script.tables)


def test_files_of_two_histories_do_not_make_one(checkpoint: Path) -> None:
    scripted(checkpoint, 0, 5)
    with often() as other:
        current = opened(other, 0, script.tables)
        script.step(current.tables["writer"]["table"], 30)
        current.commit(1)
        for version in range(1, 5):
            scripted(other, version, version + 1)
        shutil.copy(folder(other) / "00000004.delta", folder(checkpoint))
    state.warm.clear()
    with pytest.raises(RunError, match=r"4\.delta: it does not follow from the version before: two runs wrote"):
        opened(checkpoint, 5, script.tables)


# Networks change.


def one(name: str, columns: str = "k int, x bigint", key: tuple[str, ...] = ("k",), table: str = "table") -> Made:
    return {name: {table: Table(schema(columns), key)}}


def filled(tables: Made, box: str, k: int) -> None:
    tables[box]["table"].find([pa.array([k], pa.int32())], 1)


def rows(tables: Made) -> dict[str, int]:
    return {box: len(table) for box, its in tables.items() for table in its.values()}


@pytest.mark.parametrize("warm", [True, False])
def test_boxes_come_and_go(checkpoint: Path, warm: bool) -> None:
    networks = [one("a") | one("b"), one("b") | one("c"), one("c") | one("a"), one("a") | {"d": {}}]
    seen = []
    for version in range(8):
        network = version // 2
        current = opened(checkpoint, version, lambda at=network: networks[at], network=network)  # type: ignore[misc]
        seen.append(rows(current.tables))
        for box in seen[-1]:
            filled(current.tables, box, version)
        current.commit(version + 1)
        networks[network] = {
            box: {n: Table(t.schema, t.key) for n, t in its.items()} for box, its in networks[network].items()
        }
        if not warm:
            state.warm.clear()
    assert seen == [
        {"a": 0, "b": 0}, {"a": 1, "b": 1}, {"b": 2, "c": 0}, {"b": 3, "c": 1},
        {"c": 2, "a": 0}, {"c": 3, "a": 1}, {"a": 2}, {"a": 3},
    ]  # fmt: skip


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize(
    "now",
    [one("a", "k int, x double"), one("a", key=()), one("a", table="other"), one("a", "x bigint, k int"), {"a": {}}],
    ids=["type", "key", "name", "order", "none"],
)
def test_a_box_of_another_form_than_saved_is_an_error(checkpoint: Path, now: Made, warm: bool) -> None:
    opened(checkpoint, 0, lambda: one("a")).commit(1)
    if not warm:
        state.warm.clear()
    with pytest.raises(RunError, match=r"box a: its state in .* is table \(k int32, x int64\) by k, but it now keeps"):
        opened(checkpoint, 1, lambda: now, network=2)


def test_a_stage_that_came_later_starts_empty(checkpoint: Path) -> None:
    for version in range(7, 16):
        current = state.open(checkpoint, "late", 0, version, lambda: one("a"), network=1, since=7)
        assert rows(current.tables) == {"a": version - 7}
        filled(current.tables, "a", version)
        current.commit(version + 1)
        if version % 2:
            state.warm.clear()
    with pytest.raises(RunError, match="version 6 is from before the stage came to be, at 7"):
        state.open(checkpoint, "late", 0, 6, lambda: one("a"), network=1, since=7)


def test_tables_that_did_not_change_take_no_room(checkpoint: Path) -> None:
    many = {f"box {i}": one("x")["x"] for i in range(50)}
    opened(checkpoint, 0, lambda: many).commit(1)
    current = opened(checkpoint, 1, lambda: many)
    filled(current.tables, "box 7", 1)
    current.commit(2)
    first, second = (path.stat().st_size for path in sorted(folder(checkpoint).glob("*.delta")))
    assert second < first / 3
    state.warm.clear()
    assert sum(rows(opened(checkpoint, 2, lambda: many).tables).values()) == 1

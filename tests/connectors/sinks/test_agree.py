"""Sinks and checkpoints that do not know the same batches, sinks that others write to, and damaged journals."""

import os
import pickle
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis import RunError
from australis.boxes.signals import segment, timebase
from australis.connectors import sink
from australis.connectors.sinks import past
from australis.connectors.source import parts
from australis.connectors.sources.files import Files
from australis.testing import rows
from australis.testing.signals import signal

SCHEMA = pa.schema({"i": pa.int32(), "s": pa.string()})
FILES = ["out.csv", "out.jsonl", "out.arrows"]
FOLDERS = ["out/*.csv", "out/", "out/*.arrow"]


def train(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"i": i, "s": f"<{i}>"} for i in numbers], SCHEMA)


def opened(folder: Path, name: str, run: str = "run", schema: pa.Schema = SCHEMA) -> Any:
    return closing(sink.open(f"{folder}/{name}", schema, run))  # type: ignore[type-var]


def wrote(folder: Path, name: str, batches: Iterator[int] | range, run: str = "run") -> None:
    with opened(folder, name, run) as writer:
        for batch in batches:
            writer.write(batch, [train(batch * 10, batch * 10 + 1)])


def found(folder: Path, name: str) -> list[int]:
    where = folder / name.partition("/")[0]
    if where.is_dir() and not any(where.glob("batch-*")):
        return []
    return [i for part in parts(Files(str(where), SCHEMA)) for i, _ in rows(part.tuples)]


@pytest.mark.parametrize("name", FILES + FOLDERS)
@pytest.mark.parametrize("planned", [0, 2, 3, 5])
def test_batches_that_a_checkpoint_does_not_know_are_cut_off_and_told(name: str, planned: int, tmp_path: Path) -> None:
    wrote(tmp_path, name, range(1, 6))
    with opened(tmp_path, name) as writer:
        told = writer.agree(planned, max(planned - 1, 0))
    assert found(tmp_path, name) == [i for batch in range(1, planned + 1) for i in (batch * 10, batch * 10 + 1)]
    assert f"cut off {5 - planned} batches that the checkpoint does not know of" in told or (planned == 5 and not told)
    with opened(tmp_path, name) as writer:  # other tuples than before have these numbers now
        writer.write(planned, [train(planned * 10, planned * 10 + 1)] if planned else [])
        writer.write(planned + 1, [train(77)])
    assert found(tmp_path, name)[-1] == 77


def test_sounds_that_a_checkpoint_does_not_know_are_removed(tmp_path: Path) -> None:
    sounds = [segment(np.arange(size, dtype=np.int16), timebase(8000), 0) for size in (4, 5)]
    segments = signal("n int, a segment<int16>", n=[1, 2], a=sounds).tuples
    for name in ("out/*.wav", "out.wav"):
        with opened(tmp_path, name, schema=segments.schema) as writer:
            for batch in (1, 2, 3):
                writer.write(batch, [segments])
        size = (tmp_path / "out.wav").stat().st_size if name == "out.wav" else 0
        with opened(tmp_path, name, schema=segments.schema) as writer:
            assert "2 batches" in writer.agree(1, 1)
            writer.write(2, [segments])
            writer.write(3, [segments])
        if size:
            assert (tmp_path / "out.wav").stat().st_size == size
    assert sorted(path.name for path in (tmp_path / "out").glob("*.wav")) == [f"{n:06}.wav" for n in range(1, 7)]


def test_a_file_is_cut_back_as_far_as_its_journal_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "_MARKS", 4)
    monkeypatch.setattr(past, "_LONG", 300)
    wrote(tmp_path, "out.csv", range(1, 31))
    with opened(tmp_path, "out.csv") as writer:
        with pytest.raises(RunError, match=r"holds at least \d+ batches after batch 3, the last that the checkpoint"):
            writer.agree(3, 3)
        assert len(found(tmp_path, "out.csv")) == 60
        writer.agree(28, 28)
    assert len(found(tmp_path, "out.csv")) == 56
    with opened(tmp_path, "out.csv") as writer:
        writer.agree(0, 0)
    assert found(tmp_path, "out.csv") == []


@pytest.mark.parametrize("name", FILES + FOLDERS)
def test_other_columns_do_not_come_into_a_sink(name: str, tmp_path: Path) -> None:
    wrote(tmp_path, name, range(1, 3))
    for other in (pa.schema({"i": pa.int32()}), pa.schema({"i": pa.int64(), "s": pa.string()})):
        with pytest.raises(RunError, match=r"has the columns i int, s string, and the output has i (int|bigint).* now"):
            sink.open(f"{tmp_path}/{name}", other, "run")
    assert found(tmp_path, name) == [10, 11, 20, 21]


@pytest.mark.parametrize("name", FILES + FOLDERS)
def test_what_one_writes_to_no_other_does(name: str, tmp_path: Path) -> None:
    with opened(tmp_path, name) as first:
        first.write(1, [train(1)])
        for run in ("run", "another"):
            for replace in (False, True):
                with pytest.raises(
                    RunError, match="another output or another run writes to it; stop that one, or choose"
                ):
                    sink.open(f"{tmp_path}/{name}", SCHEMA, run, replace)
        first.write(2, [train(2)])
    assert found(tmp_path, name) == [1, 2]


def test_who_is_refused_touches_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, "out/") as first:
        made = first.make(1, 0, [train(1)])
        with pytest.raises(RunError):
            sink.open(f"{tmp_path}/out/", SCHEMA, "another")
        first.take([made])
        first.write(1, [])
    assert found(tmp_path, "out/") == [1]


@pytest.mark.parametrize("again", ["parts", "whole", "both"])
@pytest.mark.parametrize("first", ["parts", "whole", "both"])
def test_a_batch_that_is_run_again_may_be_cut_in_another_way(first: str, again: str, tmp_path: Path) -> None:
    """As under another kind of master, where tasks write their parts or do not."""

    def write(writer: Any, way: str) -> None:
        tuples = {"parts": ([1, 2], [3]), "both": ([1, 2],), "whole": ()}[way]
        made = [writer.make(4, part, [train(*some)]) for part, some in enumerate(tuples)]
        if made:
            writer.take(made)
        writer.write(4, {"parts": [], "both": [train(3)], "whole": [train(1, 2, 3)]}[way])

    for way in (first, again):
        with opened(tmp_path, "out/") as writer:
            writer.agree(4, 3)
            write(writer, way)
    assert sorted(found(tmp_path, "out/")) == [1, 2, 3]


def test_a_task_that_does_not_see_the_folder_writes_no_part(tmp_path: Path) -> None:
    with opened(tmp_path, "out/") as writer:
        elsewhere = pickle.loads(pickle.dumps(writer))  # as a task on another machine gets it
        assert elsewhere.make(1, 0, [train(1)])
        elsewhere.folder = tmp_path / "nowhere"
        assert elsewhere.make(1, 0, [train(1)]) == ""


@pytest.mark.parametrize("lost", [1, 5, 40])
def test_a_journal_that_was_cut_short_loses_no_result(lost: int, tmp_path: Path) -> None:
    wrote(tmp_path, "out.csv", range(1, 6))
    journal = tmp_path / ".out.csv.journal"
    os.truncate(journal, journal.stat().st_size - lost)
    with (
        opened(tmp_path, "out.csv") as writer,
        pytest.raises(RunError, match=r"its journal .out.csv.journal ends with batch [34], and the checkpoint counts"),
    ):
        writer.agree(5, 5)
    assert len(found(tmp_path, "out.csv")) == 10
    with opened(tmp_path, "out.csv") as writer:  # unless the batch was not done, and comes again
        writer.agree(5, 3 if lost > 35 else 4)
        for batch in (4, 5):
            writer.write(batch, [train(batch * 10, batch * 10 + 1)])
    assert found(tmp_path, "out.csv") == [i for batch in range(1, 6) for i in (batch * 10, batch * 10 + 1)]


@pytest.mark.parametrize("name", [".out.csv.journal", "out/.run"])
@pytest.mark.parametrize("damage", [b"", b"{", b"7 digits"])
def test_a_note_that_does_not_read_is_told(name: str, damage: bytes, tmp_path: Path) -> None:
    where = "out/" if "/" in name else "out.csv"
    wrote(tmp_path, where, range(1, 4))
    (tmp_path / name).write_bytes(damage)
    with pytest.raises(RunError, match=r"does not read.*put it back.*or move"):
        sink.open(f"{tmp_path}/{where}", SCHEMA, "run")
    assert len(found(tmp_path, where)) == 6


def test_a_journal_that_the_disk_did_not_take_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, entry: object) -> int:
        os.write(journal.file, b"half a l")
        raise OSError(28, "No space left on device")

    with opened(tmp_path, "out.csv") as writer:
        journal = writer.past.journal
        writer.write(1, [train(1)])
        with monkeypatch.context() as patch:
            patch.setattr("australis.disk.journal.Journal.append", full)
            with pytest.raises(
                RunError, match="No space left on device; the batch is not written: start the run again"
            ):
                writer.write(2, [train(2)])
        writer.write(2, [train(2)])
    assert found(tmp_path, "out.csv") == [1, 2]
    wrote(tmp_path, "out.csv", range(3, 4))
    assert found(tmp_path, "out.csv") == [1, 2, 30, 31]

"""A folder of files, one a batch."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from australis.connectors.sinks.folder import Folder
from australis.errors import RunError

SCHEMA = pa.schema({"i": pa.int32()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.record_batch([pa.array(numbers, pa.int32())], SCHEMA)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("[!.]*"))


def test_a_batch_is_a_file_and_an_empty_one_is_none(tmp_path: Path) -> None:
    writer = Folder(str(tmp_path / "out"), "csv").open(SCHEMA, "run")
    for batch, trains in ((0, [train(), train(1, 2), train(3)]), (1, [train()]), (0, [train(9)])):
        writer.write(batch, trains)
    writer.close()
    assert names(tmp_path / "out") == ["batch-000000000000.csv"]
    assert (tmp_path / "out" / "batch-000000000000.csv").read_text() == '"i"\n1\n2\n3\n'


def test_parts_of_a_batch_are_seen_when_they_are_taken(tmp_path: Path) -> None:
    writer = Folder(str(tmp_path), "json").open(SCHEMA, "run")
    made = [pickle.loads(pickle.dumps(writer)).make(5, part, [train(part)]) for part in (0, 1)]
    assert names(tmp_path) == []
    writer.take(made)
    writer.write(5, [train(7)])
    writer.close()
    assert names(tmp_path) == [
        "batch-000000000005-0000.jsonl", "batch-000000000005-0001.jsonl", "batch-000000000005.jsonl",
    ]  # fmt: skip


def test_the_last_batch_may_be_run_again_in_other_parts(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), "json")
    writer = folder.open(SCHEMA, "run")
    writer.take([writer.make(3, part, [train(part)]) for part in (0, 1)])
    writer.write(3, [])
    writer.close()
    again = folder.open(SCHEMA, "run")
    again.take([again.make(3, 1, [train(1)])])
    again.write(3, [train(0)])
    again.close()
    assert names(tmp_path) == ["batch-000000000003-0001.jsonl", "batch-000000000003.jsonl"]


def test_batches_after_the_last_that_was_planned_go(tmp_path: Path) -> None:
    writer = Folder(str(tmp_path), "csv").open(SCHEMA, "run")
    for batch in range(4):
        writer.write(batch, [train(batch)])
    assert "cut off 2 batches" in writer.agree(1, 1)
    assert len(names(tmp_path)) == 2
    assert writer.agree(1, 1) == ""
    writer.close()


def test_files_that_no_run_wrote_are_kept(tmp_path: Path) -> None:
    (tmp_path / "batch-000000000001.csv").touch()
    (tmp_path / "notes.csv").touch()
    for replace in (False, True):
        with pytest.raises(RunError, match=r"holds batch-000000000001\.csv, which no run wrote"):
            Folder(str(tmp_path), "csv").open(SCHEMA, "run", replace)
    (tmp_path / "batch-000000000001.csv").unlink()
    Folder(str(tmp_path), "csv").open(SCHEMA, "run").close()
    assert names(tmp_path) == ["notes.csv"]

"""A process that is killed while it writes, and taken up again, leaves what an undisturbed one does."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from australis.connectors.sinks.past import SinkHistory

PROGRAM = Path(__file__).with_name("killed_sink.py")
SINKS = (
    "out.csv",
    "out.jsonl",
    "out.arrows",
    "csv/*.csv",
    "parquet/*.parquet",
    "out.wav",
    "wav/*.wav",
    "flac/{batch}.flac",
)
KILLS = 25


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    for name in ("killed", "whole"):
        (folder / name).mkdir()
    command = [sys.executable, str(PROGRAM), str(KILLS), *SINKS]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert told.returncode == 0, told.stderr
    died = {where: int(count) for where, count in map(str.split, told.stdout.splitlines())}
    assert all(died.values()), f"too few were killed: {died}"
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("where", SINKS)
def test_killed_writers_leave_the_same_bytes_as_an_undisturbed_one(where, folder):
    name = where.partition("/")[0]
    killed, whole = (
        {k: v for k, v in contents(folder / which).items() if k.split("/")[0] == name} for which in ("killed", "whole")
    )
    notes = {k for k in whole if k.endswith(".journal")}
    assert {k: v for k, v in killed.items() if k not in notes} == {k: v for k, v in whole.items() if k not in notes}
    for note in (f".{name}.journal", f"{name}/.journal"):  # which is summed up whenever it is opened
        if (folder / "whole" / note).exists():
            marks = [SinkHistory(folder / which / note, folder).marks for which in ("killed", "whole")]
            assert marks[0] == marks[1]
    assert any(k.split("/")[0] == name for k in whole)


@pytest.mark.slow
def test_what_was_written_reads_back(folder):
    with pa.ipc.open_stream(folder / "killed" / "out.arrows") as stream:
        batches = stream.read_all().column("batch").to_pylist()
    assert len(batches) == sum(0 if batch % 7 == 3 else 50 + batch * 31 % 700 for batch in range(60))
    assert batches == sorted(batches)

"""What sinks of files promise, and what becomes of a batch that was not taken."""

import shutil
import socket

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis import RunError
from australis.connectors import sink
from australis.connectors.sinks.http import Http
from australis.testing import rows

SCHEMA = pa.schema({"i": pa.int32(), "s": pa.string()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"i": i, "s": f"<{i}>"} for i in numbers], SCHEMA)


@pytest.mark.parametrize(
    "name", ["out.csv", "out.jsonl", "out.arrows", "out/*.csv", "out/*.json", "out/", "out/*.arrow"]
)
def test_a_batch_is_written_once_in_order_and_taken_up_again(name, tmp_path):
    for first in (0, 2):  # the second time from a batch that is there already
        writer = sink.open(f"{tmp_path}/{name}", SCHEMA, run="r")
        for batch in range(first, first + 3):
            writer.write(batch, [train(batch * 10), train(batch * 10 + 1), train()])
            writer.write(batch, [train(99)])
        writer.close()
    from australis.connectors.source import parts
    from australis.connectors.sources.files import Files

    path = tmp_path / (name.partition("/")[0])
    found = [i for part in parts(Files(str(path), SCHEMA)) for i, _ in rows(part.tuples)]
    assert found == [0, 1, 10, 11, 20, 21, 30, 31, 40, 41]


def test_a_batch_that_fails_half_way_leaves_nothing(tmp_path):
    def broken():
        yield train(1)
        raise ValueError("half way")

    for name in ("out.csv", "out/*.csv"):
        writer = sink.open(str(tmp_path / name), SCHEMA)
        with pytest.raises(ValueError, match="half way"):
            writer.write(0, broken())
        writer.write(0, [train(2)])
        writer.close()
    assert (tmp_path / "out.csv").read_text() == '"i","s"\n2,"<2>"\n'
    assert [path.name for path in (tmp_path / "out").glob("[!.]*")] == ["batch-000000000000.csv"]
    assert not list((tmp_path / "out").glob(".batch*"))


def test_the_results_of_another_run_are_refused_or_replaced(tmp_path):
    for name, told in (
        ("out.csv", "is there already, and not of this run"),
        ("out/*.csv", "the results of another run"),
    ):
        where = str(tmp_path / name)
        writer = sink.open(where, SCHEMA, run="first")
        writer.write(0, [train(1)])
        writer.close()
        with pytest.raises(RunError, match=f"{told}; move"):
            sink.open(where, SCHEMA, run="second")
        writer = sink.open(where, SCHEMA, run="second", replace=True)
        writer.write(0, [train(2)])
        writer.close()
        sink.open(where, SCHEMA, run="second").close()
    text = '"i","s"\n2,"<2>"\n'
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "out" / "batch-000000000000.csv").read_text() == text


@pytest.mark.parametrize("name", ["out.csv", "out/batch-000000000000.csv"])
def test_what_no_run_wrote_is_not_replaced_even_without_a_checkpoint(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine\n")
    where = str(path if path.parent == tmp_path else path.parent / "*.csv")
    with pytest.raises(RunError, match=r"no run wrote.*; move"):
        sink.open(where, SCHEMA, run="first", replace=True)
    assert path.read_text() == "mine\n"
    path.unlink()
    sink.open(where, SCHEMA, run="first", replace=True).close()


@pytest.mark.parametrize(
    ("replace", "told"),
    [(False, "it goes on with this batch"), (True, "without a checkpoint it begins anew, and replaces its results")],
)
def test_a_batch_that_was_not_taken_tells_what_becomes_of_it(replace, told, tmp_path):
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        writer = Http(f"http://127.0.0.1:{unheard.getsockname()[1]}/", attempts=1).open(SCHEMA, "run", replace)
        with pytest.raises(
            RunError, match=f"batch 3 was not taken.*see to the server, then start the run again: {told}"
        ):
            writer.write(3, [train(1)])
    writer = sink.open(str(tmp_path / "out" / "*.csv"), SCHEMA, "run", replace)
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(RunError, match=f"the batch is not written: start the run again: {told}"):
        writer.write(0, [train(1)])
    writer.close()

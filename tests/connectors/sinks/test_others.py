"""Sinks: what each promises, their text forms, and the dead letters."""

import shutil
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis import RunError
from australis.connectors import dead_letters as letters
from australis.connectors import sink
from australis.connectors.dead_letters import Letter
from australis.connectors.sinks.http import Http
from australis.testing import rows

SCHEMA = pa.schema({"i": pa.int32(), "s": pa.string()})


def train(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"i": i, "s": f"<{i}>"} for i in numbers], SCHEMA)


def test_text_forms(tmp_path):
    assert sink.sink("console") == sink.Console()
    assert sink.sink("https://example.org/x") == sink.Http("https://example.org/x")
    assert sink.sink("out.JSONL") == sink.Single("out.JSONL")
    assert sink.sink("out/") == sink.Folder("out", "parquet")
    assert sink.sink("out/*.ndjson") == sink.Folder("out", "json")
    assert sink.sink(tmp_path) == sink.Folder(str(tmp_path), "parquet")
    assert sink.sink(sink.Console(5)) == sink.Console(5)
    for wrong in ("out.txt", "kafka:out", 7):
        with pytest.raises(RunError, match=r"`console`; `-`, .*`http://.*a file that grows .*a folder of files"):
            sink.sink(wrong)


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


def test_a_csv_file_has_one_header_even_without_tuples(tmp_path):
    for _ in range(2):
        writer = sink.open(str(tmp_path / "out.csv"), SCHEMA)
        writer.write(0, [])
        writer.close()
    assert (tmp_path / "out.csv").read_text() == '"i","s"\n'


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


def test_a_file_that_was_there_before_is_refused(tmp_path):
    (tmp_path / "out.csv").write_text("mine\n")
    with pytest.raises(RunError, match=r"out.csv: is there already, and not of this run; move it away"):
        sink.open(str(tmp_path / "out.csv"), SCHEMA)
    assert (tmp_path / "out.csv").read_text() == "mine\n"


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


def test_a_file_that_shrank_is_told(tmp_path):
    writer = sink.open(str(tmp_path / "out.csv"), SCHEMA)
    writer.write(0, [train(1)])
    writer.close()
    (tmp_path / "out.csv").write_text("x")
    with pytest.raises(RunError, match=r"out.csv: has 1 bytes, fewer than the \d+ that were written; put it back, or"):
        sink.open(str(tmp_path / "out.csv"), SCHEMA)


def test_one_process_writes_a_file(tmp_path):
    writer = sink.open(str(tmp_path / "out.csv"), SCHEMA)
    with pytest.raises(
        RunError, match=r"out.csv: another output or another run writes to it; stop that one, or choose another path"
    ):
        sink.open(str(tmp_path / "out.csv"), SCHEMA)
    writer.close()
    sink.open(str(tmp_path / "out.csv"), SCHEMA).close()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("out.arrows.gz", r"out.arrows.gz: only CSV and JSON lines are written compressed; write .*out.arrows"),
        ("missing/out.csv", r"out.csv: .*No such file.*; choose a file that can be written to"),
        ("file/x/", r"file/x: .*; choose a folder that can be written to"),
    ],
)
def test_sinks_that_cannot_be_opened_are_told(name, told, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=told):
        sink.open(f"{tmp_path}/{name}", SCHEMA)


def test_what_a_format_does_not_hold_is_told_when_it_is_opened(tmp_path):
    lists = pa.schema({"l": pa.list_(pa.int32())})
    for name in ("out.csv", "out/*.csv"):
        with pytest.raises(
            RunError, match=r"column l is list<.*, which CSV does not hold; write JSON lines, Parquet or"
        ):
            sink.open(str(tmp_path / name), lists)
    with pytest.raises(RunError, match="out: there is no format excel; there are csv, json, parquet, arrow"):
        sink.open(sink.Folder("out", "excel"), SCHEMA)


def test_the_console(capsys):
    writer = sink.open(sink.Console(2), SCHEMA)
    writer.write(7, [train(1, 2), train(3)])
    writer.write(8, [])
    out = capsys.readouterr().out
    assert "batch 7: 3 tuples" in out
    assert "and 1 more" in out
    assert "<2>" in out
    assert "<3>" not in out
    assert "batch 8" not in out


def test_a_callback_is_called_with_each_batch_again():
    calls = []
    writer = sink.open(lambda batch, table: calls.append((batch, table.num_rows)), SCHEMA)
    for batch in (0, 1, 1):
        writer.write(batch, [train(1), train(2)] if batch else [])
    assert calls == [(0, 0), (1, 2), (1, 2)]


class Target:
    """Keeps batches by run and id."""

    def __init__(self):
        self.kept = {}

    def last_batch(self, run):
        return max((batch for other, batch in self.kept if other == run), default=None)

    def write(self, run, batch, table):
        self.kept[run, batch] = [row[0] for row in rows(table)]


def test_a_target_with_transactions_has_each_batch_of_each_run_once():
    target = Target()
    for run in ("one", "other"):
        for batch in (0, 1, 1, 2, 0):
            sink.open(target, SCHEMA, run).write(batch, [train(batch)])
    assert target.kept == {(run, batch): [batch] for run in ("one", "other") for batch in range(3)}


def test_a_target_that_is_ahead_of_the_checkpoint_is_refused():
    target = Target()
    writer = sink.open(target, SCHEMA, "run")
    for batch in (1, 2, 3):
        writer.write(batch, [train(batch)])
    assert writer.agree(3, 2) == ""
    with pytest.raises(
        RunError, match=r"Target: has batches of run run up to 3, and the checkpoint knows none after 2;"
    ):
        writer.agree(2, 2)


@pytest.fixture
def server():
    """A web server that answers with the given codes, and then with 200."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            code = self.server.codes.pop(0) if self.server.codes else 200
            self.server.taken.append((code, self.headers["Australis-Batch"], self.headers["Australis-Run"], body))
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.codes, server.taken = [], []
        server.url = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_http_posts_json_lines_and_tries_again(server):
    server.codes = [503, 429]
    writer = sink.open(Http(server.url, pause=0.01), SCHEMA, run="r")
    writer.write(5, [train(1), train(2)])
    writer.write(6, [train()])
    body = b'{"i": 1, "s": "<1>"}\n{"i": 2, "s": "<2>"}\n'
    assert server.taken == [(code, "5", "r", body) for code in (503, 429, 200)]


def test_http_gives_up(server):
    writer = sink.open(Http(server.url, attempts=3, pause=0.01), SCHEMA)
    server.codes = [400]
    with pytest.raises(RunError, match=r"batch 5 was not taken \(HTTP Error 400.*; see to the server, then start the"):
        writer.write(5, [train(1)])
    assert len(server.taken) == 1
    server.codes = [500] * 9
    with pytest.raises(RunError, match=r"batch 6 was not taken 3 times \(HTTP Error 500"):
        writer.write(6, [train(1)])
    assert len(server.taken) == 4
    with pytest.raises(RunError, match=r"was not taken 2 times"):
        Http("http://127.0.0.1:1/", attempts=2, pause=0.01).open(SCHEMA).write(0, [train(1)])


def test_dead_letters_of_a_run(tmp_path):
    bad = [Letter("2 values for 3 columns", "a.csv", 40, b"1,\xff"), Letter("invalid UTF-8", "a.csv", 50, b"\xfe")]
    for _ in range(2):
        writer = letters.writer(tmp_path, run="r")
        writer.write(3, [letters.table("reports", bad, 3)])
        writer.write(4, [letters.table("reports", [], 4)])
        writer.write(5, [letters.table("reports", bad[:1], 5)])
        writer.close()
    assert rows(letters.dead_letters(tmp_path)) == [
        ("reports", "2 values for 3 columns", "a.csv", 40, b"1,\xff", 3),
        ("reports", "invalid UTF-8", "a.csv", 50, b"\xfe", 3),
        ("reports", "2 values for 3 columns", "a.csv", 40, b"1,\xff", 5),
    ]
    assert letters.dead_letters(tmp_path / "none").num_rows == 0
    assert str(bad[0]) == r"a.csv: at 40: 2 values for 3 columns, in 1,\xff"


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

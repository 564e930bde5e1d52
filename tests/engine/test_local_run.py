"""Files in and out of a local run."""

import gzip
import re

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.connectors import sink
from australis.connectors.dead_letters import Letters, tell
from australis.connectors.sources.form import FORMATS
from australis.connectors.sources.uri import read, source
from australis.testing import rows

SCHEMA = "i int, f double, s string, b boolean, t timestamp, z timestamptz, d date"
COPY = au.network(out=au.stream("given", SCHEMA))
TUPLES = [
    {"i": 1, "f": 1.5, "s": 'a "quoted", \\ text', "b": True, "t": 10**15, "z": 0, "d": 18262},
    {"i": None, "f": None, "s": None, "b": None, "t": None, "z": None, "d": None},
    {"i": -7, "f": 1e300, "s": "", "b": False, "t": 1, "z": 1, "d": 0},
]


@pytest.fixture
def table():
    schema = au.stream("given", SCHEMA).schema
    return pa.table({field.name: pa.array([row[field.name] for row in TUPLES], field.type) for field in schema})


@pytest.mark.parametrize("suffix", [*FORMATS, ".CSV"])
def test_what_is_written_is_read_back(suffix, table, tmp_path):
    path = tmp_path / f"out{suffix}"
    COPY.run_local(given=table, out=path)
    assert rows(COPY.run_local(given=path)["out"]) == rows(table)


@given(st.lists(st.none() | st.text()))
def test_json_lines_hold_any_text(tmp_path_factory, texts):
    copy = au.network(out=au.stream("given", "s string"))
    path = tmp_path_factory.mktemp("json") / "out.jsonl"
    copy.run_local(given={"s": texts}, out=path)
    assert rows(copy.run_local(given=path)["out"]) == [(text,) for text in texts]


def test_json_has_no_infinity_and_keeps_lists(tmp_path):
    copy = au.network(out=au.stream("given", "f double, l array<int>"))
    copy.run_local(given={"f": [float("inf"), 2.0], "l": [[1, 2], None]}, out=tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == '{"f": null, "l": [1, 2]}\n{"f": 2, "l": null}\n'
    assert rows(copy.run_local(given=tmp_path / "out.jsonl")["out"]) == [(None, [1, 2]), (2.0, None)]


def test_a_glob_reads_files_in_the_order_of_their_names(tmp_path):
    (tmp_path / "b.csv").write_text("i,more\n3,x\n")
    (tmp_path / "a.csv").write_text("more,i\ny,1\nz,2\n")
    with gzip.open(tmp_path / "c.csv.gz", "wt") as file:
        file.write("i\n4\n")
    copy = au.network(out=au.stream("given", "i int"))
    assert rows(copy.run_local(given=str(tmp_path / "*.csv*"))["out"]) == [(1,), (2,), (3,), (4,)]


def test_arrow_streams_and_empty_files(tmp_path, table):
    with pa.ipc.new_stream(tmp_path / "given.arrow", table.schema) as stream:
        stream.write_table(table)
    assert rows(COPY.run_local(given=tmp_path / "given.arrow")["out"]) == rows(table)
    (tmp_path / "empty.jsonl").touch()
    assert rows(COPY.run_local(given=tmp_path / "empty.jsonl")["out"]) == []


def test_one_column_keeps_its_nulls(tmp_path):
    copy = au.network(out=au.stream("given", "i int"))
    copy.run_local(given={"i": [1, None, 2]}, out=tmp_path / "out.csv")
    assert rows(copy.run_local(given=tmp_path / "out.csv")["out"]) == [(1,), (None,), (2,)]


WRONG = {
    "nothing.csv": (None, "no file matches .*nothing.csv"),
    "given.txt": ("i\n1\n", r"given.txt: the format is told by the name, which ends in one of .csv, .json"),
    "given.csv": ("i,mhp\n1,2\n", "given.csv: no column mph; there are i, mhp; did you mean `mhp`"),
    "wrong.csv": ("i,mph\n1,fast\n", "wrong.csv: .*fast"),
    "given.jsonl": ('{"i": 1, "mhp": 2}\n', "given.jsonl: no column mph; there are i, mhp"),
    "wrong.jsonl": ('{"i": 1, "mph": "fast"}\n', "wrong.jsonl: .*mph"),
    "wrong.parquet": ("no parquet", "wrong.parquet: "),
    "wrong.arrow": ("no arrow", "wrong.arrow: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_name_the_file(name, tmp_path):
    text, told = WRONG[name]
    if text is not None:
        (tmp_path / name).write_text(text)
    copy = au.network(out=au.stream("given", "i int, mph int"))
    with pytest.raises(au.RunError, match=told):
        copy.run_local(given=tmp_path / name, strict=True)


def test_lines_that_do_not_read_are_told_of_or_an_error(tmp_path):
    path = tmp_path / "given.csv"
    path.write_text("i,mph\n1,fast\n2,50\n3\n4,60\n")
    copy = au.network(out=au.stream("given", "i int, mph int"))
    unread: list[Letters] = []
    assert rows(copy.run_local(given=path, unread=unread)["out"]) == [(2, 50), (4, 60)]
    (lost,) = unread
    assert (lost.input, lost.count, [each.position for each in lost.letters]) == ("given", 2, [6, 18])
    first = "2 dead letters; the first: given: .*given.csv: at 6: column mph: int32: invalid value 'fast', in 1,fast"
    assert re.match(first, tell(unread))
    with pytest.warns(UserWarning, match=first):
        assert copy.run_local(given=path)["out"].num_rows == 2
    with pytest.warns(UserWarning, match=first):
        copy.run_local(given=source(str(path), "i int, mph int"))
    for each in (path, source(str(path), "i int, mph int")):
        with pytest.raises(au.RunError, match=r"given\.csv: at 6: .*; correct it, or .* without `strict`"):
            copy.run_local(given=each, strict=True)


def test_a_sink_that_cannot_be_opened_is_told(tmp_path):
    for name in ("out.csv", "out.jsonl", "out.parquet", "out.arrow"):
        with pytest.raises(au.RunError, match=f"{name}: "):
            COPY.run_local(given=[], out=tmp_path / "missing" / name)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_what_an_earlier_run_wrote_is_replaced_and_nothing_else(suffix, table, tmp_path):
    out = tmp_path / f"out{suffix}"
    for count in (3, 1):
        assert COPY.run_local(given=table.slice(0, count), out=out)["out"].num_rows == count
        assert sum(part.num_rows for part in read(out, table.schema)) == count
    writer = sink.open(out, table.schema, "stopped", replace=True)
    getattr(writer, "batches", writer).close()  # as after a run that was stopped in the middle
    COPY.run_local(given=table, out=out)
    out.write_bytes(b"mine")
    with pytest.raises(au.RunError, match=r"out\.\w+: is there already, and no run wrote it as it is; move it away"):
        COPY.run_local(given=table, out=out)
    assert out.read_bytes() == b"mine"
    (tmp_path / f".out{suffix}.journal").unlink()
    with pytest.raises(au.RunError, match="no run wrote it"):
        COPY.run_local(given=table, out=out)
    out.unlink()
    COPY.run_local(given=table, out=out)


def test_a_source_is_never_the_sink(table, tmp_path):
    path = tmp_path / "given.csv"
    pa.csv.write_csv(table.select(["i"]), path)
    before = path.read_bytes()
    with pytest.raises(au.RunError, match="no run wrote it"):
        au.network(out=au.stream("given", "i int")).run_local(given=path, out=path)
    assert path.read_bytes() == before


def test_a_device_is_written_as_it_is(table, tmp_path):
    (tmp_path / "null.csv").symlink_to("/dev/null")
    COPY.run_local(given=table, out=tmp_path / "null.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["null.csv"]

"""Files as a source: every format, split in any way, replayable."""

import gzip
import json
import pickle
import random
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from australis import RunError
from australis.arrow.schema import schema
from australis.connectors.sinks.jsontext import json_lines
from australis.connectors.source import Part, parts
from australis.connectors.sources import lines
from australis.connectors.sources.files import Files
from australis.testing import rows

SCHEMA = schema("i int, f double, s string, t timestamp, d date")
COUNT = 1000
KINDS = ("csv", "csv.gz", "csv.zst", "jsonl", "jsonl.gz", "jsonl.zst", "parquet", "arrow", "packed.arrow", "arrows")


def table(count: int = COUNT, first: int = 0) -> pa.Table:
    numbers = pa.array(range(first, first + count), pa.int64())
    columns = {
        "extra": numbers,
        "s": pa.array([f"text, {i}" if i % 3 else None for i in range(first, first + count)]),
        "d": numbers.cast(pa.int32()).cast(pa.date32()),
        "i": pc.if_else(pc.equal(pc.bit_wise_and(numbers, 7), 5), None, numbers).cast(pa.int32()),
        "f": pc.multiply(numbers.cast(pa.float64()), 0.5),
        "t": pc.multiply(numbers, 1_000_001).cast(pa.timestamp("us")),
    }
    return pa.table(columns)


def save(tuples: pa.Table, path) -> None:
    name = path.name
    if name.endswith(".parquet"):
        pa.parquet.write_table(tuples, path, row_group_size=130)
    elif name.endswith(".arrows"):
        with pa.ipc.new_stream(path, tuples.schema) as stream:
            stream.write_table(tuples, max_chunksize=90)
    elif name.endswith(".arrow"):
        options = pa.ipc.IpcWriteOptions(compression="zstd" if "packed" in name else None)
        with pa.ipc.new_file(path, tuples.schema, options=options) as file:
            file.write_table(tuples, max_chunksize=90)
    else:
        with pa.output_stream(path) as file:  # packs as the name tells
            if ".csv" in name:
                pa.csv.write_csv(tuples, file)
            else:
                for batch in tuples.to_batches():
                    file.write(json_lines(batch))


def gathered(found: list[Part]) -> tuple[list, list, list]:
    tuples = [row for part in found for row in rows(part.tuples)]
    return tuples, [n for part in found for n in part.number.tolist()], [x for part in found for x in part.letters]


def by_splits(source: Files, limit: int, count: int) -> tuple[list, list, list]:
    found, offset = [], source.start()
    while (end := source.latest(offset, limit)) != offset:
        splits = source.splits(offset, end, count)
        assert 1 <= len(splits) <= count
        again = pickle.loads(pickle.dumps((source, splits)))
        found += [part for split in again[1] for part in again[0].read(split)]
        offset = end
    assert source.finished(offset)
    assert source.backlog(offset) == 0
    return gathered(found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    for kind in KINDS:
        save(table(), path / f"given.{kind}")
    return path


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", 4000)


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_tuples_of_the_schema(kind, folder):
    found, numbers, letters = gathered(list(parts(Files(str(folder / f"given.{kind}"), SCHEMA))))
    assert found == rows(table().select(SCHEMA.names))
    assert letters == []
    assert numbers[0] > 0
    assert all(a < b for a, b in pairwise(numbers))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(st.integers(1, 2 * COUNT), st.integers(1, 9))
def test_batches_and_splits_of_any_size_give_the_same(kind, folder, limit, count):
    source = Files(str(folder / f"given.{kind}"), SCHEMA)
    assert by_splits(source, max(limit, 20), count) == gathered(list(parts(source, 1 << 30)))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
def test_a_batch_is_about_as_long_as_asked_and_its_splits_are_even(kind, folder):
    source = Files(str(folder / f"given.{kind}"), SCHEMA)
    assert source.backlog(source.start()) == pytest.approx(COUNT, rel=0.05)
    end = source.latest(source.start(), 600)
    sizes = [sum(part.tuples.num_rows for part in source.read(x)) for x in source.splits(source.start(), end, 3)]
    assert sum(sizes) == pytest.approx(600, rel=0.1)
    assert len(sizes) == 3
    assert max(sizes) < 300
    assert source.backlog(end) == pytest.approx(COUNT - sum(sizes), rel=0.1)
    assert source.latest(end, 0) == end


def test_many_small_files_share_splits(tmp_path):
    for index in range(20):
        save(table(10, index * 10), tmp_path / f"part-{index:02}.{'csv' if index % 2 else 'parquet'}")
    source = Files(str(tmp_path), SCHEMA)
    found = gathered(list(parts(source)))
    assert found[0] == rows(table(200).select(SCHEMA.names))
    for count in (1, 2, 3, 7, 50):
        assert by_splits(source, 1000, count) == found
    assert by_splits(source, 25, 2) == found
    assert source.backlog(source.start()) == pytest.approx(200, rel=0.5)


def test_what_lies_between_two_offsets_is_read_again_the_same(tmp_path):
    save(table(100), tmp_path / "a.csv")
    source = Files(str(tmp_path), SCHEMA)
    offsets = [source.start()]
    while (end := source.latest(offsets[-1], 30)) != offsets[-1]:
        offsets.append(end)
    pairs = list(pairwise(offsets))
    once = [gathered([p for s in source.splits(a, b, 2) for p in source.read(s)]) for a, b in pairs]
    save(table(50, 100), tmp_path / "b.csv")
    with (tmp_path / "a.csv").open("ab") as file:
        file.write(b"later")
    again = [gathered([p for s in source.splits(a, b, 3) for p in source.read(s)]) for a, b in pairs]
    assert again == once


def test_offsets_that_do_not_follow_each_other_are_refused(tmp_path):
    for name in "abc":
        save(table(10), tmp_path / f"{name}.csv")
    source = Files(str(tmp_path), SCHEMA)
    first = source.latest(source.start(), 10)
    third = source.latest(source.latest(first, 10), 10)
    with pytest.raises(RunError, match="does not follow"):
        source.splits(first, third, 1)


def test_arrival_numbers_have_their_limits(tmp_path):
    source = Files(str(tmp_path), SCHEMA)
    for before, stop in ((0, 1 << 40), (1 << 23, 10)):
        end = {"before": before, "files": [["a.csv", stop, stop, 0]]}
        with pytest.raises(
            RunError, match=r"a.csv: file \d+ at \d+ is beyond what arrival numbers count; a source has"
        ):
            source.splits({"before": before, "files": []}, end, 1)


CHANGED = {
    "a.csv": ("shrunk", r"a.csv: has 5 bytes, fewer than the \d+ that it had; put the file back"),
    "b.csv": ("gone", "b.csv: gone since it was found; put it back"),
    "c.parquet": ("shrunk", r"c.parquet: has 5 bytes and had \d+; put the file back"),
    "d.csv.gz": ("shrunk", r"d.csv.gz: has 5 bytes and had \d+"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_file_that_is_not_what_it_was_is_told(name, tmp_path):
    save(table(), tmp_path / name)
    source = Files(str(tmp_path / name), SCHEMA)
    end = source.latest(source.start(), COUNT // 2)
    splits = source.splits(source.start(), end, 2)
    how, told = CHANGED[name]
    (tmp_path / name).unlink() if how == "gone" else (tmp_path / name).write_bytes(b"short")
    with pytest.raises(RunError, match=told):
        list(source.read(splits[0]))
    with pytest.raises(RunError, match=told):
        source.splits(source.start(), end, 2)
    if how == "gone":
        with pytest.raises(RunError, match=r"b.csv: gone, after it was read up to"):
            source.latest(end, 1)


def test_headers(tmp_path):
    wanted = schema("a int, b int")
    (tmp_path / "bom.csv").write_bytes(b'\xef\xbb\xbf"b",x,a,a\r\n2,-,1,9\r\n')
    (tmp_path / "none.csv").write_bytes(b"1,2\n")
    (tmp_path / "semi.csv").write_bytes(b"a;b\n1;2\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "only.csv").write_bytes(b"a,b\n")
    (tmp_path / "bom.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1, "b": 2}')
    read = {name: gathered(list(parts(Files(str(tmp_path / name), wanted, **options))))[0] for name, options in {
        "bom.csv": {}, "none.csv": {"header": False}, "semi.csv": {"delimiter": ";"}, "empty.csv": {}, "only.csv": {},
        "bom.jsonl": {},
    }.items()}  # fmt: skip
    assert read == {"bom.csv": [(1, 2)], "none.csv": [(1, 2)], "semi.csv": [(1, 2)], "empty.csv": [], "only.csv": [],
                    "bom.jsonl": [(1, 2)]}  # fmt: skip


def test_only_the_empty_value_is_null_unless_told(tmp_path):
    (tmp_path / "a.csv").write_text('s,f\nNA,nan\n,\n"",1\n-,2\n')
    wanted = schema("s string, f double")
    (first, *rest) = gathered(list(parts(Files(str(tmp_path / "a.csv"), wanted))))[0]
    assert first[0] == "NA"
    assert first[1] != first[1]
    assert rest == [(None, None), ("", 1.0), ("-", 2.0)]
    found = gathered(list(parts(Files(str(tmp_path / "a.csv"), wanted, nulls=("", "-")))))[0]
    assert found[-1] == (None, 2.0)


def test_types_are_cast_where_nothing_is_lost(tmp_path):
    given = pa.table({"a": pa.array([1, 2**40, 3]), "b": pa.array(["x", "y", None]).dictionary_encode()})
    for name in ("a.parquet", "a.arrow"):
        save(given, tmp_path / name)
        (part,) = parts(Files(str(tmp_path / name), schema("b string, a int")))
        assert rows(part.tuples) == [("x", 1), (None, 3)]
        assert part.number.tolist() == [1, 3]
        (letter,) = part.letters
        assert letter.position == 1
        assert letter.raw == b'{"b": "y", "a": 1099511627776}'
        assert "column a" in letter.reason


def test_a_letter_holds_values_that_python_has_no_form_for(tmp_path):
    late = pa.array([2**62, 0]).view(pa.timestamp("us"))
    given = pa.table({"a": [2**40, 3], "t": late, "l": pa.ListArray.from_arrays([0, 1, 2], late), "d": pa.array(
        [2**62, 0]).view(pa.duration("s"))})  # fmt: skip
    save(given, tmp_path / "a.arrow")
    wanted = pa.schema({**{field.name: field.type for field in given.schema}, "a": pa.int32()})
    (part,) = parts(Files(str(tmp_path / "a.arrow"), wanted))
    assert part.tuples.column("a").to_pylist() == [3]
    (letter,) = part.letters
    raw = json.loads(letter.raw)
    assert raw["a"] == 2**40
    assert all(str(2**62) in raw[name] for name in "tld")


def test_what_may_not_be_null_is_a_letter(tmp_path):
    wanted = schema("a int not null, b int")
    (tmp_path / "a.csv").write_text("a,b\n1,\n,2\n3,3\n")
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"b": 2}\n{"a": 3, "b": 3}\n')
    save(pa.table({"a": pa.array([1, None, 3], pa.int32()), "b": pa.array([None, 2, 3], pa.int32())}),
         tmp_path / "a.parquet")  # fmt: skip
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        tuples, _, (letter,) = gathered(list(parts(Files(str(tmp_path / name), wanted))))
        assert tuples == [(1, None), (3, 3)]
        assert letter.reason == "no value of a, which may not be null"


WRONG = {
    "none.csv": (None, {}, "no file matches .*none.csv; names end in one of .csv, .*, and to wait for files the"),
    "a.txt": (b"", {}, "a.txt: the format is told by the name"),
    "misspelt.csv": (b"i,mhp\n1,2\n", {}, "misspelt.csv: no column mph; there are i, mhp; did you mean `mhp`"),
    "misspelt.jsonl": (b'{"i": 1, "mhp": 2}\n', {}, "misspelt.jsonl: no column mph; there are i, mhp; did you"),
    "header.csv": (b"\n1,2\n", {}, "header.csv: the first line does not name the columns .*header=False"),
    "a.parquet": (b"none", {}, "a.parquet: "),
    "a.arrow": (b"none", {}, "a.arrow: "),
    "a.csv.gz": (b"none", {}, "a.csv.gz: "),
    "a.parquet.gz": (b"none", {}, "a.parquet.gz: only CSV and JSON lines are read compressed; unpack"),
    "strict.csv": (b"i,mph\n1,2\n1,x\n", {"strict": True},
                   "strict.csv: at 10: column mph: int32: invalid value 'x', in 1,x; correct it, or read without"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_name_the_file_and_say_what_to_do(name, tmp_path):
    data, options, told = WRONG[name]
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(RunError, match=told):
        list(parts(Files(str(tmp_path / name), schema("i int, mph int"), **options)))


LIKE = b'{"i": 1, "mhp": 5}\n'


@pytest.mark.parametrize("limit", [1, 3, 1000])
@pytest.mark.parametrize("count", [1, 4])
def test_a_field_that_the_first_objects_leave_out_is_null_however_the_file_is_cut(limit, count, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(LIKE * 9 + b'{"i": 2, "mph": 5}\n' + LIKE * 90)
    found = by_splits(Files(str(tmp_path / "a.jsonl"), schema("i int, mph int")), limit, count)[0]
    assert found == [(1, None)] * 9 + [(2, 5)] + [(1, None)] * 90


def test_a_misspelt_field_is_told_whichever_piece_is_read(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(LIKE * 150 + b'{"i": 2, "mph": 5}\n' * 5000)
    source = Files(str(tmp_path / "a.jsonl"), schema("i int, mph int"))
    splits = source.splits(source.start(), source.latest(source.start(), 1 << 30), 4)
    assert len(splits) == 4
    for split in splits:
        with pytest.raises(RunError, match=r"a.jsonl: no column mph; there are i, mhp; did you mean `mhp`"):
            next(source.read(split))


def test_columns_of_the_wrong_kind_are_told(tmp_path):
    save(pa.table({"i": ["a"]}), tmp_path / "a.parquet")
    with pytest.raises(RunError, match=r"a.parquet: column i is string, where int32 is wanted; change the type"):
        list(parts(Files(str(tmp_path / "a.parquet"), schema("i int"))))
    (tmp_path / "a.csv").write_text("i\n1\n")
    with pytest.raises(RunError, match=r"a.csv: column i is list<.*, which CSV does not hold; keep the tuples in JSON"):
        list(parts(Files(str(tmp_path / "a.csv"), schema("i array<int>"))))
    (tmp_path / "a.jsonl").write_text('{"i": 1}\n')
    with pytest.raises(RunError, match=r"a.jsonl: column i is duration.*, which is not read from JSON; read it as"):
        list(parts(Files(str(tmp_path / "a.jsonl"), schema("i interval"))))


def test_json_gives_dates_and_times_as_they_were_written(tmp_path):
    wanted = schema("d date, t time, z timestamptz")
    given = pa.RecordBatch.from_pylist(
        [{"d": 7, "t": 3_600_000_001, "z": 5}, {"d": None, "t": None, "z": None}], wanted
    )
    (tmp_path / "a.jsonl").write_bytes(json_lines(given) + b'{"d": "1970-01-01", "t": "25:00:00"}\n')
    tuples, _, (letter,) = gathered(list(parts(Files(str(tmp_path / "a.jsonl"), wanted))))
    assert tuples == rows(given)
    assert letter.raw.endswith(b'"25:00:00"}')


def test_lines_longer_than_a_block(tmp_path):
    texts = [random.Random(i).choice("xy") * (i * 997 % 9000) for i in range(30)]
    (tmp_path / "a.csv").write_text("i,s\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts)))
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write((tmp_path / "a.csv").read_text())
    for name in ("a.csv", "a.csv.gz"):
        source = Files(str(tmp_path / name), schema("i int, s string"))
        assert by_splits(source, 7, 3)[0] == [(i, text or None) for i, text in enumerate(texts)]

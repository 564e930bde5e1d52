"""Row groups that are left unread: none with a row that satisfies the predicate, nor with one that does not fit."""

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.connectors.source import parts
from australis.connectors.sources.files import Files
from australis.connectors.sources.row_groups import matter
from australis.expressions import expr

NAN, INF = math.nan, math.inf


def needed(table: pa.Table, wanted: str, predicate: str, folder: Path, rows: int = 2, **options: object) -> list[int]:
    """The row groups that must be read of a table in groups of a few rows."""
    path = folder / "a.parquet"
    pq.write_table(table, path, row_group_size=rows, **options)
    with pq.ParquetFile(path) as file:
        found = matter(file, schema(wanted), expr(predicate), range(file.metadata.num_row_groups))
    return [group for group, must in enumerate(found.tolist()) if must]


CASES: dict[str, tuple[pa.Array, str, str, list[int]]] = {
    "whole numbers": (pa.array([1, 2, 3, 4, 5, 6], pa.int32()), "int", "a > 4", [2]),
    "of more bits than in the file": (pa.array([1, 2, 3, 4, 5, 6], pa.int32()), "bigint", "a > 4", [2]),
    "of fewer bits, where they fit": (pa.array([1, 2, 3, 4, 5, 6]), "tinyint", "a > 4", [2]),
    "of fewer bits, where they do not": (pa.array([1, 300, 3, 4, 5, -300]), "tinyint", "a > 400", [0, 2]),
    "unsigned": (pa.array([1, 2, 2**31, 2**32 - 1], pa.uint32()), "uint32", "a > 5", [1]),
    "unsigned, as signed ones": (pa.array([1, 2, 2**31, 2**32 - 1], pa.uint32()), "bigint", "a > 5", [1]),
    "unsigned of 64 bits": (pa.array([1, 2, 2**63, 2**64 - 1], pa.uint64()), "uint64", "a > 5", [0, 1]),
    "unsigned, below zero": (pa.array([1, 2, 3, -4]), "uint8", "a > 200", [1]),
    "all null": (pa.array([None, None, 3, None], pa.int32()), "int", "a > 1", [1]),
    "nulls wanted": (pa.array([1, None, 3, 4, None, None], pa.int32()), "int", "a is null", [0, 2]),
    "no nulls wanted": (pa.array([1, None, 3, 4, None, None], pa.int32()), "int", "a is not null", [0, 1]),
    "null where none may be": (pa.array([1, None, 3, 4], pa.int32()), "int not null", "a > 9", [0]),
    "NaN among numbers": (pa.array([1.0, NAN, 3.0, 4.0]), "double", "a > 3", [1]),
    "NaN is not equal": (pa.array([1.0, NAN, 1.0, 1.0]), "double", "a != 1", [0, 1]),
    "NaN alone": (pa.array([NAN, NAN, 3.0, 4.0]), "double", "a > 3", [0, 1]),
    "infinities": (pa.array([-INF, 1.0, 2.0, INF]), "double", "a > 1e308", [1]),
    "zeros": (pa.array([-0.0, -0.0, 0.0, 1.0]), "double", "a >= 0", [0, 1]),
    "floats, as doubles": (pa.array([0.1, 0.2, 0.3, 0.4], pa.float32()), "double", "a > 0.25", [1]),
    "doubles, as floats": (pa.array([0.1, 0.2, 0.3, 0.4]), "float", "a > 0.25", [0, 1]),
    "texts": (pa.array(["a", "b", "é", "z"]), "string", "a > 'c'", [1]),
    "texts by their bytes": (pa.array(["a", "z", "\x7f", "\U0010ffff"]), "string", "a > '~'", [1]),
    "dates": (pa.array([1, 2, 20454, 20455], pa.date32()), "date", "a >= '2026-01-01'", [1]),
    "dates beyond Python's": (pa.array([1, 2, 3, 2**31 - 1], pa.date32()), "date", "a > '2026-01-01'", [1]),
    "times": (pa.array([1, 2, 2**61, 2**62], pa.timestamp("us")), "timestamp", "a > '2026-01-01'", [1]),
    "times of another unit": (pa.array([1, 2, 3, 4], pa.timestamp("ms")), "timestamp", "a > '2026-01-01'", [0, 1]),
    "nanoseconds": (pa.array([1, 2, 3, 4], pa.timestamp("ns")), "timestamp[ns]", "a > '2026-01-01'", []),
    "times of a zone": (
        pa.array([dt.datetime(2026, 1, 1, at, tzinfo=dt.UTC) for at in (0, 5, 6, 9)], pa.timestamp("us", "Asia/Tokyo")),
        "timestamp[us, Asia/Tokyo]", "a > '2026-01-01 14:30'", [1],
    ),
    "times of another zone": (pa.array([1, 2], pa.timestamp("us", "UTC")), "timestamp", "a > '2026-01-01'", [0]),
    "decimals": (pa.array([Decimal(1), Decimal(2)], pa.decimal128(9, 2)), "decimal(9, 2)", "a > 9", [0]),
    "truths": (pa.array([False, False, True, True]), "boolean", "a = true", [0, 1]),
    "numbers of texts": (pa.array([1, 2, 3, 4]), "double", "a > 3", [0, 1]),
    "coded texts": (pa.array(["a", "b", "c", "d"]).dictionary_encode(), "string", "a > 'c'", [0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_row_groups(case: str, tmp_path: Path) -> None:
    values, type_, predicate, expected = CASES[case]
    assert needed(pa.table({"a": values}), f"a {type_}", predicate, tmp_path) == expected


TWO = pa.table({"a": pa.array([1, 2, 3, 4], pa.int32()), "b": pa.array([1, 2**40, 3, None])})


def test_a_row_that_does_not_fit_is_read_whatever_column_it_is_in(tmp_path: Path) -> None:
    assert needed(TWO, "a int, b bigint", "a > 9", tmp_path) == []
    assert needed(TWO, "a int, b int", "a > 9", tmp_path) == [0]
    assert needed(TWO, "a int, b bigint not null", "a > 9", tmp_path) == [1]
    assert needed(TWO, "a int, b int not null", "a > 9", tmp_path) == [0, 1]
    assert needed(TWO, "a int, b double", "a > 9", tmp_path) == [0, 1]


def test_without_statistics_all_are_read(tmp_path: Path) -> None:
    assert needed(TWO, "a int", "a > 9", tmp_path, write_statistics=False) == [0, 1]
    assert needed(TWO, "a int, b bigint", "a > 9 and b is null", tmp_path, write_statistics=["a"]) == []
    assert needed(TWO, "a int, b bigint", "b > 9", tmp_path, write_statistics=["a"]) == [0, 1]


def test_texts_that_are_too_long_have_none(tmp_path: Path) -> None:
    long = pa.table({"a": ["x" * 9000, "y" * 9000]})
    assert needed(long, "a string", "a < 'b'", tmp_path) == [0]


def test_a_column_within_another_is_not_the_column(tmp_path: Path) -> None:
    inner = pa.array([{"b": 1}, {"b": 2}], pa.struct([("b", pa.int32())]))
    named = pa.table({"s.b": pa.array([7, 8], pa.int32()), "s": inner})
    assert needed(named, '"s.b" int', '"s.b" > 5', tmp_path) == [0]
    assert needed(named, '"s.b" int', '"s.b" < 5', tmp_path) == []
    nested = pa.table({"a": pa.array([1, 2], pa.int32()), "l": pa.array([[1.0], None])})
    assert needed(nested, "a int, l array<double>", "a > 5", tmp_path) == []
    assert needed(nested, "a int, l array<double> not null", "a > 5", tmp_path) == [0]


def test_the_same_column_twice_is_read(tmp_path: Path) -> None:
    twice = pa.table([pa.array([1, 2], pa.int32()), pa.array([7, 8], pa.int32())], names=["a", "a"])
    assert needed(twice, "a int", "a > 5", tmp_path) == [0]


TYPES = {
    "int": (pa.int32(), [0, 1, -1, 30, 2**31 - 1, -(2**31), None]),
    "bigint": (pa.int64(), [0, 1, -1, 2**31, 2**63 - 1, -(2**63), None]),
    "uint32": (pa.uint32(), [0, 1, 30, 2**31, 2**32 - 1, None]),
    "double": (pa.float64(), [0.0, -0.0, 1.5, NAN, INF, -INF, None]),
    "float": (pa.float32(), [0.0, 1.5, NAN, INF, None]),
    "string": (pa.string(), ["", "a", "é", "\U0010ffff", None]),
    "timestamp": (pa.timestamp("us"), [0, 1, -1, 2**50, None]),
}
CONSTANTS = {"string": ["'a'", "''"], "timestamp": ["'1970-01-01'", "'2026-01-01'"]}


@st.composite
def files(draw):
    """A file of two columns, the types that the input has, and a predicate."""
    kinds = draw(st.lists(st.sampled_from(list(TYPES)), min_size=2, max_size=2))
    count = draw(st.integers(1, 14))
    columns = [
        pa.array(draw(st.lists(st.sampled_from(TYPES[kind][1]), min_size=count, max_size=count)), TYPES[kind][0])
        for kind in kinds
    ]
    numbers = ("int", "bigint", "uint32", "double", "float")
    wanted = [draw(st.sampled_from(numbers)) if kind in numbers and draw(st.booleans()) else kind for kind in kinds]
    words, tests = [], []
    for name, kind in zip("ab", wanted, strict=True):
        words.append(f"{name} {kind}{draw(st.sampled_from(('', '', ' not null')))}")
        constant = draw(st.sampled_from(CONSTANTS.get(kind, ["0", "1", "1.5", "30", "-1"])))
        operator = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
        tests.append(draw(st.sampled_from([f"{name} {operator} {constant}", f"{name} is null", f"{name} is not null"])))
    joined = draw(st.sampled_from((" and ", " or "))).join(tests)
    return pa.table(dict(zip("ab", columns, strict=True))), ", ".join(words), joined


@given(files(), st.integers(1, 5), st.integers(1, 9))
def test_what_satisfies_the_predicate_is_read_as_before(file, rows, batch):
    table, words, predicate = file
    note(f"{words}: {predicate}")
    with TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/a.parquet", row_group_size=rows)
        source = Files(f"{folder}/*.parquet", schema(words))
        usable = source.usable(expr(predicate))
        if usable is None:
            return
        whole, some = ([*parts(each, batch)] for each in (source, source.where(usable)))
    assert [part.length for part in whole] == [part.length for part in some]
    assert [part.letters for part in whole] == [part.letters for part in some]
    for all_, part in zip(whole, some, strict=True):
        places = range(part.length) if part.places is None else part.places.tolist()
        assert part.number.tolist() == [all_.number[place] for place in places]
        assert repr(part.tuples.to_pylist()) == repr([all_.tuples.slice(place, 1).to_pylist()[0] for place in places])
        holds = expr(predicate).bind(all_.tuples.schema).mask(all_.tuples).to_pylist()
        assert {place for place, held in enumerate(holds) if held} <= set(places)


def test_only_files_that_may_be_of_parquet_use_a_predicate(tmp_path: Path) -> None:
    wanted = schema("a int")
    (tmp_path / "b.csv").write_text("a\n1\n")
    some, none = expr("a > 1 and a % 2 = 0"), expr("a % 2 = 0")
    assert Files(str(tmp_path / "*.csv"), wanted).usable(some) is None
    assert Files(str(tmp_path), wanted).usable(some) is None
    assert Files(str(tmp_path / "none/*.csv.gz"), wanted, follow=True).usable(some) is None
    assert Files(str(tmp_path / "none"), wanted, follow=True).usable(some) == expr("a > 1")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    assert Files(str(tmp_path), wanted).usable(some) == expr("a > 1")
    assert Files(str(tmp_path), wanted).usable(none) is None

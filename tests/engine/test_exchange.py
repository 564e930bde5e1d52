"""Trains in parts and in bytes, and together again."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from australis.engine.exchange import Parcel, divide, in_order, merged, pack, rows, unpack
from australis.model.train import concat
from australis.testing import rows as rows_of
from australis.testing import train

keys = st.lists(
    st.tuples(st.none() | st.integers(-2, 5), st.none() | st.sampled_from(["", "a", "b", "ab"])), max_size=20
)


@given(keys, st.integers(1, 4), st.sampled_from([(), ("k",), ("s",), ("k", "s"), ("s", "k")]))
def test_parts_keep_equal_keys_together_and_make_up_the_train(
    pairs: list[tuple[int | None, str | None]], partitions: int, key: tuple[str, ...]
) -> None:
    whole = train("k int, s string", k=[k for k, _ in pairs], s=[s for _, s in pairs])
    parts = divide(whole, key, partitions)
    assert all(0 <= bucket < partitions and len(part) for bucket, part in parts)
    homes: dict[tuple[object, ...], int] = {}
    for bucket, part in parts:
        for row in zip(*(part[name].to_pylist() for name in key), strict=True):
            assert homes.setdefault(row, bucket) == bucket
    several = [train for _, part in parts for train in unpack(pa.py_buffer(pack([part])), whole.schema)]
    together = merged(whole.schema, several)
    assert rows_of(concat(whole.schema, in_order(whole.schema, several))) == rows_of(whole)
    assert rows_of(together) == rows_of(whole)
    assert (together.ts == whole.ts).all()
    assert (together.number == whole.number).all()


def test_a_key_has_the_same_home_in_every_process() -> None:
    ask = """
from australis.engine.exchange import divide
from australis.testing import train
from australis.model.train import concat
parts = divide(train("k int, s string", k=[1, 2, 3, None], s=["a", "b", "", None]), ("k", "s"), 64)
print([(bucket, part["k"].to_pylist()) for bucket, part in parts])
"""
    told = {subprocess.check_output([sys.executable, "-c", ask], text=True) for _ in range(2)}
    assert len(told) == 1


def test_parcels_are_rows_of_arrow_bucket_and_train() -> None:
    part = train("k int", k=[7])
    batch = rows([Parcel(3, 1, [part, train("k int", k=[8, 9])])])
    assert batch.column("arrow").to_pylist() == [3]
    assert batch.column("bucket").to_pylist() == [1]
    trains = unpack(batch.column("train")[0].as_buffer(), part.schema)
    assert [rows_of(each) for each in trains] == [[(7,)], [(8,), (9,)]]


def test_much_is_laid_aside_and_little_is_not(tmp_path: Path) -> None:
    long, short = (train("k int", k=list(range(length))) for length in (50_000, 5))
    blobs = [pa.py_buffer(pack([each], str(tmp_path))) for each in (long, short)]
    assert blobs[0].size < 200
    assert len(list(tmp_path.iterdir())) == 1
    for blob, each in zip(blobs, (long, short), strict=True):
        (again,) = unpack(blob, each.schema)
        assert again.tuples.equals(each.tuples)
        assert (again.number == each.number).all()

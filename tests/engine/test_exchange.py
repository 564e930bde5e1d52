"""Trains in parts, and together again."""

import subprocess
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.engine.exchange import divide, in_order, merged
from australis.engine.parcels import pack, unpack
from australis.model.train import concat
from australis.testing import rows, train

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
    partition_of: dict[tuple[object, ...], int] = {}
    for bucket, part in parts:
        for row in zip(*(part[name].to_pylist() for name in key), strict=True):
            assert partition_of.setdefault(row, bucket) == bucket
    several = [train for _, part in parts for train in unpack(pa.py_buffer(pack([part])), whole.schema)]
    together = merged(whole.schema, several)
    assert rows(concat(whole.schema, in_order(whole.schema, several))) == rows(whole)
    assert rows(together) == rows(whole)
    assert (together.ts == whole.ts).all()
    assert (together.number == whole.number).all()


@pytest.mark.slow
def test_a_key_goes_to_the_same_partition_in_every_process() -> None:
    ask = """
from australis.engine.exchange import divide
from australis.testing import train
from australis.model.train import concat
parts = divide(train("k int, s string", k=[1, 2, 3, None], s=["a", "b", "", None]), ("k", "s"), 64)
print([(bucket, part["k"].to_pylist()) for bucket, part in parts])
"""
    told = {subprocess.check_output([sys.executable, "-c", ask], text=True) for _ in range(2)}
    assert len(told) == 1

"""Trains as bytes, and parcels as rows."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.engine.parcels import Parcel, decode, encode, pack, unpack
from australis.testing import rows, train


def test_parcels_are_rows_of_address_bucket_and_train() -> None:
    part = train("k int", k=[7])
    batch = encode([Parcel(3, 1, [part, train("k int", k=[8, 9])])])
    assert batch.column("address").to_pylist() == [3]
    assert batch.column("bucket").to_pylist() == [1]
    trains = unpack(batch.column("train")[0].as_buffer(), part.schema)
    assert [rows(each) for each in trains] == [[(7,)], [(8,), (9,)]]
    (parcel,) = decode(batch, {3: part.schema}.__getitem__)
    assert (parcel.address, parcel.bucket) == (3, 1)
    assert [rows(each) for each in parcel.trains] == [[(7,)], [(8,), (9,)]]


def test_weights_go_along() -> None:
    one, other = train("k int", k=[7, 8, 9]).weighted(np.array([2, 0, -1])), train("k int", k=[5])
    first, second = unpack(pa.py_buffer(pack([one, other])), one.schema)
    assert first.weights is not None
    assert (rows(first), first.weights.tolist()) == ([(7,), (9,)], [2, -1])
    assert second.weights is not None
    assert second.weights.tolist() == [1]
    (alone,) = unpack(pa.py_buffer(pack([other])), other.schema)
    assert alone.weights is None


def test_large_trains_go_through_the_folder_and_small_ones_do_not(tmp_path: Path) -> None:
    long, short = (train("k int", k=list(range(length))) for length in (50_000, 5))
    blobs = [pa.py_buffer(pack([each], str(tmp_path))) for each in (long, short)]
    assert blobs[0].size < 200
    assert len(list(tmp_path.iterdir())) == 1
    for blob, each in zip(blobs, (long, short), strict=True):
        (again,) = unpack(blob, each.schema)
        assert again.tuples.equals(each.tuples)
        assert (again.number == each.number).all()
